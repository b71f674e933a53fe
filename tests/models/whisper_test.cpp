// Whisper with random weights: a prompt and its steps agree, threads make no difference, nothing is allocated, hotwords
// are favoured; the original's numbers are in tests/parity.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/whisper.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <type_traits>

#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "trace/stages/whisper.hpp"

namespace whisper_test {

using namespace steno;

using small = whisper::whisper_model<whisper::whisper_sizes{
    .mels = 80, .width = 64, .heads = 2, .audio_layers = 2, .text_layers = 2, .vocabulary = 600}>;

struct loaded {
  explicit loaded(dtype format) { weights::randomise(model, keep, 11, format); }
  small model;
  weights::storage keep;
};

matrix<float, dynamic, 80> features() {
  weights::random_numbers next(3);
  matrix<float, dynamic, 80> x(3000, 80);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = next();
  return x;
}

TEST(whisper, names_of_the_published_sizes) {
  EXPECT_EQ((whisper::whisper_tiny().decoder.blocks().size()), 4);
  EXPECT_EQ((whisper::whisper_large_v3_turbo().decoder.blocks().size()), 4);
  EXPECT_EQ((whisper::whisper_large_v3_turbo().encoder.get<"blocks">().size()), 32);
  EXPECT_EQ(whisper::whisper_large_v3().frontend.width(), 128);
  EXPECT_EQ(whisper::whisper_small_en().decoder.vocabulary(), 51864);
  EXPECT_EQ(whisper::whisper_medium().window_rows(), 1500);
  EXPECT_TRUE((std::is_same_v<
               whisper::whisper_base,
               whisper::whisper_model<whisper::whisper_sizes{
                   .mels = 80, .width = 512, .heads = 8, .audio_layers = 6, .text_layers = 6, .vocabulary = 51865}>>));
  EXPECT_EQ(stages::whisper("encoder.blocks.3.out"), "enc_layer3");
  EXPECT_EQ(stages::whisper("decoder.blocks.0.out"), "dec_layer0_prompt");
  EXPECT_EQ(stages::whisper("decoder.blocks.0.cross_attn.key"), "dec_layer0_cross_k");
}

TEST(whisper, a_prompt_is_its_steps_and_beams_fork) {
  for (const dtype format : {dtype::f32, dtype::q8_0}) {
    SCOPED_TRACE(core::info(format).name);
    const loaded l(format);
    context c;
    whisper::whisper_window w;
    l.model.encode(features(), w, c);
    const std::vector<int> ids{5, 17, 400, 33, 599, 8, 0, 123, 77, 300, 301, 302};
    matrix<float, dynamic, dynamic> rows(12, 64), one(1, 64), beams(3, 64);
    l.model.prompt_rows(ids, w, rows, c);
    EXPECT_EQ(w.text.length(), 12);
    // 1e-5: sums in another order; 2e-2: activations are rounded to 8 bits, after them.
    const float bound = (format == dtype::f32 ? 1e-5f : 2e-2f) * std::max(1.0f, rows.cwiseAbs().maxCoeff());
    w.text.clear();
    l.model.prompt_rows(std::span(ids).first(4), w, core::write(matrix<float, dynamic, dynamic>(4, 64)), c);
    w.text.fork(std::vector<int>{0, 0, 0});
    for (std::size_t i = 4; i < ids.size(); ++i) {
      // Beams 0 and 2 go astray and become beam 1 again now and then, and before the last token.
      const bool straight = i % 3 == 2;
      if (straight) w.text.fork(std::vector<int>{1, 1, 1});
      l.model.step_rows(std::vector<int>{straight ? ids[i] : 9, ids[i], straight ? ids[i] : 10}, w, beams, c);
      EXPECT_LE((beams.row(1) - rows.row(static_cast<extent>(i))).cwiseAbs().maxCoeff(), bound) << i;
      if (straight) continue;
      EXPECT_GT((beams.row(0) - beams.row(1)).cwiseAbs().maxCoeff(), bound) << i;
    }
    EXPECT_TRUE(beams.row(0) == beams.row(1) && beams.row(1) == beams.row(2));
    EXPECT_EQ(w.text.length(), 12);
  }
}

TEST(whisper, same_bits_for_any_number_of_threads_and_no_allocations) {
  const loaded l(dtype::q8_0);
  const auto x = features();
  whisper::whisper_window w;
  const std::vector<int> ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, forks(5, 0), next{9, 8, 7, 6, 5}, turned{4, 3, 2, 1, 0};
  matrix<float, dynamic, dynamic> rows(10, 64), beams(5, 64), y(5, 600);
  const auto run = [&](context& c) {
    l.model.encode(x, w, c);
    w.text.clear();
    l.model.prompt_rows(ids, w, rows, c);
    w.text.fork(forks);
    for (int i = 0; i < 3; ++i) {
      l.model.step_rows(next, w, beams, c);
      w.text.fork(turned);
    }
    l.model.logits_of(beams, y, c);
  };
  context serial;
  run(serial);
  run(serial);
  const matrix<float, dynamic, dynamic> want = y;
  test::allocation_counter counted;
  run(serial);
  EXPECT_EQ(counted.so_far(), 0u);
  for (const int threads : {2, 3}) {
    thread_pool pool(threads);
    context c{executor(pool)};
    y.setZero();
    run(c);
    EXPECT_TRUE(y == want) << threads;
  }
}

TEST(whisper, scores_of_heads_are_those_of_their_attention) {
  const loaded l(dtype::f32);
  context c;
  whisper::whisper_window w;
  l.model.encode(features(), w, c);
  const std::vector<int> ids{5, 17, 400};
  const std::vector<std::pair<int, int>> heads{{1, 0}, {0, 1}};
  std::vector<float> scores(2 * 3 * 1500, NAN), again(scores);
  matrix<float, dynamic, dynamic> rows(3, 64);
  l.model.prompt_rows(ids, w, rows, c, {heads, scores.data()});
  for (const float v : scores) ASSERT_TRUE(std::isfinite(v));
  const std::vector<std::pair<int, int>> swapped{{0, 1}, {1, 0}};
  w.text.clear();
  l.model.prompt_rows(ids, w, rows, c, {swapped, again.data()});
  EXPECT_TRUE(std::equal(scores.begin(), scores.begin() + 4500, again.begin() + 4500));
  EXPECT_FALSE(std::equal(scores.begin(), scores.begin() + 4500, again.begin()));
}

// The compact golden model: random weights with a vocabulary.
const whisper::whisper_any& with_words() {
  static const whisper::whisper_any m = load<whisper::whisper_any>((test::compact() / "whisper/model.gguf").string());
  return m;
}
std::vector<float> noise(double seconds) {
  weights::random_numbers next(5);
  std::vector<float> pcm(static_cast<std::size_t>(16000 * seconds));
  for (float& x : pcm) x = 0.1f * next();
  return pcm;
}
std::ptrdiff_t times_of(const std::vector<int>& ids, int id) { return std::count(ids.begin(), ids.end(), id); }

TEST(whisper, hotwords_are_favoured_and_the_average_stays_the_model_s) {
  const whisper::whisper_any& m = with_words();
  context c;
  whisper::whisper_window w;
  matrix<float, dynamic, dynamic> x(3000, 80);
  m.frontend(std::span<const float>(noise(30)), x, c);
  m.encode_rows(x, w, c);
  const auto decode = [&](int beam, double temperature, const search::hotword_automaton* hotwords) {
    return whisper::whisper_decode(
        m, w, {.language = 0, .temperature = temperature, .sample_len = 16, .beam_size = beam, .hotwords = hotwords},
        c);
  };
  const std::vector<int> phrase = *m.tokenizer.split("q");
  const search::hotword_automaton none, graph(std::vector<std::vector<int>>{phrase}, {.score = 20});
  for (const auto& [beam, temperature] : {std::pair(0, 0.0), std::pair(3, 0.0), std::pair(0, 0.7)}) {
    SCOPED_TRACE(std::to_string(beam) + " " + std::to_string(temperature));
    const whisper::whisper_decoded plain = decode(beam, temperature, nullptr), same = decode(beam, temperature, &none),
                                   favoured = decode(beam, temperature, &graph);
    EXPECT_EQ(same.tokens, plain.tokens);
    EXPECT_EQ(same.avg_logprob, plain.avg_logprob);
    EXPECT_GT(times_of(favoured.tokens, phrase[0]), times_of(plain.tokens, phrase[0]));
    // With the bonuses it would be above 0.
    EXPECT_LT(favoured.avg_logprob, 0);
  }
}

TEST(whisper, hotwords_count_in_every_window) {
  const whisper::whisper_any& m = with_words();
  context c;
  const std::vector<int> phrase = *m.tokenizer.split("q");
  const search::hotword_automaton graph(std::vector<std::vector<int>>{phrase}, {.score = 20});
  for (const double temperature : {0.0, 0.5}) {
    SCOPED_TRACE(temperature);
    whisper::whisper_transcribe_options o{.temperatures = {temperature}, .no_speech_threshold = {}};
    o.decode.language = 0;
    o.decode.sample_len = 16;
    o.decode.hotwords = &graph;
    const whisper::whisper_transcribed r = whisper::whisper_transcribe(m, noise(41), o, c);
    ASSERT_GE(r.windows.size(), 2u);
    std::vector<std::ptrdiff_t> found(r.windows.size());
    for (const whisper::whisper_segment& s : r.segments) found[s.window] += times_of(s.tokens, phrase.back());
    EXPECT_GT(found.front(), 0);
    EXPECT_GT(found.back(), 0);
  }
}

}  // namespace whisper_test
