// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/noise_floor.hpp>

#include <gtest/gtest.h>

namespace noise_floor_test {

using steno::frontends::noise_floor;

TEST(noise_floor, is_the_lowest_mean_of_five_frames) {
  noise_floor f;
  for (int t = 0; t < 4; ++t) EXPECT_GT(f.next(1), 1e300) << t;
  EXPECT_EQ(f.next(1), 1);
  EXPECT_DOUBLE_EQ(f.next(6), 1);  // (4 + 6) / 5 is more
  for (int t = 0; t < 30; ++t) f.next(100);
  EXPECT_DOUBLE_EQ(f.value(), 1);
  EXPECT_DOUBLE_EQ(f.next(100), 1);
  for (int t = 0; t < 3; ++t) f.next(0);
  EXPECT_DOUBLE_EQ(f.value(), 1);  // (2 * 100 + 3 * 0) / 5 is more
  EXPECT_DOUBLE_EQ((f.next(0), f.next(0)), 0);
}

// 3.5 s are remembered in any case, more than 4 s never.
TEST(noise_floor, forgets) {
  for (int before = 0; before < 60; ++before) {
    noise_floor f;
    for (int t = 0; t < 5 + before; ++t) f.next(1);
    for (int t = 0; t < 350; ++t) f.next(9);
    EXPECT_DOUBLE_EQ(f.value(), 1) << before;
    for (int t = 0; t < 54; ++t) f.next(9);  // the last four means of five still contain a 1
    EXPECT_DOUBLE_EQ(f.value(), 9) << before;
  }
}

}  // namespace noise_floor_test
