// Layers in order: names, widths, states; sums that are an epilogue against sums of their own; every network's
// contract.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/activate.hpp>
#include <steno/layers/feed_forward.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/lstm.hpp>
#include <steno/layers/rms_norm.hpp>
#include <steno/layers/stack.hpp>
#include <steno/networks/audio_adaptor.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/networks/fsmn_encoder.hpp>
#include <steno/networks/nemo_transformer.hpp>
#include <steno/networks/qwen3_audio_encoder.hpp>
#include <steno/networks/sanm_decoder.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/networks/u2_encoder.hpp>
#include <steno/networks/whisper_encoder.hpp>
#include <steno/weights/binder.hpp>
#include <steno/weights/random.hpp>

#include "support/memory_source.hpp"

#include <gtest/gtest.h>

namespace stack_test {

using namespace steno;

using small = nn::sequence<nn::linear<6, 4>, nn::at<"norm", nn::layer_norm<4>>,
                           nn::at<"ffn", nn::repeat<2, nn::feed_forward<4, 8>>>, nn::at<"out", nn::linear<4, 3>>>;
static_assert(nn::layer<nn::linear<6, 4>> && nn::layer<nn::layer_norm<4>> && nn::layer<nn::rms_norm<4>> &&
              nn::layer<nn::fsmn<3, 4>> && nn::layer<nn::feed_forward<4, 8>> && nn::layer<small> &&
              nn::layer<nn::lstm<4>> && nn::layer<nn::activate<4, nn::relu>>);
static_assert(nn::layer<nn::repeat<dynamic, nn::feed_forward<dynamic, dynamic>>> &&
              nn::layer<nn::scale_by_root<6, 4>> && nn::layer<nn::sinusoid<6, 1>> &&
              nn::layer<nn::scale_by_own_root<6>> && nn::layer<nn::optional_scale<6>>);
static_assert(small::input == 6 && small::output == 3);
// A row of scores is a layer's only where a state, a record and a context go in.
struct no_layer {
  static constexpr extent input = 4, output = 4;
  void members(auto&&) {}
  nn::no_state start() const { return {}; }
  void operator()(view<const float, dynamic, 4>, view<float, dynamic, 4>, context&) const {}
};
static_assert(!nn::layer<no_layer>);

// Which layers have a state, and what it is made of.
static_assert(std::is_same_v<nn::state_of<nn::linear<6, 4>>, nn::no_state>);
static_assert(std::is_same_v<nn::state_of<nn::repeat<2, nn::feed_forward<4, 8>>>::value_type,
                             nn::state_of<nn::feed_forward<4, 8>>>);
static_assert(std::is_same_v<nn::state_of<nn::sequence<nn::linear<3, 3>, nn::fsmn<5, 3>>>,
                             core::parts<nn::no_state, std::vector<float>>>);

std::vector<std::string> names(auto& model) {
  std::vector<std::string> n;
  core::walk(model, [&](const std::string& path, auto&, bool) { n.push_back(path); });
  return n;
}
using small_fsmn = nn::fsmn_encoder<nn::fsmn_sizes{.features = 6,
                                                   .input_affine = 8,
                                                   .width = 10,
                                                   .projection = 4,
                                                   .taps = 5,
                                                   .layers = 2,
                                                   .output_affine = 8,
                                                   .classes = 3}>;
matrix<float, dynamic, dynamic> some_rows(extent rows, extent cols) {
  matrix<float, dynamic, dynamic> x(rows, cols);
  weights::random_numbers next(2);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = next();
  return x;
}

/// Settings that a file would give.
void set(auto& model, std::string_view wanted, extent value) {
  core::walk(model, [&](const std::string& path, auto& leaf, bool) {
    if constexpr (core::setting_leaf<std::remove_cvref_t<decltype(leaf)>>) {
      if (path.ends_with(wanted)) {
        EXPECT_TRUE(leaf.adopt(value));
      }
    }
  });
}

/// What a layer gives when somebody looks (every sum is a pass of its own) is what it gives when nobody does.
template <class L, class Env = nn::no_env>
void looking_changes_nothing(L& l, extent rows, const Env& env = {}) {
  weights::storage keep;
  weights::randomise(l, keep, 1);
  const auto x = some_rows(rows, l.input_size());
  const extent n = nn::rows_after<L, Env>(l, rows, nullptr, env);
  matrix<float, dynamic, dynamic> seen(n, l.output_size()), unseen(n, l.output_size());
  int stages = 0;
  const auto count = [&](std::string_view, const view<const float>&) { ++stages; };
  context quiet, traced(executor{}, core::tracer(count));
  l(core::as<const float, dynamic, L::input>(x), core::as<float, dynamic, L::output>(seen), nullptr, env, traced);
  l(core::as<const float, dynamic, L::input>(x), core::as<float, dynamic, L::output>(unseen), nullptr, env, quiet);
  EXPECT_GT(stages, 2);
  EXPECT_TRUE(seen.allFinite());
  EXPECT_EQ(seen, unseen);
}
TEST(stack, a_sum_that_is_an_epilogue_has_the_bits_of_one_of_its_own) {
  nn::sanm_encoder<nn::sanm_sizes{
      .features = 12, .width = 8, .heads = 2, .units = 16, .taps = 5, .blocks = 2, .tp_blocks = 1}>
      sense_voice;
  looking_changes_nothing(sense_voice, 9);
  nn::whisper_encoder<6, 8, 2, 2> whisper;
  looking_changes_nothing(whisper, 20);
  nn::nemo_transformer<nn::nemo_transformer_sizes{.width = 8, .heads = 2, .units = 16, .layers = 2}> transformer;
  looking_changes_nothing(transformer, 7);
  nn::audio_adaptor<nn::audio_adaptor_sizes{
      .features = 8, .inner = 12, .width = 16, .heads = 4, .units = 6, .blocks = 2, .rate = 2}>
      adaptor;
  looking_changes_nothing(adaptor, 7);
  small_fsmn voice;
  looking_changes_nothing(voice, 9);
  nn::u2_conformer_encoder<nn::u2_encoder_sizes{.features = 16,
                                                .subsampling = 4,
                                                .width = 8,
                                                .heads = 2,
                                                .units = 16,
                                                .taps = 5,
                                                .layers = 2,
                                                .relative = 1,
                                                .causal = 1,
                                                .normed = 1}>
      conformer;
  set(conformer, "relative_positions", 1);
  set(conformer, "activation", static_cast<extent>(kernels::activation::silu));
  looking_changes_nothing(conformer, 40, nn::u2_env{.window = {.chunk = 3, .left = 1}});
  nn::u2_transformer_encoder<nn::u2_encoder_sizes{
      .features = 16, .subsampling = 4, .width = 8, .heads = 2, .units = 16, .layers = 2, .relative = 0}>
      added_positions;
  looking_changes_nothing(added_positions, 40, nn::u2_env{});
  nn::fastconformer_encoder<nn::depthwise_subsampling<16, 4, 8, 0>,
                            nn::fastconformer_block<8, 2, 16, 5, 0, 0, nn::bias::added>, 2>
      fast;
  looking_changes_nothing(fast, 70, nn::fastconformer_env{.window = {.back = 3, .ahead = 2}});
  nn::repeat<2, nn::qwen3_audio_layer<8, 2, 16>> tower;
  looking_changes_nothing(tower, 11, nn::u2_env{.window = {.chunk = 4, .left = 0}});
}

TEST(stack, a_residual_may_work_in_its_input) {
  nn::sequence<nn::residual<nn::at<"norm", nn::layer_norm<4>>, nn::at<"ff", nn::feed_forward<4, 8>>>,
               nn::half_residual<nn::at<"norm2", nn::layer_norm<4>>, nn::at<"ff2", nn::feed_forward<4, 8>>>,
               nn::post_norm<nn::at<"last", nn::layer_norm<4>>, nn::at<"ff3", nn::feed_forward<4, 8>>>>
      s;
  weights::storage keep;
  weights::randomise(s, keep, 1);
  context c;
  matrix<float, dynamic, dynamic> x = some_rows(5, 4), y(5, 4);
  const auto in = core::as<const float, dynamic, 4>(x);
  nn::apply(s, in, core::as<float, dynamic, 4>(y), c);
  EXPECT_NE(y, x);
  nn::apply(s, in, core::as<float, dynamic, 4>(x), c);
  EXPECT_EQ(y, x);
}

// y = x + ff(x) / 2, by hand.
TEST(stack, half_a_residual_is_half_of_what_the_layers_give) {
  nn::half_residual<nn::feed_forward<4, 8>> half;
  weights::storage keep;
  weights::randomise(half, keep, 1);
  context c;
  const matrix<float, dynamic, 4> x = some_rows(5, 4);
  matrix<float, dynamic, 4> y(5, 4), part(5, 4);
  nn::apply(half, x, y, c);
  nn::apply(half.body, x, part, c);
  EXPECT_EQ(y, x + 0.5f * part);
}

TEST(stack, layers_in_parallel_are_added) {
  nn::parallel<nn::at<"a", nn::linear<4, 3>>, nn::at<"b", nn::linear<4, 3>>> both;
  EXPECT_EQ(names(both), (std::vector<std::string>{"a.weight", "a.bias", "b.weight", "b.bias"}));
  weights::storage keep;
  weights::randomise(both, keep, 1);
  context c;
  const matrix<float, dynamic, 4> x = some_rows(5, 4);
  matrix<float, dynamic, 3> y(5, 3), a(5, 3), b(5, 3);
  nn::apply(both, x, y, c);
  nn::apply(core::part<0>(both.stages), x, a, c);
  nn::apply(core::part<1>(both.stages), x, b, c);
  EXPECT_EQ(y, a + b);
}

// Pieces of any size give the rows of one call; a state is a value, and restart() makes it new in its memory.
TEST(stack, the_state_of_a_stream_is_made_of_its_layers) {
  small_fsmn net;
  weights::storage keep;
  weights::randomise(net, keep, 1);
  const matrix<float, dynamic, 6> x = some_rows(9, 6);
  matrix<float, dynamic, 3> whole(9, 3), y(9, 3);
  context c;
  nn::apply(net, x, whole, c);
  auto state = net.start();
  const auto stream = [&](extent from, extent to, auto& s) {
    const matrix<float, dynamic, 6> part = x.middleRows(from, to - from);
    matrix<float, dynamic, 3> out(to - from, 3);
    net(part, out, &s, nn::no_env{}, c);
    y.middleRows(from, to - from) = out;
  };
  stream(0, 4, state);
  auto fork = state;
  stream(4, 9, state);
  EXPECT_LE((y - whole).cwiseAbs().maxCoeff(), 1e-6f);  // products of fewer rows may sum in another order
  const matrix<float, dynamic, 3> first = y;
  y.setZero();
  stream(0, 4, state);
  EXPECT_NE(y.topRows(4), first.topRows(4));  // it had not forgotten
  nn::restart(net, state);
  stream(0, 4, state);
  EXPECT_EQ(y.topRows(4), first.topRows(4));
  stream(4, 9, fork);
  EXPECT_EQ(y, first);
}

TEST(stack, stages_are_found_by_name_wherever_they_are) {
  nn::u2_conformer_encoder<nn::u2_encoder_sizes{
      .features = 16, .subsampling = 4, .width = 8, .heads = 2, .units = 16, .taps = 5, .layers = 2}>
      net;
  EXPECT_EQ(net.get<"encoders">().layers.size(), 2u);
  auto state = net.start();
  EXPECT_EQ((decltype(net)::get<"encoders">(state).size()), 2u);
  static_assert(decltype(net)::has<"embed">() && !decltype(net)::has<"embed2">());
  static_assert(nn::wenet_conformer_block<8, 2, 16, 5>::has<"conv_module">());
}

TEST(stack, members_have_their_names) {
  small s;
  const auto n = names(s);
  ASSERT_EQ(n.size(), 2u + 2u + 8u + 2u);
  EXPECT_EQ(n[0], "weight");
  EXPECT_EQ(n[2], "norm.weight");
  EXPECT_EQ(n[8], "ffn.1.w_1.weight");
  EXPECT_EQ(n.back(), "out.bias");
}

TEST(stack, runs_its_stages_one_after_another) {
  small s;
  weights::storage keep;
  weights::randomise(s, keep, 1);
  context c;
  matrix<float, dynamic, 6> x(5, 6);
  weights::random_numbers next(2);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = next();
  matrix<float, dynamic, 3> y(5, 3), want(5, 3);
  nn::apply(s, x, y, c);

  matrix<float, dynamic, 4> a(5, 4), b(5, 4);
  nn::apply(core::part<0>(s.stages), x, a, c);
  nn::apply(s.get<"norm">(), a, a, c);
  nn::apply(s.get<"ffn">().layers[0], a, b, c);
  nn::apply(s.get<"ffn">().layers[1], b, a, c);
  nn::apply(s.get<"out">(), a, want, c);
  EXPECT_EQ(y, want);
}

TEST(stack, dynamic_extents_give_the_same_numbers) {
  using any = nn::sequence<nn::linear<dynamic, dynamic>, nn::at<"norm", nn::layer_norm<dynamic>>,
                           nn::at<"ffn", nn::repeat<dynamic, nn::feed_forward<dynamic, dynamic>>>,
                           nn::at<"out", nn::linear<dynamic, dynamic>>>;
  small s;
  weights::storage keep;
  weights::randomise(s, keep, 1);
  test::memory_source source;
  core::walk(s, [&](const std::string& path, auto& w, bool) {
    const auto* v = reinterpret_cast<const float*>(w.data);
    const std::vector<float> values(v, v + w.rows() * w.cols());
    if (w.rows() == 1)
      source.add(path, {w.cols()}, values);
    else
      source.add(path, {w.rows(), w.cols()}, values);
  });
  any d;
  weights::bind(d, source, keep, "x");
  EXPECT_EQ(d.input_size(), 6);
  EXPECT_EQ(d.output_size(), 3);
  context c;
  matrix<float, dynamic, dynamic> x(7, 6), y(7, 3), want(7, 3);
  x.setRandom();
  nn::apply(s, x, want, c);
  nn::apply(d, x, y, c);
  EXPECT_EQ(y, want);
}

TEST(stack, neighbours_of_different_widths_in_a_file_are_refused) {
  using any = nn::sequence<nn::linear<dynamic, dynamic>, nn::at<"out", nn::linear<dynamic, dynamic>>>;
  test::memory_source source;
  source.add("weight", {4, 6}, std::vector<float>(24));
  source.add("bias", {4}, std::vector<float>(4));
  source.add("out.weight", {3, 5}, std::vector<float>(15));
  source.add("out.bias", {3}, std::vector<float>(3));
  any d;
  weights::storage keep;
  try {
    weights::bind(d, source, keep, "x");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("widths of neighbouring layers differ: 4 and 5"), std::string::npos)
        << e.what();
  }
}

