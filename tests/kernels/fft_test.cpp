// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/fft.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "kernels/each_isa.hpp"

namespace kernels = steno::kernels;
using steno::extent;

namespace {

std::vector<float> noise(extent n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (float& v : x) v = static_cast<float>(random()) / 2147483648.0f - 1.0f;
  return x;
}

/// Largest distance from the definition, computed in double precision with exact angles, relative to the largest value.
double error_of(const std::vector<float>& x, const std::vector<float>& y) {
  const std::size_t n = x.size();
  std::vector<std::complex<double>> roots(n);
  for (std::size_t i = 0; i < n; ++i)
    roots[i] = std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k <= n / 2; ++k) {
    double re = 0, im = 0;
    for (std::size_t i = 0, at = 0; i < n; ++i, at = (at + k) % n) {
      re += static_cast<double>(x[i]) * roots[at].real();
      im += static_cast<double>(x[i]) * roots[at].imag();
    }
    worst = std::max(
        {worst, std::abs(re - static_cast<double>(y[2 * k])), std::abs(im - static_cast<double>(y[2 * k + 1]))});
    largest = std::max(largest, std::hypot(re, im));
  }
  return worst / largest;
}

/// 16 rows, one per lane.
std::vector<float> lanes_of(const std::vector<std::vector<float>>& rows) {
  std::vector<float> x;
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    for (const auto& row : rows) x.push_back(row[i]);
  return x;
}
template <class F>
std::vector<float> forward(const F& f, const std::vector<std::vector<float>>& rows) {
  std::vector<float> x = lanes_of(rows), y(static_cast<std::size_t>(32 * f.bins()));
  std::vector<float> scratch(static_cast<std::size_t>(f.scratch()));
  f.forward(x.data(), y.data(), scratch.data());
  return y;
}
template <class F>
std::vector<float> power(const F& f, const std::vector<std::vector<float>>& rows) {
  std::vector<float> x = lanes_of(rows), y(static_cast<std::size_t>(16 * f.bins()));
  std::vector<float> scratch(static_cast<std::size_t>(f.scratch()));
  f.power(x.data(), y.data(), scratch.data());
  return y;
}

template <class F>
class real_fft : public testing::Test {};
#if defined(STENO_FFT_FFTW)
using policies = testing::Types<kernels::real_fft_fftw, kernels::real_fft_lanes>;
#else
using policies = testing::Types<kernels::real_fft_lanes>;
#endif

}  // namespace

TYPED_TEST_SUITE(real_fft, policies);

TYPED_TEST(real_fft, follows_the_definition_for_every_kind_of_length) {
  steno_test::each_isa([](auto) {
    for (const extent n : {2, 4, 6, 8, 10, 12, 16, 18, 20, 30, 50, 60, 64, 200, 256, 400, 480, 512, 1000, 1024}) {
      const TypeParam f(n);
      ASSERT_EQ(f.size(), n);
      ASSERT_EQ(f.bins(), n / 2 + 1);
      std::vector<std::vector<float>> rows;
      for (unsigned lane = 0; lane < 16; ++lane) rows.push_back(noise(n, 100 * lane + static_cast<unsigned>(n)));
      const std::vector<float> y = forward(f, rows), p = power(f, rows);
      for (const std::size_t lane : {0u, 6u, 15u}) {
        std::vector<float> one;
        for (std::size_t i = lane; i < y.size(); i += 16) one.push_back(y[i]);
        // Single precision rounds at 6e-8; the errors of log2(n) stages add up.
        EXPECT_LE(error_of(rows[lane], one), 1e-6) << "n = " << n;
        for (std::size_t k = 0; k < one.size() / 2; ++k) {
          const float square = one[2 * k] * one[2 * k] + one[2 * k + 1] * one[2 * k + 1];
          EXPECT_NEAR(p[16 * k + lane], square, 4e-7f * square) << "n = " << n;  // two roundings more or less
        }
      }
    }
  });
}

TYPED_TEST(real_fft, a_lane_does_not_depend_on_the_others_or_on_where_it_stands) {
  steno_test::each_isa([](auto) {
    for (const extent n : {400, 512}) {
      const TypeParam f(n);
      const std::vector<float> x = noise(n, 1);
      const std::vector<float> want = power(f, std::vector<std::vector<float>>(16, x));
      for (std::size_t lane = 0; lane < 16; ++lane) {
        std::vector<std::vector<float>> rows;
        for (unsigned l = 0; l < 16; ++l) rows.push_back(l == lane ? x : noise(n, l + 50));
        rows[(lane + 1) % 16].assign(static_cast<std::size_t>(n), std::numeric_limits<float>::quiet_NaN());
        const std::vector<float> got = power(f, rows);
        for (std::size_t i = lane; i < got.size(); i += 16) ASSERT_EQ(got[i], want[i]) << n << " " << lane;
      }
    }
  });
}

TYPED_TEST(real_fft, refuses_lengths_out_of_range) {
  EXPECT_THROW(TypeParam(0), steno::error);
  EXPECT_THROW(TypeParam(-4), steno::error);
  EXPECT_THROW(TypeParam((extent{1} << 20) + 2), steno::error);
}

TEST(real_fft_lanes, refuses_odd_lengths_and_primes_above_5) {
  for (const extent n : {1, 3, 5, 14, 22, 513, 1102}) EXPECT_THROW(kernels::real_fft_lanes{n}, steno::error) << n;
}
