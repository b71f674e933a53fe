// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/sinusoid.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace sinusoid_test {

using namespace steno;

TEST(sinusoid, positions_start_at_one) {
  const nn::sinusoid<8, 1> layer;
  matrix<float, dynamic, 8> x(40, 8), y(40, 8);
  x.setZero();
  context c;
  nn::apply(layer, x, y, c);
  for (extent t = 0; t < 40; ++t)
    for (extent i = 0; i < 4; ++i) {
      const double angle = static_cast<double>(t + 1) * std::pow(10000.0, -static_cast<double>(i) / 3);
      EXPECT_NEAR(y(t, i), std::sin(angle), 1e-5);  // angles up to 40 in f32: half a unit in the last place is 2e-6
      EXPECT_NEAR(y(t, 4 + i), std::cos(angle), 1e-5);
    }
}

TEST(scale_by_root, uses_the_width_of_the_encoder) {
  nn::scale_by_root<3, dynamic> layer;
  layer.output_width.adopt(16);
  matrix<float, dynamic, 3> x(2, 3);
  x.setConstant(1.5f);
  context c;
  nn::apply(layer, x, x, c);
  EXPECT_EQ(x(1, 2), 6);
}

}  // namespace sinusoid_test
