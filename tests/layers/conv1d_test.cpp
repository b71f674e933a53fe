// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/conv1d.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace conv1d_test {

using namespace steno;

/// y[t] = sum_k W[.][k][.] x[Stride t + k - Taps / 2] + b in double.
template <extent Taps, extent Stride>
void expect_convolution(extent frames, extent in, extent out) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  matrix<float, dynamic, dynamic> w(out, Taps * in), x(frames, in);
  matrix<float, 1, dynamic> b(1, out);
  const auto fill = [&](auto& m) {
    for (extent i = 0; i < m.size(); ++i) m.data()[i] = normal(random);
  };
  fill(w);
  fill(x);
  fill(b);
  nn::conv1d<dynamic, dynamic, Taps, Stride> layer;
  ASSERT_TRUE(layer.taps.w.assign(w));
  ASSERT_TRUE(layer.taps.b.assign(b));
  EXPECT_EQ(layer.input_size(), in);
  const extent rows = layer.rows(frames);
  matrix<float, dynamic, dynamic> y(rows, out);
  context c;
  nn::apply(layer, x, y, c);
  for (extent t = 0; t < rows; ++t)
    for (extent o = 0; o < out; ++o) {
      double want = static_cast<double>(b(0, o));
      for (extent k = 0; k < Taps; ++k)
        for (extent i = 0; i < in; ++i) {
          const extent at = Stride * t + k - Taps / 2;
          if (at >= 0 && at < frames) want += static_cast<double>(w(o, k * in + i)) * static_cast<double>(x(at, i));
        }
      // A few ulp of the largest partial sums, which stay below 40 for these sizes.
      ASSERT_NEAR(y(t, o), want, 2e-5) << t << " " << o;
    }
}

TEST(conv1d, equals_the_sum_over_taps) {
  expect_convolution<3, 1>(1, 4, 6);
  expect_convolution<3, 1>(37, 20, 9);
  expect_convolution<3, 2>(36, 20, 16);
  expect_convolution<3, 2>(37, 20, 16);
  expect_convolution<5, 1>(9, 7, 3);
}

TEST(conv1d, rows_of_lengths) {
  using stem = nn::conv1d<80, 64, 3, 2>;
  EXPECT_EQ(stem::rows(0), 0);
  EXPECT_EQ(stem::rows(1), 1);
  EXPECT_EQ(stem::rows(2), 1);
  EXPECT_EQ(stem::rows(3), 2);
  EXPECT_EQ(stem::rows(3000), 1500);
}

}  // namespace conv1d_test