TEST(stack, an_empty_repeat_passes_its_input_on) {
  nn::repeat<0, nn::feed_forward<4, 8>> none;
  context c;
  matrix<float, dynamic, 4> x(3, 4), y(3, 4);
  x.setRandom();
  nn::apply(none, x, y, c);
  EXPECT_EQ(y, x);
}

// Weights of other widths than the rows': an error in every build, not a read behind the rows.
TEST(stack, rows_of_another_width_are_refused) {
  nn::sequence<nn::at<"a", nn::linear<dynamic, dynamic>>, nn::at<"norm", nn::layer_norm<dynamic>>> s;
  const matrix<float, dynamic, dynamic> w = some_rows(4, 6);
  const matrix<float, 1, dynamic> b = some_rows(1, 4), wide = some_rows(1, 5);
  ASSERT_TRUE(s.get<"a">().w.assign(w) && s.get<"a">().b.assign(b));
  ASSERT_TRUE(s.get<"norm">().w.assign(wide) && s.get<"norm">().b.assign(wide));
  context c;
  const auto x = some_rows(3, 6);
  matrix<float, dynamic, dynamic> y(3, 5);
  EXPECT_THROW(nn::apply(s, x, y, c), error);
  EXPECT_THROW(nn::apply(s, some_rows(3, 7), y, c), error);
}

// Room for fewer rows, or for more, than the layers give.
TEST(stack, rows_that_the_caller_has_no_room_for_are_refused) {
  nn::whisper_encoder<6, 8, 2, 2> net;
  weights::storage keep;
  weights::randomise(net, keep, 1);
  const matrix<float, dynamic, 6> x = some_rows(7, 6);
  context c;
  for (const extent rows : {3, 5}) {
    matrix<float, dynamic, 8> y(rows, 8);
    EXPECT_THROW(nn::apply(net, x, y, c), error) << rows;
  }
  matrix<float, dynamic, 8> y(net.rows(7), 8);
  EXPECT_NO_THROW(nn::apply(net, x, y, c));
}

}  // namespace stack_test
