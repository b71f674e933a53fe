// Qwen3-ASR on silence, noise and half an hour of it: writing ends, says why, does not turn in circles, and memory is
// that of one part. Random weights say what a model might; the compact golden model knows when to be silent.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/qwen3_asr.hpp>
#include <steno/weights/random.hpp>

#include "support/emulated.hpp"
#include "support/golden.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace qwen3_endurance_test {

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

std::vector<float> noise(int seconds, float loud) {
  test::random_numbers random(7);
  std::vector<float> pcm(static_cast<std::size_t>(seconds) * 16000);
  if (loud > 0)
    for (float& x : pcm) x = loud * static_cast<float>(random.uniform(-1, 1));
  return pcm;
}

// The most rounds of up to 32 words in a row.
std::size_t max_rounds(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string w; in >> w;) words.push_back(w);
  std::size_t largest = 0;
  for (std::size_t k = 1; k <= 32; ++k)
    for (std::size_t i = 0; i + k <= words.size(); ++i) {
      std::size_t j = i + k;
      while (j < words.size() && words[j] == words[j - k]) ++j;
      largest = std::max(largest, (j - i) / k);
    }
  return largest;
}

template <class Model>
void expect_an_end(const Model& m, std::span<const float> pcm, const qwen3::qwen3_asr_options& o) {
  context c;
  std::size_t emitted = 0;
  const qwen3::qwen3_transcription t = m.transcribe(pcm, o, c, [&](const qwen3::qwen3_part& p) {
    ++emitted;
    EXPECT_LE(p.ids.size(), static_cast<std::size_t>(o.max_new_tokens));
    if (p.stop == nn::qwen3_stop::max_tokens) {
      EXPECT_EQ(p.ids.size(), static_cast<std::size_t>(o.max_new_tokens));
    }
    if (p.stop == nn::qwen3_stop::repetition) {
      EXPECT_EQ(nn::repeated_pattern(p.ids), 0u);
    }
    EXPECT_LE(max_rounds(p.output.text), 3u) << p.output.text;
  });
  EXPECT_EQ(emitted, t.parts.size());
}

TEST(qwen3_endurance, random_weights_end_and_do_not_repeat_themselves) {
  std::size_t circles = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    random_model m{gguf_file(file())};
    weights::storage keep;
    weights::randomise(m, keep, seed);
    for (const float loud : {0.0f, 0.001f, 0.3f})
      for (const double temperature : {0.0, 1.0}) {
        SCOPED_TRACE(seed);
        expect_an_end(m, noise(5, loud),
                      {.max_new_tokens = 300, .sampling = {.temperature = temperature, .seed = seed}});
      }
    context c;
    const qwen3::qwen3_transcription t = m.transcribe(noise(3, 0.1f), {.max_new_tokens = 2000}, c);
    circles += t.parts[0].stop == nn::qwen3_stop::repetition ? 1u : 0u;
    // Without repair circles go on until the model finds a way out, or to the limit.
    const qwen3::qwen3_transcription all = m.transcribe(noise(3, 0.1f), {.max_new_tokens = 2000, .max_repeats = 0}, c);
    if (t.parts[0].stop == nn::qwen3_stop::repetition) {
      EXPECT_NE(all.parts[0].stop, nn::qwen3_stop::repetition);
      EXPECT_GT(all.parts[0].ids.size(), t.parts[0].ids.size() + 23);
    }
  }
  EXPECT_GT(circles, 0u) << "random weights turn in circles";
}

TEST(qwen3_endurance, half_an_hour_ends_and_takes_the_memory_of_a_part) {
  const auto m = load<qwen3::qwen3_asr_any>(file());
  const bool short_one = test::emulated();  // half an hour takes half an hour there
  const std::vector<float> pcm = noise(short_one ? 300 : 1800, 0.05f);
  expect_an_end(m, pcm, {.max_new_tokens = 400});
  const auto memory = [&](std::size_t seconds) {
    context c;
    (void)m.transcribe(std::span<const float>(pcm).first(seconds * 16000), {.max_new_tokens = 100, .max_seconds = 60},
                       c);
    return c.scratch.peak();
  };
  // Parts are up to 5 s longer or shorter than a minute.
  EXPECT_LE(static_cast<double>(memory(short_one ? 300 : 600)), 1.1 * static_cast<double>(memory(130)));
}

TEST(qwen3_endurance, the_stop_is_in_the_result) {
  const auto m = load<qwen3::qwen3_asr_any>(file());
  context c;
  const segment s = m.recognise(noise(3, 0.05f), {.max_new_tokens = 1}, c);
  ASSERT_EQ(s.extra.size(), 1u);
  EXPECT_EQ(s.stop_reason, "max_tokens");
}

}  // namespace qwen3_endurance_test
