// A prompt beside each row is a column of the first product; against products written out.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/prompt_projection.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

namespace prompt_projection_test {

using namespace steno;

TEST(prompt_projection, a_prompt_is_a_column_of_the_first_product) {
  constexpr extent d = 6, prompts = 4, inner = 10;
  matrix<float, inner, d + prompts> w0;
  matrix<float, d, inner> w2;
  matrix<float, 1, inner> b0;
  matrix<float, 1, d> b2;
  matrix<float, dynamic, d> x(5, d), y(5, d);
  w0.setRandom();
  w2.setRandom();
  b0.setRandom();
  b2.setRandom();
  x.setRandom();
  nn::prompt_projection<dynamic> layer;
  ASSERT_TRUE(layer.first.w.assign(w0) && layer.first.b.assign(b0));
  ASSERT_TRUE(layer.second.w.assign(w2) && layer.second.b.assign(b2));
  EXPECT_EQ(layer.prompts(), prompts);
  EXPECT_EQ(layer.input_size(), d);
  EXPECT_EQ(layer.output_size(), d);
  context c;
  for (extent p = 0; p < prompts; ++p) {
    const matrix<float, dynamic, inner> shifted =
        ((x * w0.leftCols(d).transpose()).rowwise() + (b0 + w0.col(d + p).transpose())).cwiseMax(0.0f);
    const matrix<float, dynamic, d> want = (shifted * w2.transpose()).rowwise() + b2;
    layer(x, y, nullptr, nn::prompt_env{.prompt = p}, c);
    EXPECT_LE((y - want).cwiseAbs().maxCoeff(), 1e-5f) << p;  // 10 products below 10, summed in another order
    matrix<float, dynamic, d> same = x;                       // in place
    layer(same, same, nullptr, nn::prompt_env{.prompt = p}, c);
    EXPECT_EQ(same, y);
  }
}

TEST(prompt_projection, members_have_the_checkpoint_s_names) {
  nn::prompt_projection<6, 4> layer;
  std::string names;
  core::walk(layer, [&](const std::string& name, auto&, bool) { names += name + " "; });
  EXPECT_EQ(names, "0.weight 0.bias 2.weight 2.bias ");
}

}  // namespace prompt_projection_test
