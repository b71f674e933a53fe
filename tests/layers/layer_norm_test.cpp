// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/layer_norm.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace layer_norm_test {

using namespace steno;

TEST(layer_norm, eps_is_part_of_the_type) {
  static_assert(nn::layer_norm<4>::epsilon == 1e-5f && nn::layer_norm<4, 12>::epsilon == 1e-12f);
  nn::layer_norm<4> tame;
  nn::layer_norm<4, 12> sharp;
  matrix<float, 1, 4> gain, shift;
  gain.setConstant(2);
  shift.setConstant(1);
  tame.w.assign(gain), tame.b.assign(shift), sharp.w.assign(gain), sharp.b.assign(shift);
  matrix<float, dynamic, 4> x(1, 4), y(1, 4), z(1, 4);
  x << 1e-3f, -1e-3f, 1e-3f, -1e-3f;
  context c;
  nn::apply(tame, x, y, c);
  nn::apply(sharp, x, z, c);
  EXPECT_NEAR(y(0, 0), 1 + 2 * 1e-3 / std::sqrt(1e-6 + 1e-5), 1e-6);
  EXPECT_NEAR(z(0, 0), 3, 1e-5);
}

}  // namespace layer_norm_test
