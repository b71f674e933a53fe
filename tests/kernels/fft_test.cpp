#include <steno/kernels/fft.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

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
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k <= n / 2; ++k) {
    double re = 0, im = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double a = -2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n);
      re += static_cast<double>(x[i]) * std::cos(a);
      im += static_cast<double>(x[i]) * std::sin(a);
    }
    worst = std::max(
        {worst, std::abs(re - static_cast<double>(y[2 * k])), std::abs(im - static_cast<double>(y[2 * k + 1]))});
    largest = std::max(largest, std::hypot(re, im));
  }
  return worst / largest;
}

template <class F>
class real_fft : public testing::Test {};
#if defined(STENO_FFT_EIGEN)
using policies = testing::Types<kernels::real_fft_portable>;
#else
using policies = testing::Types<kernels::real_fft_fftw, kernels::real_fft_portable>;
#endif

}  // namespace

TYPED_TEST_SUITE(real_fft, policies);

TYPED_TEST(real_fft, follows_the_definition_for_every_kind_of_length) {
  for (const extent n : {1,  2,  3,  4,  5,   6,   7,   8,   9,   10,  14,  15,   16,   21,
                         25, 49, 64, 77, 121, 200, 256, 400, 480, 512, 513, 1000, 1024, 1102}) {
    const TypeParam f(n);
    ASSERT_EQ(f.size(), n);
    ASSERT_EQ(f.bins(), n / 2 + 1);
    const std::vector<float> x = noise(n, static_cast<unsigned>(n));
    std::vector<float> y(static_cast<std::size_t>(2 * f.bins())), scratch(static_cast<std::size_t>(f.scratch()));
    f.forward(x.data(), y.data(), scratch.data());
    // Single precision rounds at 6e-8; about log2(n) stages add up, prime lengths sum up to 19 terms at a time.
    EXPECT_LE(error_of(x, y), 1e-6) << "n = " << n;
  }
}

TYPED_TEST(real_fft, rows_have_equal_bits_wherever_they_lie) {
  const TypeParam f(512);
  const std::vector<float> x = noise(512, 1);
  std::vector<float> y(514), scratch(static_cast<std::size_t>(f.scratch()));
  f.forward(x.data(), y.data(), scratch.data());
  for (std::size_t shift = 0; shift < 17; ++shift) {
    std::vector<float> moved(3 * 600), out(3 * 520);
    for (std::size_t r = 0; r < 3; ++r)
      std::copy(x.begin(), x.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift + r * 590));
    const auto in = steno::make_view(static_cast<const float*>(moved.data() + shift), 3, 512, 590);
    kernels::forward_rows(f, in, steno::make_view(out.data() + shift % 3, 3, 514, 517), scratch.data());
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t k = 0; k < 514; ++k)
        ASSERT_EQ(out[shift % 3 + r * 517 + k], y[k]) << shift << " " << r << " " << k;
  }
}

TYPED_TEST(real_fft, leaves_its_input_alone) {
  for (const extent n : {400, 512}) {
    const TypeParam f(n);
    const std::vector<float> x = noise(n, 7);
    std::vector<float> copy = x, y(static_cast<std::size_t>(2 * f.bins())),
                       scratch(static_cast<std::size_t>(f.scratch()));
    f.forward(copy.data(), y.data(), scratch.data());
    EXPECT_EQ(copy, x);
  }
}

TYPED_TEST(real_fft, refuses_lengths_out_of_range) {
  EXPECT_THROW(TypeParam(0), steno::error);
  EXPECT_THROW(TypeParam(-4), steno::error);
  EXPECT_THROW(TypeParam((extent{1} << 24) + 1), steno::error);
}
