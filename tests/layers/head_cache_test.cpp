#include <steno/layers/head_cache.hpp>

#include <gtest/gtest.h>

using namespace steno;

namespace {
constexpr extent heads = 3, width = 4;
void write(head_cache& cache, extent first, extent count, float mark) {
  for (extent t = first; t < first + count; ++t)
    for (extent h = 0; h < heads; ++h)
      for (extent i = 0; i < width; ++i) {
        cache.key(h, t)[i] = mark + static_cast<float>(1000 * h + 10 * t + i);
        cache.value(h, t)[i] = -mark - static_cast<float>(1000 * h + 10 * t + i);
      }
}
void expect(const head_cache& cache, extent first, extent count, float mark) {
  for (extent t = first; t < first + count; ++t)
    for (extent h = 0; h < heads; ++h)
      for (extent i = 0; i < width; ++i) {
        const extent at = h * cache.head_stride() + t * width + i;
        EXPECT_EQ(cache.keys().data()[at], mark + static_cast<float>(1000 * h + 10 * t + i));
        EXPECT_EQ(cache.values().data()[at], -mark - static_cast<float>(1000 * h + 10 * t + i));
      }
}
}  // namespace

TEST(head_cache, rows_stay_while_it_grows) {
  head_cache cache;
  for (extent t = 0; t < 300; t += 3) {
    cache.extend(3, heads, width);
    write(cache, t, 3, 0);
  }
  EXPECT_EQ(cache.rows(), 300);
  expect(cache, 0, 300, 0);
}

TEST(head_cache, a_rewound_sequence_continues_differently) {
  head_cache cache;
  cache.extend(10, heads, width);
  write(cache, 0, 10, 0);
  head_cache copy = cache;
  cache.rewind(4);
  EXPECT_EQ(cache.rows(), 4);
  cache.extend(100, heads, width);
  write(cache, 4, 100, 0.5f);
  expect(cache, 0, 4, 0);
  expect(cache, 4, 100, 0.5f);
  EXPECT_EQ(copy.rows(), 10);
  expect(copy, 0, 10, 0);
  cache.rewind(200);
  EXPECT_EQ(cache.rows(), 104);
  cache.rewind(0);
  cache.extend(2, heads + 2, width);
  EXPECT_EQ(cache.rows(), 2);
}
