// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/conv2d_halving.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

namespace conv2d_halving_test {

using namespace steno;

// The definition, sum by sum. 1e-5: sums of 45 products of values below 1 in another order.
TEST(conv2d_halving, is_a_padded_convolution_with_stride_two) {
  test::random_numbers random(11);
  constexpr extent in = 5, out = 7;
  matrix<float, out, 9 * in> w;
  matrix<float, 1, out> b;
  random.fill(std::span(w.data(), static_cast<std::size_t>(w.size())));
  random.fill(std::span(b.data(), out));
  nn::conv2d_halving<dynamic, in, out> conv;
  ASSERT_TRUE(conv.kernel.w.assign(w) && conv.kernel.b.assign(b));
  context c;
  for (const extent frames : {1, 2, 7, 100})
    for (const extent bands : {1, 2, 9, 16}) {
      conv.bands = core::size_of<dynamic>(bands);
      const extent f = conv.rows(frames), n = conv.halved(bands);
      matrix<float, dynamic, dynamic> x(frames, bands * in), y(f, n * out), apart(f, n * out + 3);
      random.fill(std::span(x.data(), static_cast<std::size_t>(x.size())));
      conv(core::read(x), y, nullptr, nn::no_env{}, c);
      for (extent t = 0; t < f; ++t)
        for (extent k = 0; k < n; ++k)
          for (extent o = 0; o < out; ++o) {
            double sum = static_cast<double>(b(o));
            for (extent i = 0; i < 3; ++i)
              for (extent j = 0; j < 3; ++j)
                for (extent a = 0; a < in; ++a) {
                  const extent u = 2 * t + i - 1, v = 2 * k + j - 1;
                  if (u < 0 || u >= frames || v < 0 || v >= bands) continue;
                  sum += static_cast<double>(w(o, (i * 3 + j) * in + a)) * static_cast<double>(x(u, v * in + a));
                }
            ASSERT_NEAR(static_cast<double>(y(t, k * out + o)), sum, 1e-5) << frames << " x " << bands;
          }
      conv(core::read(x), core::write(apart.leftCols(n * out)), nullptr, nn::no_env{}, c);
      EXPECT_EQ(apart.leftCols(n * out), y);
    }
}

}  // namespace conv2d_halving_test
