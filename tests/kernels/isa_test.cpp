// SPDX-License-Identifier: Apache-2.0
#include <steno/core/bit_cast.hpp>
#include <steno/core/fused.hpp>
#include <steno/core/half.hpp>
#include <steno/kernels/cpu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "each_isa.hpp"

#define STENO_KERNEL_FILE <kernels/isa_probe.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno::kernels {  // STENO_KERNEL names functions of this namespace
static auto binary() { return STENO_KERNEL(probe_binary); }
static auto exponential() { return STENO_KERNEL(probe_exp); }
static auto partial() { return STENO_KERNEL(probe_partial); }
static auto reduce() { return STENO_KERNEL(probe_reduce); }
static auto half() { return STENO_KERNEL(probe_half); }
static auto transposition() { return STENO_KERNEL(probe_transpose); }
static auto to_i8() { return STENO_KERNEL(probe_i8); }
static auto pair_to_i8() { return STENO_KERNEL(probe_pair_i8); }
static auto sums_of_i8() { return STENO_KERNEL(probe_sums); }
}  // namespace steno::kernels

namespace {

namespace k = steno::kernels;
using steno_test::each_isa;
using vec = std::array<float, 16>;

vec numbers(unsigned seed, float range = 4.0f) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> d(-range, range);
  vec v;
  for (float& x : v) x = d(engine);
  return v;
}
std::uint32_t bits(float x) { return steno::core::bit_cast<std::uint32_t>(x); }

}  // namespace

TEST(isa, arithmetic) {
  each_isa([](k::isa level) {
    const vec a = numbers(1), b = numbers(2);
    for (int op = 0; op < 10; ++op) {
      vec y;
      k::binary()(op, a.data(), b.data(), y.data());
      for (std::size_t i = 0; i < 16; ++i) {
        const float p = a[i], q = b[i];
        const float rounded_product = p * q;
        float want = 0;
        switch (op) {
          case 0:
            want = p + q;
            break;
          case 1:
            want = p - q;
            break;
          case 2:
            want = p * q;
            break;
          case 3:
            want = p / q;
            break;
          case 4:
            want = p < q ? p : q;
            break;
          case 5:
            want = p > q ? p : q;
            break;
          case 6:
            want = p < q ? 1.0f : 2.0f;
            break;
          case 7:
            want = std::copysign(std::fabs(p), q);
            break;
          case 8:
            want = steno::core::fused_multiply_add(p, q, 0.75f);
            break;
          default:
            want = steno::core::fused_multiply_add(-p, q, 0.75f);
            break;
        }
        // Without such an instruction the product may be rounded: half an ulp of it, and then the sum may round the
        // other way.
        if (op >= 8 && !steno_test::has_fma(level)) {
          EXPECT_NEAR(y[i], want, std::fabs(rounded_product) * 0x1p-24f + std::fabs(want) * 0x1p-23f) << op;
        } else {
          EXPECT_EQ(bits(y[i]), bits(want)) << op;
        }
      }
    }
  });
}

TEST(isa, exp_within_two_ulp_of_double) {
  std::vector<float> x;
  for (float v = -87.29f; v < 88.72f; v += 0.00317f) x.push_back(v);
  for (float v = -0.4f; v < 0.4f; v += 0.000013f) x.push_back(v);
  while (x.size() % 16 != 0) x.push_back(0.0f);
  std::vector<float> widest;
  each_isa([&](k::isa level) {
    std::vector<float> y(x.size());
    k::exponential()(x.data(), y.data(), x.size());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::exp(static_cast<double>(x[i]));
      const float rounded = static_cast<float>(want);
      const double ulp = std::nextafter(rounded, std::numeric_limits<float>::infinity()) - static_cast<double>(rounded);
      worst = std::max(worst, std::fabs(y[i] - want) / ulp);
    }
    EXPECT_LT(worst, steno_test::has_fma(level) ? 1.5 : 2.0);  // others round products as well
    if (level == k::lowest_vector_isa) widest = y;
    if (level > k::lowest_vector_isa) {
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(bits(y[i]), bits(widest[i])) << x[i];
    }
  });
}

TEST(isa, exp_at_the_ends) {
  each_isa([](k::isa) {
    const float inf = std::numeric_limits<float>::infinity();
    const vec x{-inf, -1e30f, -1000, -87.4f,        0, -0.0f, 88.72283f, 88.7229f,
                1000, 1e30f,  inf,   std::nanf(""), 1, -1,    0,         0};
    vec y;
    k::exponential()(x.data(), y.data(), 16);
    for (const std::size_t i : {0u, 1u, 2u, 3u}) EXPECT_EQ(bits(y[i]), 0u) << x[i];
    for (const std::size_t i : {4u, 5u}) EXPECT_EQ(y[i], 1.0f);
    EXPECT_NEAR(y[6] / 3.4028e38f, 1.0f, 1e-4f);  // the largest argument with a finite result
    for (const std::size_t i : {7u, 8u, 9u, 10u}) EXPECT_EQ(y[i], inf) << x[i];
    EXPECT_TRUE(std::isnan(y[11]));
  });
}

