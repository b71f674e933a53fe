#include <steno/layers/key_value_cache.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

using namespace steno;

TEST(key_value_cache, keeps_the_last_rows_in_order) {
  key_value_cache c;
  float next = 0;
  for (int chunk = 0; chunk < 50; ++chunk) {
    float* at = c.extend(3, 2);
    for (int i = 0; i < 6; ++i) at[i] = next++;
    ASSERT_LE(c.rows(), 10);
    for (extent i = 0; i < c.rows() * 2; ++i)
      ASSERT_EQ(c.data()[c.rows() * 2 - 1 - i], next - 1 - static_cast<float>(i));
    c.keep(7);
    ASSERT_EQ(c.rows(), std::min(7, 3 * (chunk + 1)));
  }
  c.keep(0);
  EXPECT_EQ(c.rows(), 0);
}
TEST(key_value_cache, copies_are_independent_and_a_bounded_one_stops_growing) {
  key_value_cache c;
  for (int i = 0; i < 10; ++i) c.extend(4, 8), c.keep(16);
  key_value_cache copy = c;
  copy.clear();
  EXPECT_EQ(c.rows(), 16);
  const test::allocation_counter counted;
  for (int i = 0; i < 100; ++i) c.extend(4, 8), c.keep(16);
  EXPECT_EQ(counted.so_far(), 0u);
  c.keep(-1);
  EXPECT_EQ(c.rows(), 16);
}
