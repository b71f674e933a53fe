// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/networks/qwen3_writing.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace qwen3_decoder_test {

using namespace steno;

using decoder = nn::qwen3_decoder<nn::qwen3_text_sizes{.width = 32,
                                                       .heads = 4,
                                                       .key_heads = 2,
                                                       .head_width = 8,
                                                       .units = 48,
                                                       .layers = 3,
                                                       .vocabulary = 50,
                                                       .outputs = 50,
                                                       .rope_theta = 1000000}>;
using rows = matrix<float, dynamic, 32>;
struct fixture {
  fixture() { weights::randomise(model, keep, 5); }
  weights::storage keep;
  decoder model;
};
rows prompt_of(const decoder& m, const std::vector<int>& ids) {
  rows x(static_cast<extent>(ids.size()), 32);
  m.embed(ids, x);
  return x;
}
const std::vector<int> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6};
// 2e-5: one row reads keys in place, many read them packed, so sums run in another order; rows are near 1.
TEST(qwen3_decoder, a_prompt_is_the_same_in_pieces) {
  const fixture f;
  context c;
  rows whole = prompt_of(f.model, ids);
  nn::qwen3_decoder_state state;
  f.model(whole, state, c);
  EXPECT_EQ(state.length(), 21);
  for (const extent piece : {1, 2, 9, 20}) {
    rows x = prompt_of(f.model, ids);
    nn::qwen3_decoder_state other;
    for (extent t = 0; t < x.rows(); t += piece) f.model(x.middleRows(t, std::min(piece, x.rows() - t)), other, c);
    EXPECT_LE((x - whole).cwiseAbs().maxCoeff(), 2e-5f) << piece;
  }
}

TEST(qwen3_decoder, a_rewound_past_is_forgotten) {
  const fixture f;
  context c;
  rows x = prompt_of(f.model, ids), again = prompt_of(f.model, ids);
  nn::qwen3_decoder_state state;
  f.model(x, state, c);
  state.rewind(7);
  rows other = prompt_of(f.model, {11, 12, 13});
  f.model(other, state, c);
  EXPECT_EQ(state.length(), 10);
  state.rewind(7);
  f.model(again.bottomRows(14), state, c);
  EXPECT_LE((again.bottomRows(14) - x.bottomRows(14)).cwiseAbs().maxCoeff(), 2e-5f);  // as above
}

TEST(qwen3_decoder, threads_change_nothing) {
  const fixture f;
  context one;
  rows x = prompt_of(f.model, ids), y = prompt_of(f.model, ids);
  nn::qwen3_decoder_state state, other;
  f.model(x, state, one);
  thread_pool pool(2);
  context two{executor(pool)};
  f.model(y, other, two);
  EXPECT_EQ(x, y);
}

TEST(qwen3_decoder, writing_stops_at_ends_limits_and_circles) {
  const fixture f;
  context c;
  const auto write = [&](const std::vector<int>& ends, int max_tokens) {
    rows x = prompt_of(f.model, ids);
    nn::qwen3_decoder_state state;
    nn::qwen3_read(f.model, view<float, dynamic, 32>(x), state, c);
    return nn::qwen3_write(f.model, view<float, dynamic, 32>(x.bottomRows(1)), state,
                           {.ends = ends, .max_tokens = max_tokens}, c);
  };
  const nn::qwen3_text some = write({}, 5);
  EXPECT_EQ(some.stop, nn::qwen3_stop::max_tokens);
  ASSERT_EQ(some.ids.size(), 5u);
  const nn::qwen3_text none = write({some.ids[0]}, 5);
  EXPECT_EQ(none.stop, nn::qwen3_stop::end_of_text);
  EXPECT_TRUE(none.ids.empty());
  // Random weights turn in circles sooner or later; all but one round is taken away.
  const nn::qwen3_text circle = write({}, 2000);
  EXPECT_EQ(circle.stop, nn::qwen3_stop::repetition);
  EXPECT_EQ(nn::repeated_pattern(circle.ids), 0u);
}

