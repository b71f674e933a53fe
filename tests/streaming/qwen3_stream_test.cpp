// Qwen3-ASR as a stream for ten minutes, on random weights and on the compact golden model: work per step does not
// grow, and what was told to stay stays.
// SPDX-License-Identifier: Apache-2.0
#include <steno/streaming/qwen3_stream.hpp>
#include <steno/weights/random.hpp>

#include "support/golden.hpp"
#include "support/play.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace qwen3_stream_test {

using namespace steno;

// The compact set's sizes, with its tokenizer.
using random_model = qwen3::qwen3_asr<qwen3::qwen3_sizes{.audio_tower = {.mels = 128,
                                                                         .channels = 24,
                                                                         .width = 64,
                                                                         .heads = 2,
                                                                         .units = 256,
                                                                         .layers = 2,
                                                                         .half_chunk = 50,
                                                                         .block_frames = 800},
                                                         .text = {.width = 64,
                                                                  .heads = 4,
                                                                  .key_heads = 2,
                                                                  .head_width = 32,
                                                                  .units = 192,
                                                                  .layers = 3,
                                                                  .vocabulary = 512,
                                                                  .outputs = 512,
                                                                  .rope_theta = 1000000}}>;

std::string file() { return (test::compact() / "qwen3_asr" / "model.gguf").string(); }

// The compact set's tokens are made up and spell nothing. These spell what they are: letters, marks, spaces, pairs of
// letters, and two bytes that make a letter together and none alone.
tokenizers::qwen_tokens spelling_tokens() {
  std::vector<std::string> tokens;
  for (char c = 33; c < 127; ++c) tokens.emplace_back(1, c);
  for (const char* t : {"\u0120", "\u010a", "\u00c3", "\u00a9"}) tokens.emplace_back(t);
  for (char a = 'a'; a <= 'z'; ++a) tokens.emplace_back("\u0120").push_back(a);
  for (char a = 'a'; a <= 'z'; ++a)
    for (char b = 'a'; b <= 'z' && tokens.size() < 511; ++b) tokens.push_back({a, b});
  std::vector<int> types(tokens.size(), tokenizers::qwen_tokens::normal);
  tokens.emplace_back("<asr_text>");
  types.push_back(tokenizers::qwen_tokens::user_defined);
  return {tokens, types};
}

// Seconds of silence, noise, tones and rests, louder and fainter.
std::vector<float> sounds(int seconds, std::uint64_t seed) {
  test::random_numbers random(seed);
  std::vector<float> pcm;
  for (int s = 0; s < seconds; ++s) {
    const float loud = static_cast<float>(random.uniform(0, 0.3f)),
                pitch = static_cast<float>(random.uniform(100, 2000));
    const int kind = static_cast<int>(random.uniform(0, 4));
    for (int i = 0; i < 16000; ++i) {
      const float noise = static_cast<float>(random.uniform(-1, 1)),
                  tone = std::sin(pitch * static_cast<float>(i) / 16000 * 6.2831853f);
      pcm.push_back(kind == 0 ? 0.0f
                              : loud * (kind == 1   ? noise
                                        : kind == 2 ? tone
                                                    : tone * (i / 4000 % 2 == 0 ? 1 : 0)));
    }
  }
  return pcm;
}

struct utterance {
  extent steps = 0, max_read_rows = 0,
         max_encoded_rows = 0;  // rows through the language model, through the audio tower
  std::size_t stable = 0;       // bytes that were told to stay before the end
};

// Streams and checks what must hold of every event; the work of each utterance.
template <class Model>
std::vector<utterance> listen(const Model& m, std::span<const float> pcm, qwen3::qwen3_stream_options o,
                              std::size_t piece) {
  context c;
  qwen3::qwen3_stream<Model> stream(m, o);
  std::vector<utterance> all(1);
  std::string kept;
  std::map<nn::qwen3_stop, int> stops;
  const auto sink = [&](const qwen3::qwen3_stream_event& e) {
    EXPECT_TRUE(e.stable.starts_with(kept)) << kept << " became " << e.stable;
    EXPECT_TRUE(e.text.starts_with(e.stable));
    kept = e.stable;
    if (e.kind == streaming::stream_event_kind::partial) all.back().stable = kept.size();
    EXPECT_LE(e.ids.size(), static_cast<std::size_t>(o.max_new_tokens));
    if (e.prompt != nullptr) {
      ++stops[e.stop];
      utterance& now = all.back();
      ++now.steps;
      const auto prompt_rows = static_cast<extent>(e.prompt->before.size() + e.prompt->after.size()) + e.audio_rows;
      now.max_read_rows = std::max(now.max_read_rows, prompt_rows - e.reused_rows + static_cast<extent>(e.ids.size()));
      now.max_encoded_rows = std::max(now.max_encoded_rows, e.encoded_rows);
    }
    if (e.kind == streaming::stream_event_kind::final) {
      kept.clear();
      all.emplace_back();
    }
  };
  test::play(stream, pcm, piece, c, sink);
  all.pop_back();
  EXPECT_FALSE(stops.empty());
  return all;
}

