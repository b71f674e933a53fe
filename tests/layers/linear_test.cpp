// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/linear.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

namespace linear_test {

using namespace steno;

TEST(linear, equals_eigen_with_the_users_own_matrices) {
  matrix<float, 5, 7> w;
  matrix<float, 1, 5> b;
  matrix<float, dynamic, 7> x(11, 7);
  w.setRandom();
  b.setRandom();
  x.setRandom();
  nn::linear<7, 5> layer;
  ASSERT_TRUE(layer.w.assign(w));
  ASSERT_TRUE(layer.b.assign(b));
  matrix<float, dynamic, 5> y(11, 5);
  context c;
  nn::apply(layer, x, y, c);
  const matrix<float, dynamic, 5> want = (x * w.transpose()).rowwise() + b;
  EXPECT_LE((y - want).cwiseAbs().maxCoeff(), 1e-5f);  // 7 products below 1, summed in another order
  layer.multiply(x, y, c, kernels::activation::relu);
  EXPECT_LE((y - want.cwiseMax(0.0f)).cwiseAbs().maxCoeff(), 1e-5f);
  nn::linear<7, 5, nn::bias::added, nn::relu> positive;
  positive.w = layer.w;
  positive.b = layer.b;
  matrix<float, dynamic, 5> same(11, 5);
  nn::apply(positive, x, same, c);
  EXPECT_EQ(same, y);
}

// What the result is added to may be the result's own place; half of it is half of the product and of the bias.
TEST(linear, a_result_is_added_on_its_way_out) {
  nn::linear<7, 5> layer;
  weights::storage keep;
  weights::randomise(layer, keep, 1);
  matrix<float, dynamic, 7> x(11, 7);
  x.setRandom();
  matrix<float, dynamic, 5> y(11, 5), alone(11, 5);
  y.setRandom();
  const matrix<float, dynamic, 5> before = y;
  context c;
  nn::apply(layer, x, alone, c);
  layer(x, y, nullptr, nn::no_env{}, c, nn::addend{y.data(), y.outerStride(), 0.5f});
  EXPECT_EQ(y, before + 0.5f * alone);
}

TEST(linear, without_bias_has_one_member) {
  nn::linear<7, 5, nn::bias::none> layer;
  int count = 0;
  core::walk(layer, [&](const std::string&, auto&, bool) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST(linear, sizes_that_disagree_are_refused) {
  nn::linear<dynamic, 5> layer;
  matrix<float, dynamic, dynamic> w(4, 7);
  EXPECT_FALSE(layer.w.assign(w));
}

}  // namespace linear_test
