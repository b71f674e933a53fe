// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/rms_norm.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rms_norm_test {

using namespace steno;

// 1e-6: single precision of values near 1.
TEST(rms_norm, rows_get_a_mean_square_of_one_times_the_weight) {
  test::random_numbers random(3);
  matrix<float, 1, 20> gain;
  matrix<float, dynamic, 20> x(3, 20), y(3, 20);
  random.fill(std::span(gain.data(), 20), 0.5f, 1.5f);
  random.fill(std::span(x.data(), 60));
  x.row(1).setZero();
  nn::rms_norm<20> norm;
  ASSERT_TRUE(norm.w.assign(gain));
  context c;
  nn::apply(norm, x, y, c);
  for (extent t = 0; t < 3; ++t) {
    double squares = 0;
    for (extent i = 0; i < 20; ++i) squares += static_cast<double>(x(t, i)) * static_cast<double>(x(t, i));
    for (extent i = 0; i < 20; ++i)
      EXPECT_NEAR(static_cast<double>(y(t, i)),
                  static_cast<double>(x(t, i)) / std::sqrt(squares / 20 + 1e-6) * static_cast<double>(gain(i)), 1e-6);
  }
  nn::apply(norm, x, x, c);
  EXPECT_EQ(x, y);
}

}  // namespace rms_norm_test
