// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/kv_cache.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace kv_cache_test {

using namespace steno;

constexpr extent heads = 3, width = 4;
using rows = matrix<float, dynamic, dynamic>;

// Rows first .. first + count - 1 of something whose every value is another.
rows numbered(extent first, extent count, float mark, extent wide = width) {
  rows x(count, heads * wide);
  for (extent t = 0; t < count; ++t)
    for (extent h = 0; h < heads; ++h)
      for (extent i = 0; i < wide; ++i)
        x(t, h * wide + i) = mark * static_cast<float>(h + 1) * static_cast<float>((first + t) % 7 - 3 + i);
  return x;
}
void append(nn::kv_cache& cache, extent first, extent count, float mark, dtype format = dtype::f32) {
  cache.append(numbered(first, count, mark), numbered(first, count, -mark), heads, format);
}
// Rows at .. at + count - 1 of the cache are those numbers, as the format stores them.
void expect(const nn::kv_cache& cache, extent at, extent first, extent count, float mark) {
  const kernels::cached_rows all = cache.stored(at);
  const std::size_t bytes = kernels::cached_row_bytes(cache.format(), width);
  std::vector<std::byte> expected(bytes);
  for (const bool keys : {true, false}) {
    const rows x = numbered(first, count, keys ? mark : -mark);
    for (extent t = 0; t < count; ++t)
      for (extent h = 0; h < heads; ++h) {
        kernels::store_cached(cache.format(), x.data() + (t * heads + h) * width, width, expected.data());
        const std::byte* const is = (keys ? all.keys : all.values) + static_cast<std::size_t>(h) * all.head_stride +
                                    static_cast<std::size_t>(t) * bytes;
        EXPECT_EQ(std::memcmp(is, expected.data(), bytes), 0)
            << core::info(cache.format()).name << " " << h << " " << t;
      }
  }
}
// Rows of every format stay what they were while the cache grows, and go when it is rewound.
TEST(kv_cache, rows_grow_and_are_rewound_in_every_format) {
  for (const dtype format : {dtype::f32, dtype::f16, dtype::q8_0}) {
    nn::kv_cache cache;
    append(cache, 0, 50, 1, format);
    EXPECT_EQ(cache.format(), format);
    append(cache, 50, 150, 1, format);
    expect(cache, 0, 0, 200, 1);
    const nn::kv_cache copy = cache;
    cache.rewind(60);
    EXPECT_EQ(cache.rows(), 60);
    append(cache, 60, 300, 0.25f, format);
    expect(cache, 0, 0, 60, 1);
    expect(cache, 60, 60, 300, 0.25f);
    EXPECT_EQ(copy.rows(), 200);
    expect(copy, 0, 0, 200, 1);
    cache.rewind(1000);
    EXPECT_EQ(cache.rows(), 360);
  }
}

TEST(kv_cache, floats_are_read_head_by_head) {
  nn::kv_cache cache;
  append(cache, 0, 5, 1);
  const rows k = numbered(0, 5, 1), v = numbered(0, 5, -1);
  for (extent h = 0; h < heads; ++h) {
    EXPECT_EQ(rows(core::make_view(cache.keys().data() + h * cache.key_head_stride(), 5, width)),
              rows(k.middleCols(h * width, width)));
    EXPECT_EQ(rows(core::make_view(cache.values().data() + h * cache.value_head_stride(), 5, width)),
              rows(v.middleCols(h * width, width)));
  }
}

// A stream: the oldest go, the rest stays in order, however often rows move.
TEST(kv_cache, keeps_the_last_rows_in_order) {
  nn::kv_cache cache;
  extent next = 0;
  for (int chunk = 0; chunk < 200; ++chunk) {
    append(cache, next, 3, 1);
    next += 3;
    ASSERT_LE(cache.rows(), 43);
    expect(cache, 0, next - cache.rows(), cache.rows(), 1);
    cache.keep(40);
    ASSERT_EQ(cache.rows(), std::min<extent>(40, next));
  }
  cache.keep(-1);
  EXPECT_EQ(cache.rows(), 40);
  cache.keep(0);
  EXPECT_EQ(cache.rows(), 0);
}

TEST(kv_cache, a_bounded_one_stops_growing) {
  for (const extent kept : {0, 4, 60, 64, 200}) {
    nn::kv_cache cache;
    const rows k = numbered(0, 4, 1), v = numbered(0, 4, -1);
    const auto step = [&] {
      cache.append(k, v, heads);
      cache.keep(kept);
    };
    for (int i = 0; i < 200; ++i) step();
    const test::allocation_counter counted;
    for (int i = 0; i < 400; ++i) step();
    EXPECT_EQ(counted.so_far(), 0u) << kept;
  }
}

TEST(kv_cache, sizes_may_change_while_it_is_empty) {
  nn::kv_cache cache;
  append(cache, 0, 10, 1);
  cache.clear();
  cache.append(numbered(0, 2, 1, 8), numbered(0, 2, 1), heads);  // keys twice as wide
  EXPECT_EQ(cache.key_width(), 8);
  EXPECT_EQ(cache.value_width(), 4);
  EXPECT_EQ(rows(core::make_view(cache.keys().data() + cache.key_head_stride(), 2, 8)),
            rows(numbered(0, 2, 1, 8).middleCols(8, 8)));
}

TEST(kv_cache, rows_of_other_sizes_are_refused) {
  nn::kv_cache cache;
  append(cache, 0, 10, 1);
  EXPECT_THROW(cache.append(numbered(0, 2, 1, 8), numbered(0, 2, 1), heads), error);
  EXPECT_THROW(cache.append(numbered(0, 2, 1), numbered(0, 2, 1), 1), error);
  EXPECT_THROW(append(cache, 0, 2, 1, dtype::f16), error);
  expect(cache, 0, 0, 10, 1);
}

TEST(kv_cache, narrow_rows_take_less_memory) {
  const auto bytes = [](dtype format) {
    nn::kv_cache cache;
    const rows x = rows::Zero(1000, 8 * 128);
    cache.append(x, x, 8, format);
    return cache.bytes();
  };
  EXPECT_EQ(bytes(dtype::f16) * 2, bytes(dtype::f32));
  EXPECT_EQ(bytes(dtype::q8_0) * 32, bytes(dtype::f32) * 9);
}

TEST(kv_cache, packed_rows_are_those_that_were_given) {
  nn::kv_cache cache;
  context c;
  append(cache, 0, 3, 1);
  const rows k = numbered(0, 200, 1), v = numbered(0, 200, -1);
  cache.pack(k, v, heads, dtype::f32, c);
  EXPECT_TRUE(cache.is_packed());
  EXPECT_EQ(cache.rows(), 200);
  for (extent h = 0; h < heads; ++h) {
    rows x(200, width);
    kernels::unpack_keys(cache.packed(), h, x);
    EXPECT_EQ(x, rows(k.middleCols(h * width, width)));
  }
  cache.clear();
  append(cache, 7, 5, 1);
  EXPECT_FALSE(cache.is_packed());
  expect(cache, 0, 7, 5, 1);
}

}  // namespace kv_cache_test
