#include <steno/layers/head_cache.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

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

// Rows of every format stay what they were while the cache grows, and go when it is rewound.
TEST(head_cache, narrow_rows_grow_and_rewind_as_floats_do) {
  for (const dtype format : {dtype::f32, dtype::f16, dtype::q8_0}) {
    head_cache cache(format);
    const auto row = [&](extent head, extent t, float mark) {
      std::vector<float> x(width);
      for (extent i = 0; i < width; ++i)
        x[static_cast<std::size_t>(i)] = mark * static_cast<float>(head + 1) * static_cast<float>(t % 7 - 3 + i);
      return x;
    };
    const auto append = [&](extent count, float mark) {
      const extent first = cache.rows();
      cache.extend(count, heads, width);
      for (extent t = first; t < first + count; ++t)
        for (extent h = 0; h < heads; ++h) cache.write(h, t, row(h, t, mark).data(), row(h, t, -mark).data());
    };
    const auto same = [&](extent first, extent count, float mark) {
      const kernels::cached_rows all = cache.stored();
      const std::size_t bytes = kernels::cached_row_bytes(format, width);
      std::vector<std::byte> expected(bytes);
      for (extent t = first; t < first + count; ++t)
        for (extent h = 0; h < heads; ++h)
          for (const bool keys : {true, false}) {
            kernels::store_cached(format, row(h, t, keys ? mark : -mark).data(), width, expected.data());
            const std::byte* const at = (keys ? all.keys : all.values) + static_cast<std::size_t>(h) * all.head_stride +
                                        static_cast<std::size_t>(t) * bytes;
            EXPECT_EQ(std::memcmp(at, expected.data(), bytes), 0) << info(format).name << " " << h << " " << t;
          }
    };
    append(50, 1);
    append(150, 1);
    same(0, 200, 1);
    cache.rewind(60);
    append(300, 0.25f);
    same(0, 60, 1);
    same(60, 300, 0.25f);
  }
}

TEST(head_cache, narrow_rows_take_less_memory) {
  const auto bytes = [](dtype format) {
    head_cache cache(format);
    cache.extend(1000, 8, 128);
    return cache.bytes();
  };
  EXPECT_EQ(bytes(dtype::f16) * 2, bytes(dtype::f32));
  EXPECT_EQ(bytes(dtype::q8_0) * 32, bytes(dtype::f32) * 9);
}