void expect_even(const std::vector<utterance>& all, double longest) {
  ASSERT_GE(all.size(), 6u);
  // An utterance has at most 13 rows a second, what it writes, and the prompt around; the bound is the same for all.
  const auto rows = static_cast<extent>(longest * 13 + 13);
  for (const utterance& u : all) {
    EXPECT_LE(u.max_encoded_rows, rows);
    EXPECT_LE(u.max_read_rows, rows + 400);
    EXPECT_LE(u.steps, static_cast<extent>(longest / 2) + 3);
  }
  // The last third is no more work than the first.
  const auto max_read = [&](std::size_t from, std::size_t to) {
    extent m = 0;
    for (std::size_t i = from; i < to; ++i) m = std::max(m, all[i].max_read_rows);
    return m;
  };
  EXPECT_LE(max_read(all.size() * 2 / 3, all.size()), max_read(0, all.size() / 3) + 100);
}

TEST(qwen3_stream, ten_minutes_with_the_golden_model) {
  const auto m = load<qwen3::qwen3_asr_any>(file());
  expect_even(listen(m, sounds(600, 1), {.max_new_tokens = 100, .max_utterance_seconds = 60, .commit = true}, 32000),
              60);
}

// A step that writes fewer tokens than are taken back makes the text shorter; what was told to stay does not go with
// it.
TEST(qwen3_stream, what_stays_never_changes_whatever_is_written) {
  std::size_t stable = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    random_model m{gguf_file(file())};
    weights::storage keep;
    weights::randomise(m, keep, seed);
    m.tokenizer = spelling_tokens();
    for (int id = 5; id < 512; id += 11) m.ends.push_back(id);  // steps of all lengths
    for (const char* language : {"", "English"}) {
      const std::vector<float> pcm = sounds(44, seed);
      SCOPED_TRACE(seed);
      for (const int max_new_tokens : {7, 40})
        for (const utterance& u : listen(
                 m, pcm,
                 {.language = language, .max_new_tokens = max_new_tokens, .max_utterance_seconds = 20, .commit = true},
                 9999))
          stable += u.stable;
    }
  }
  EXPECT_GT(stable, 100u) << "something is told to stay";
}

// A prefix that turns in circles does not grow by a round with every step.
TEST(qwen3_stream, circles_do_not_grow_from_step_to_step) {
  for (const std::uint64_t seed : {5u, 6u}) {
    random_model m{gguf_file(file())};
    weights::storage keep;
    weights::randomise(m, keep, seed);
    m.tokenizer = spelling_tokens();
    context c;
    qwen3::qwen3_stream<random_model> stream(m, {.language = "English", .max_new_tokens = 200, .commit = true});
    std::size_t repeated = 0;
    const std::vector<float> pcm = sounds(30, seed);
    const auto sink = [&](const qwen3::qwen3_stream_event& e) {
      std::vector<int> all = m.tokenizer.encode(std::string(e.raw));
      repeated += nn::repeated_pattern(all) > 0 ? 1u : 0u;
    };
    stream.push(pcm, c, sink);
    stream.finish(c, sink);
    EXPECT_EQ(repeated, 0u);
  }
}

// A stream that ends where a step ended has nothing more to write: why that step stopped still holds.
TEST(qwen3_stream, the_end_says_why_the_last_step_stopped) {
  const auto m = load<qwen3::qwen3_asr_any>(file());
  context c;
  for (const int max_new_tokens : {3, 200}) {
    qwen3::qwen3_stream<qwen3::qwen3_asr_any> stream(m, {.max_new_tokens = max_new_tokens});
    std::vector<nn::qwen3_stop> stops;
    const auto sink = [&](const qwen3::qwen3_stream_event& e) { stops.push_back(e.stop); };
    stream.push(sounds(2, 3), c, sink);
    stream.finish(c, sink);
    ASSERT_EQ(stops.size(), 2u);
    EXPECT_EQ(stops[1], stops[0]);
    if (max_new_tokens == 3) {
      EXPECT_EQ(stops[0], nn::qwen3_stop::max_tokens);
    }
  }
}

// In silence every place is the quietest; the first one ends the utterance.
TEST(qwen3_stream, silence_is_cut_too) {
  const auto m = load<qwen3::qwen3_asr_any>(file());
  const std::vector<utterance> all = listen(m, std::vector<float>(60 * 16000),
                                            {.max_new_tokens = 20, .max_utterance_seconds = 10, .commit = true}, 16000);
  EXPECT_GE(all.size(), 6u);
  EXPECT_LE(all.size(), 13u);
}

}  // namespace qwen3_stream_test
