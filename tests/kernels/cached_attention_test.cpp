// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/cached_attention.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "each_isa.hpp"

namespace cached_attention_test {

using namespace steno;

constexpr extent key_heads = 3, sharing = 2, capacity = 400;
using rows = matrix<float, dynamic, dynamic>;

rows random(extent n, extent m, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  rows x(n, m);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = normal(engine);
  return x;
}

struct cache {
  cache(dtype f, extent count, extent w) : format(f), width(w), rows_now(count) {
    const std::size_t row = kernels::cached_row_bytes(f, w);
    keys.resize(static_cast<std::size_t>(key_heads * capacity) * row);
    values.resize(keys.size());
    k = random(key_heads * count, w, 1);
    v = random(key_heads * count, w, 2);
    for (extent h = 0; h < key_heads; ++h)
      for (extent j = 0; j < count; ++j) {
        const std::size_t at = static_cast<std::size_t>(h * capacity + j) * row;
        for (auto [from, to] : {std::pair{&k, &keys}, std::pair{&v, &values}}) {
          float* const x = from->data() + (h * count + j) * w;
          kernels::store_cached(f, x, w, to->data() + at);
          kernels::load_cached(f, to->data() + at, w, x);  // what is compared with is what is stored
        }
      }
  }
  kernels::cached_rows stored() const {
    return {.keys = keys.data(),
            .values = values.data(),
            .format = format,
            .rows = rows_now,
            .heads = key_heads,
            .width = width,
            .head_stride = static_cast<std::size_t>(capacity) * kernels::cached_row_bytes(format, width)};
  }
  // The definition, in doubles.
  rows expected(const rows& q, float scale, extent offset) const {
    rows y = rows::Zero(q.rows(), q.cols());
    for (extent i = 0; i < q.rows(); ++i)
      for (extent h = 0; h < key_heads * sharing; ++h) {
        const extent g = h / sharing, seen = std::clamp<extent>(i + offset + 1, 0, rows_now);
        std::vector<double> p(static_cast<std::size_t>(seen));
        double sum = 0;
        for (extent j = 0; j < seen; ++j) {
          double dot = 0;
          for (extent c = 0; c < width; ++c)
            dot += static_cast<double>(q(i, h * width + c)) * static_cast<double>(k(g * rows_now + j, c));
          sum += p[static_cast<std::size_t>(j)] = std::exp(static_cast<double>(scale) * dot);
        }
        for (extent c = 0; c < width; ++c) {
          double all = 0;
          for (extent j = 0; j < seen; ++j)
            all += p[static_cast<std::size_t>(j)] / sum * static_cast<double>(v(g * rows_now + j, c));
          y(i, h * width + c) = static_cast<float>(all);
        }
      }
    return y;
  }
  dtype format;
  extent width, rows_now;
  std::vector<std::byte> keys, values;
  rows k, v;
};

rows attended(const cache& m, const rows& q, float scale, extent offset, const executor& run = {}) {
  rows y = rows::Constant(q.rows(), q.cols(), 7);
  context c{run};
  kernels::attention(view<const float>(q), m.stored(), key_heads * sharing, scale, offset, view<float>(y), c);
  return y;
}

// A value is off by half a unit of its format: 2^-11 of it as a half, 1/254 of its block's largest as a byte.
TEST(cached_rows, are_near_what_was_stored) {
  steno_test::each_isa([](auto) {
    for (const extent width : {1, 15, 16, 32, 40, 128}) {
      const rows x = 3 * random(5, width, 9);
      for (extent t = 0; t < 5; ++t)
        for (const dtype f : {dtype::f32, dtype::f16, dtype::q8_0}) {
          const std::size_t bytes = kernels::cached_row_bytes(f, width);
          std::vector<std::byte> stored(bytes + 1, std::byte{0x5a});
          std::vector<float> back(static_cast<std::size_t>(width) + 1, 7.0f);
          kernels::store_cached(f, x.data() + t * width, width, stored.data());
          kernels::load_cached(f, stored.data(), width, back.data());
          EXPECT_EQ(stored.back(), std::byte{0x5a});
          EXPECT_EQ(back.back(), 7.0f);
          for (extent i = 0; i < width; ++i) {
            float largest = 0;
            for (extent j = i / 32 * 32; j < std::min(width, i / 32 * 32 + 32); ++j)
              largest = std::max(largest, std::fabs(x(t, j)));
            const float bound = f == dtype::f32 ? 0 : f == dtype::f16 ? std::fabs(x(t, i)) * 0x1p-11f : largest / 253;
            EXPECT_LE(std::fabs(back[static_cast<std::size_t>(i)] - x(t, i)), bound + 1e-7f);
          }
        }
    }
  });
  std::vector<float> zeros(32), back(32, 1);
  std::vector<std::byte> stored(36);
  kernels::store_cached(dtype::q8_0, zeros.data(), 32, stored.data());
  kernels::load_cached(dtype::q8_0, stored.data(), 32, back.data());
  EXPECT_EQ(back, zeros);
}

// 1e-5: sums of floats run in another order than those of doubles; values are near 1.
TEST(cached_attention, is_what_it_says_for_few_and_many_queries) {
  steno_test::each_isa([](auto) {
    for (const dtype f : {dtype::f32, dtype::f16, dtype::q8_0})
      for (const extent width : {16, 24, 32, 128}) {
        const cache m(f, 150, width);
        const float scale = 1 / std::sqrt(static_cast<float>(width));
        for (const extent n : {1, 3, 8, 9, 40}) {
          const rows q = random(n, key_heads * sharing * width, 3);
          for (const extent offset : {150 - n, extent{-2}, extent{15}})
            EXPECT_LE((attended(m, q, scale, offset) - m.expected(q, scale, offset)).cwiseAbs().maxCoeff(), 1e-5f)
                << core::info(f).name << " " << width << " " << n << " " << offset;
        }
      }
  });
}

TEST(cached_attention, without_rows_gives_zeros) {
  cache m(dtype::f16, 1, 16);
  m.rows_now = 0;
  EXPECT_TRUE(attended(m, random(2, 96, 3), 1, 5).isZero());
}

TEST(cached_attention, threads_and_instruction_sets_with_fma_change_no_bit) {
  for (const dtype f : {dtype::f16, dtype::q8_0})
    for (const extent n : {1, 70}) {
      const cache m(f, 300, 64);
      const rows q = random(n, key_heads * sharing * 64, 4);
      const auto same = [](const rows& a, const rows& b) { return a == b; };
      steno_test::same_bits_for_pools([&](const executor& run) { return attended(m, q, 0.1f, 300 - n, run); }, same);
      steno_test::same_bits_with_fma([&] { return attended(m, q, 0.1f, 300 - n); }, same);
    }
}

}  // namespace cached_attention_test