TEST(isa, partial_loads_and_stores_touch_nothing_else) {
  each_isa([](k::isa) {
    for (int n = 0; n <= 16; ++n) {
      // Exactly n values on the heap: a sanitizer sees any read behind them.
      std::vector<float> x(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
      std::vector<float> y(64, -7.0f);
      k::partial()(x.data(), y.data(), n);
      for (int i = 0; i < 16; ++i) {
        const float want = i < n ? static_cast<float>(i + 1) : 0.0f;
        EXPECT_EQ(y[static_cast<std::size_t>(i)], i < n ? want : -7.0f);
        EXPECT_EQ(y[static_cast<std::size_t>(i + 32)], want);
        EXPECT_EQ(y[static_cast<std::size_t>(i + 48)], i < n ? want : 0.5f);
      }
      for (std::size_t i = 16; i < 32; ++i) EXPECT_EQ(y[i], -7.0f);
    }
  });
}

TEST(isa, reductions_have_one_order) {
  each_isa([](k::isa) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      vec x = numbers(seed), s = x;
      for (std::size_t half = 8; half > 0; half /= 2)
        for (std::size_t i = 0; i < half; ++i) s[i] = s[i] + s[i + half];
      float y[2];
      k::reduce()(x.data(), y);
      EXPECT_EQ(bits(y[0]), bits(s[0]));
      EXPECT_EQ(y[1], *std::max_element(x.begin(), x.end()));
    }
  });
}

TEST(isa, half_formats_for_every_pattern) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  each_isa([&](k::isa) {
    std::vector<float> f16(all.size()), bf16(all.size());
    k::half()(all.data(), f16.data(), bf16.data(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float want = steno::core::half_to_float(all[i]);
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(f16[i]));
      } else {
        EXPECT_EQ(bits(f16[i]), bits(want)) << i;
      }
      EXPECT_EQ(bits(bf16[i]), bits(steno::core::bfloat_to_float(all[i]))) << i;
    }
  });
}

TEST(isa, int8_rounds_to_even_and_saturates) {
  each_isa([](k::isa) {
    const vec x{0.5f,  1.5f,    2.5f,    -0.5f, -1.5f, 126.5f, 127.4f, 127.6f,
                1e30f, -127.5f, -128.4f, -1e9f, 3.49f, -3.51f, 0,      -2.5f};
    const std::array<int, 16> want{0, 2, 2, 0, -2, 126, 127, 127, 127, -128, -128, -128, 3, -4, 0, -2};
    std::array<std::int8_t, 16> y;
    k::to_i8()(x.data(), y.data());
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], want[i]) << x[i];
  });
}

TEST(isa, stores_32_values_as_bytes_in_order) {
  each_isa([](k::isa) {
    std::array<float, 32> x;
    for (std::size_t i = 0; i < 32; ++i) x[i] = (i % 2 == 0 ? 4.0f : -4.0f) * static_cast<float>(i) + 0.5f;
    x[7] = 126.5f;
    x[8] = 1e9f;
    x[23] = -1e9f;
    std::array<std::int8_t, 32> y;
    k::pair_to_i8()(x.data(), y.data());
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(y[i], std::clamp(std::nearbyint(x[i]), -128.0f, 127.0f)) << i;
  });
}

TEST(isa, sums_halves_of_32_bytes) {
  each_isa([](k::isa) {
    std::array<std::int8_t, 152> x;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int8_t>(i * 89 % 256);
    for (std::size_t i = 40; i < 72; ++i) x[i] = i < 56 ? -128 : 127;
    std::array<float, 4> first, second;
    k::sums_of_i8()(x.data(), first.data(), second.data());
    for (std::size_t i = 0; i < 4; ++i) {
      const auto from = x.begin() + static_cast<std::ptrdiff_t>(40 * i);
      EXPECT_EQ(first[i], static_cast<float>(std::accumulate(from, from + 16, 0)));
      EXPECT_EQ(second[i], static_cast<float>(std::accumulate(from + 16, from + 32, 0)));
    }
  });
}

TEST(isa, transposes_16_by_16) {
  each_isa([](k::isa) {
    std::vector<float> x(16 * 21), y(16 * 18, -1.0f);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    k::transposition()(x.data(), y.data());
    for (std::size_t i = 0; i < 16; ++i)
      for (std::size_t j = 0; j < 18; ++j) EXPECT_EQ(y[i * 18 + j], j < 16 ? x[j * 21 + i] : -1.0f);
  });
}