// A half is off by 2^-12 of a value, a byte by up to 1/254 of a row's largest, at each of three layers of random
// weights. Measured 1.2e-3 and 3.8e-2 where rows are near 1; three times that.
TEST(qwen3_decoder, a_past_in_few_bits_is_near_the_floats) {
  const fixture f;
  context c;
  rows exact = prompt_of(f.model, ids);
  nn::qwen3_decoder_state floats;
  f.model(exact, floats, c);
  for (const auto& [format, bound] : {std::pair{dtype::f16, 4e-3f}, {dtype::q8_0, 0.12f}}) {
    rows x = prompt_of(f.model, ids);
    nn::qwen3_decoder_state state;
    state.sequences.format = format;
    f.model(x, state, c);
    const float error = (x - exact).cwiseAbs().maxCoeff();
    EXPECT_LE(error, bound);
    EXPECT_GT(error, 0);
    // Step by step, rewound, and with threads: as in floats.
    rows steps = prompt_of(f.model, ids);
    state.rewind(4);
    thread_pool pool(2);
    context two{executor(pool)};
    for (extent t = 4; t < steps.rows(); ++t) f.model(steps.middleRows(t, 1), state, two);
    EXPECT_LE((steps.bottomRows(17) - x.bottomRows(17)).cwiseAbs().maxCoeff(), 2e-5f + bound / 4);
    for (const int threads : {1, 2, 4}) {
      rows again = prompt_of(f.model, ids);
      thread_pool some(threads);
      context other{executor(some)};
      nn::qwen3_decoder_state own;
      own.sequences.format = format;
      f.model(again, own, other);
      EXPECT_EQ(again, x) << threads;
    }
  }
  EXPECT_THROW((void)nn::qwen3_state_of(f.model, dtype::q4_0), error);
  EXPECT_EQ(nn::qwen3_state_of(f.model, std::nullopt).sequences.format, dtype::f32);
}

TEST(qwen3_decoder, halves_are_usual_beside_blocks) {
  weights::storage keep;
  decoder m;
  weights::randomise(m, keep, 5, dtype::q8_0);
  EXPECT_EQ(m.cache_format(), dtype::f16);
}

// Rows of several texts in one product: the same tokens as text by text, whatever the format and however they end.
TEST(qwen3_decoder, texts_are_written_together) {
  const fixture f;
  context c;
  const std::vector<std::vector<int>> prompts = {{3, 1, 4, 1, 5}, {9, 2, 6}, ids, {7}};
  for (const dtype format : {dtype::f32, dtype::f16}) {
    std::vector<nn::qwen3_text> alone;
    nn::qwen3_decoder_state all;
    all.sequences.format = format;
    rows last(static_cast<extent>(prompts.size()), 32);
    std::vector<nn::qwen3_writer> writers;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      const nn::qwen3_writing how{.ends = {}, .max_tokens = static_cast<int>(6 + 5 * i)};
      rows x = prompt_of(f.model, prompts[i]);
      nn::qwen3_decoder_state state;
      state.sequences.format = format;
      f.model(x, state, c);
      last.row(static_cast<extent>(i)) = x.bottomRows(1);
      alone.push_back(nn::qwen3_write(f.model, view<float, dynamic, 32>(x.bottomRows(1)), state, how, c));
      rows again = prompt_of(f.model, prompts[i]);
      f.model(again, all, c, static_cast<extent>(i));
      writers.emplace_back(how);
    }
    const std::vector<nn::qwen3_text> together =
        nn::qwen3_write_together(f.model, view<float, dynamic, 32>(last), all, std::span<nn::qwen3_writer>(writers), c);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[i].ids, alone[i].ids) << i;
      EXPECT_EQ(together[i].stop, alone[i].stop) << i;
    }
  }
}

// Whatever is guessed, rightly or wrongly, the same text is written, and the state is as if nothing had been.
TEST(qwen3_decoder, guesses_change_no_text) {
  const fixture f;
  context c;
  struct written {
    nn::qwen3_text text;
    extent length;
    int shown;
  };
  const auto write = [&](bool speculative, const std::vector<int>& earlier, const search::token_sampling& sampling = {},
                         dtype format = dtype::f32) {
    rows x = prompt_of(f.model, ids);
    nn::qwen3_decoder_state state;
    state.sequences.format = format;
    nn::qwen3_read(f.model, view<float, dynamic, 32>(x), state, c);
    int shown = 0;
    nn::qwen3_text t = nn::qwen3_write(
        f.model, view<float, dynamic, 32>(x.bottomRows(1)), state,
        {.max_tokens = 60, .sampling = sampling, .stop_loops = false, .speculative = speculative, .earlier = earlier},
        c, {}, [&](const nn::qwen3_writer&) { ++shown; });
    return written{std::move(t), state.length(), shown};
  };
  for (const dtype format : {dtype::f32, dtype::f16, dtype::q8_0})
    for (const double temperature : {0.0, 1.0}) {
      const search::token_sampling sampling{.temperature = temperature, .seed = 3};
      const written want = write(false, {}, sampling, format);
      ASSERT_EQ(want.text.ids.size(), 60u);
      std::vector<int> right = want.text.ids, late(right.begin() + 5, right.end()), other = right, strange = right;
      for (std::size_t i = 0; i < other.size(); i += 7) other[i] = (other[i] + 1) % 50;
      for (std::size_t i = 3; i < strange.size(); i += 5) strange[i] = i % 2 == 0 ? 50 : -3;  // no tokens of the model
      for (const std::vector<int>& earlier : {std::vector<int>{}, right, late, other, strange}) {
        const written got = write(true, earlier, sampling, format);
        EXPECT_EQ(got.text.ids, want.text.ids);
        EXPECT_EQ(got.length, want.length);
        EXPECT_EQ(got.shown, want.shown);
      }
    }
}

