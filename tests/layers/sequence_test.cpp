#include <steno/layers/feed_forward.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/repeat.hpp>
#include <steno/layers/sequence.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/weights/binder.hpp>
#include <steno/weights/random.hpp>

#include "support/memory_source.hpp"

#include <gtest/gtest.h>

using namespace steno;

namespace {
using small = sequence<linear<6, 4>, at<"norm", layer_norm<4>>, at<"ffn", repeat<2, feed_forward<4, 8>>>,
                       at<"out", linear<4, 3>>>;
static_assert(layer<linear<6, 4>> && layer<layer_norm<4>> && layer<fsmn<3, 4>> && layer<feed_forward<4, 8>> &&
              layer<small>);
static_assert(layer<repeat<dynamic, feed_forward<dynamic, dynamic>>> && layer<scale_by_root<6, 4>> &&
              layer<sinusoid<6, 1>>);
static_assert(layer<sanm_encoder<560, 512, 4, 2048, 11, 49, 20>>);
static_assert(small::input == 6 && small::output == 3);

std::vector<std::string> names(auto& model) {
  std::vector<std::string> n;
  walk(model, [&](const std::string& path, auto&, bool) { n.push_back(path); });
  return n;
}
}  // namespace

TEST(sequence, members_have_their_names) {
  small s;
  const auto n = names(s);
  ASSERT_EQ(n.size(), 2u + 2u + 8u + 2u);
  EXPECT_EQ(n[0], "weight");
  EXPECT_EQ(n[2], "norm.weight");
  EXPECT_EQ(n[8], "ffn.1.w_1.weight");
  EXPECT_EQ(n.back(), "out.bias");
}

TEST(sequence, runs_its_stages_one_after_another) {
  small s;
  storage keep;
  randomise(s, keep, 1);
  context c;
  matrix<float, dynamic, 6> x(5, 6);
  random_numbers next(2);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = next();
  matrix<float, dynamic, 3> y(5, 3), want(5, 3);
  s(x, y, c);

  matrix<float, dynamic, 4> a(5, 4), b(5, 4);
  std::get<0>(s.stages)(x, a, c);
  std::get<1>(s.stages)(a, a, c);
  std::get<2>(s.stages).layers[0](a, b, c);
  std::get<2>(s.stages).layers[1](b, a, c);
  std::get<3>(s.stages)(a, want, c);
  EXPECT_EQ(y, want);
}

TEST(sequence, dynamic_extents_give_the_same_numbers) {
  using any = sequence<linear<dynamic, dynamic>, at<"norm", layer_norm<dynamic>>,
                       at<"ffn", repeat<dynamic, feed_forward<dynamic, dynamic>>>, at<"out", linear<dynamic, dynamic>>>;
  small s;
  storage keep;
  randomise(s, keep, 1);
  test::memory_source source;
  walk(s, [&](const std::string& path, auto& w, bool) {
    const auto* v = reinterpret_cast<const float*>(w.data);
    const std::vector<float> values(v, v + w.rows() * w.cols());
    if (w.rows() == 1)
      source.add(path, {w.cols()}, values);
    else
      source.add(path, {w.rows(), w.cols()}, values);
  });
  any d;
  bind(d, source, keep, "x");
  EXPECT_EQ(d.input_size(), 6);
  EXPECT_EQ(d.output_size(), 3);
  context c;
  matrix<float, dynamic, dynamic> x(7, 6), y(7, 3), want(7, 3);
  x.setRandom();
  s(x, want, c);
  d(x, y, c);
  EXPECT_EQ(y, want);
}

TEST(sequence, neighbours_of_different_widths_in_a_file_are_refused) {
  using any = sequence<linear<dynamic, dynamic>, at<"out", linear<dynamic, dynamic>>>;
  test::memory_source source;
  source.add("weight", {4, 6}, std::vector<float>(24));
  source.add("bias", {4}, std::vector<float>(4));
  source.add("out.weight", {3, 5}, std::vector<float>(15));
  source.add("out.bias", {3}, std::vector<float>(3));
  any d;
  storage keep;
  try {
    bind(d, source, keep, "x");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("widths of neighbouring layers differ: 4 and 5"), std::string::npos)
        << e.what();
  }
}

TEST(sequence, an_empty_repeat_passes_its_input_on) {
  repeat<0, feed_forward<4, 8>> none;
  context c;
  matrix<float, dynamic, 4> x(3, 4), y(3, 4);
  x.setRandom();
  none(x, y, c);
  EXPECT_EQ(y, x);
}