TEST(qwen3_writer, goes_on_from_what_turned_in_circles) {
  const std::vector<int> before(23, 5);
  std::vector<float> scores(10, 0.0f);
  scores[5] = 1;
  nn::qwen3_writer w({.ends = {}, .max_tokens = 100}, before);
  EXPECT_FALSE(w.take(scores));
  EXPECT_EQ(w.text().stop, nn::qwen3_stop::repetition);
  EXPECT_TRUE(w.text().ids.empty());
  nn::qwen3_writer off({.ends = {}, .max_tokens = 100, .stop_loops = false}, before);
  int turns = 1;
  while (off.take(scores)) ++turns;
  EXPECT_EQ(turns, 100);
  EXPECT_EQ(off.text().stop, nn::qwen3_stop::max_tokens);
  EXPECT_EQ(off.text().ids.size(), 100u);
  EXPECT_FALSE(nn::qwen3_writer({.ends = {}, .max_tokens = 0}).going());
}

// 0 to 5 are text, 6 ends one, 7 is the tag, 8 another end.
TEST(qwen3_writer, favours_hotwords_in_the_text_alone) {
  const std::vector<int> ends{6, 8};
  const std::vector<std::vector<int>> within{{1, 2}}, opening{{3, 2}};
  const search::hotword_automaton graph(within, {.score = 2}, {}, opening);
  const auto written = [&](const nn::qwen3_writing& how, const std::vector<std::vector<float>>& steps,
                           const std::vector<int>& before = {}) {
    nn::qwen3_writer w(how, before);
    for (const std::vector<float>& row : steps)
      if (!w.take(row)) break;
    return w.text().ids;
  };
  const nn::qwen3_writing at_once{.ends = ends, .max_tokens = 10, .hotwords = &graph};
  const nn::qwen3_writing tagged{.ends = ends, .max_tokens = 10, .hotwords = &graph, .text_tag = 7};
  //                           0  1  2  3  4  5  6  7  8
  const std::vector<float> a{3, 2, 0, 1.5f, 0, 0, 0, 0, 0}, b{3, 0, 1.5f, 0, 0, 0, 0, 0, 0},
      tag{0, 2, 0, 1.5f, 0, 0, 0, 3, 0}, far{6, 2, 0, 0, 0, 0, 0, 0, 0};
  using list = std::vector<int>;
  EXPECT_EQ(written({.ends = ends, .max_tokens = 10}, {a, b}), (list{0, 0}));
  EXPECT_EQ(written(at_once, {a, b}), (list{1, 2}));  // 2 + 2 of 3; then 1.5 + 2, and 3 - 2 of what pays back
  EXPECT_EQ(written(at_once, {a, far}), (list{1, 0}));
  const std::vector<float> c{3, 0, 0, 1.5f, 0, 0, 0, 0, 0};
  EXPECT_EQ(written(at_once, {c, b}), (list{3, 2}));    // as a text begins
  EXPECT_EQ(written(at_once, {far, c}), (list{0, 0}));  // and nowhere else
  EXPECT_EQ(written(tagged, {a, b}), (list{0, 0}));     // before the tag nothing is favoured
  EXPECT_EQ(written(tagged, {tag, c}), (list{7, 3}));   // behind it a text begins
  EXPECT_EQ(written(tagged, {b}, {7, 3}), list{2});     // also where it stands in what is gone on from
  EXPECT_EQ(written(tagged, {c}, {7, 4}), list{0});
  // An end pays back what is unfinished, whichever it is.
  for (const std::size_t end : {6u, 8u}) {
    std::vector<float> ending(9, 0.0f);
    ending[2] = -2;
    ending[4] = 2.5f;
    ending[end] = 3;
    EXPECT_EQ(written(at_once, {a, ending}), list{1});  // 3 - 2 of the end, 2.5 - 2 of another token, -2 + 2
    ending[2] = 0.5f;
    EXPECT_EQ(written(at_once, {a, ending}), (list{1, 2})) << end;
  }
}

TEST(repeated_pattern, short_patterns_need_more_rounds) {
  const auto rounds = [](const std::vector<int>& pattern, int count) {
    std::vector<int> all = {90, 91, 92};
    for (int i = 0; i < count; ++i) all.insert(all.end(), pattern.begin(), pattern.end());
    return nn::repeated_pattern(all);
  };
  EXPECT_EQ(rounds({1}, 23), 0u);
  EXPECT_EQ(rounds({1}, 24), 1u);
  EXPECT_EQ(rounds({1, 2}, 11), 0u);
  EXPECT_EQ(rounds({1, 2}, 12), 2u);
  EXPECT_EQ(rounds({1, 2, 3, 4, 5, 6, 7}, 3), 0u);
  EXPECT_EQ(rounds({1, 2, 3, 4, 5, 6, 7}, 4), 7u);
  EXPECT_EQ(nn::repeated_pattern(std::vector<int>{}), 0u);
}

}  // namespace qwen3_decoder_test
