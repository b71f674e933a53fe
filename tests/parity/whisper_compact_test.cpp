// Whisper on the compact golden set: stages, decode(), transcribe() and word times of openai's code, without a
// recording or a vocabulary from elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/whisper.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/pipelines/whisper.hpp>

#include "support/compare.hpp"
#include "support/golden.hpp"
#include "trace/stages/whisper.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

namespace whisper_compact_test {

using namespace steno;
using nlohmann::json;

const std::filesystem::path folder = test::compact() / "whisper";

// The sound of tools/zoo/compact_whisper.py: noise in bursts, from whole numbers alone.
std::vector<float> sound() {
  std::vector<float> pcm(41 * 16000);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < pcm.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const int loud = static_cast<int>(i / 16000 * 7919 % 5);
    pcm[i] = static_cast<float>((static_cast<int>(state >> 16) - 32768) * loud) / 262144.0f;
  }
  return pcm;
}

const whisper::whisper_any& model() {
  static const whisper::whisper_any m = load<whisper::whisper_any>((folder / "model.gguf").string());
  return m;
}
json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}

// Every 25th row.
matrix<float, dynamic, dynamic> some(const view<const float>& x) {
  matrix<float, dynamic, dynamic> y((x.rows() + 24) / 25, x.cols());
  for (extent i = 0; i < y.rows(); ++i) y.row(i) = x.row(25 * i);
  return y;
}

// 1e-4 of max(1, absmax), as for the full cases: sums run in another order.
TEST(parity_whisper_compact, stages) {
  const auto pcm = sound();
  std::map<std::string, matrix<float, dynamic, dynamic>> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::whisper(path);
    seen[name] = name == "dec_ln_prompt" ? matrix<float, dynamic, dynamic>(x) : some(x);
  };
  context c(executor{}, core::tracer(sink));
  matrix<float, dynamic, dynamic> x(3000, 80);
  model().frontend(std::span(pcm).first(480000), x, c);
  whisper::whisper_window w;
  model().encode_rows(x, w, c);
  const auto prompt = expected()["prompt"].get<std::vector<int>>();
  matrix<float, dynamic, dynamic> rows(static_cast<extent>(prompt.size()), model().decoder.width());
  model().prompt_rows(prompt, w, rows, c);
  matrix<float, dynamic, dynamic> logits(2, model().decoder.vocabulary());
  c.trace_to({});
  model().logits_of(core::read(rows.bottomRows(2)), logits, c);
  test::expect_close(some(x), folder / "logmel.npy", 1e-4);
  for (const char* name : {"enc_layer0", "enc_out", "dec_layer0_cross_k", "dec_ln_prompt"}) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(seen.contains(name));
    test::expect_close(seen[name], folder / (std::string(name) + ".npy"), 1e-4);
  }
  test::expect_close(logits, folder / "logits_prompt_last2.npy", 1e-4);
}

whisper::whisper_window first_window(context& c) {
  const auto pcm = sound();
  matrix<float, dynamic, dynamic> x(3000, 80);
  model().frontend(std::span(pcm).first(480000), x, c);
  whisper::whisper_window w;
  model().encode_rows(x, w, c);
  return w;
}

TEST(parity_whisper_compact, decode) {
  context c;
  whisper::whisper_window w = first_window(c);
  const auto all = expected();
  for (const auto& [name, want] : all["decode"].items()) {
    SCOPED_TRACE(name);
    const json& o = want["options"];
    const whisper::whisper_decoded d =
        whisper::whisper_decode(model(), w,
                                {.sample_len = 24,
                                 .beam_size = o.value("beam_size", 0),
                                 .prompt = o.value("prompt", std::vector<int>{}),
                                 .prefix = o.value("prefix", std::vector<int>{}),
                                 .without_timestamps = o.value("without_timestamps", false)},
                                c);
    EXPECT_EQ(d.tokens, want["tokens"].get<std::vector<int>>());
    EXPECT_EQ(d.text, want["text"].get<std::string>());
    EXPECT_NEAR(d.avg_logprob, want["avg_logprob"].get<double>(), 2e-4);  // as for the full cases
    EXPECT_NEAR(d.no_speech_prob, want["no_speech_prob"].get<double>(), 1e-4);
    EXPECT_NEAR(d.compression_ratio, want["compression_ratio"].get<double>(), 1e-12);
  }
}

// Whatever is guessed, rightly or wrongly, the same text is written. 1e-5: one row and several add up in another order.
TEST(parity_whisper_compact, guesses_change_no_text) {
  context c;
  whisper::whisper_window w = first_window(c);
  const auto decode = [&](bool speculative, const std::vector<int>& earlier, int sample_len = 0) {
    int shown = 0;
    const auto show = [&](std::string_view) { ++shown; };
    const whisper::whisper_decoded d = whisper::whisper_decode(
        model(), w,
        {.language = 0, .sample_len = sample_len, .writing = show, .speculative = speculative, .earlier = earlier}, c);
    return std::pair(d, shown);
  };
  for (const int sample_len : {0, 7, 24}) {
    SCOPED_TRACE(sample_len);
    const auto [want, shown] = decode(false, {}, sample_len);
    ASSERT_GE(want.tokens.size(), 7u);
    std::vector<int> other = want.tokens, strange = want.tokens;
    for (std::size_t i = 0; i < other.size(); i += 5) other[i] = (other[i] + 1) % 50;
    for (std::size_t i = 3; i < strange.size(); i += 5) strange[i] = i % 2 == 0 ? 1000000 : -3;
    for (const std::vector<int>& earlier : {std::vector<int>{}, want.tokens, other, strange}) {
      const auto [got, also_shown] = decode(true, earlier, sample_len);
      EXPECT_EQ(got.tokens, want.tokens);
      EXPECT_EQ(got.text, want.text);
      EXPECT_EQ(got.stop, want.stop);
      EXPECT_EQ(also_shown, shown);
      EXPECT_NEAR(got.avg_logprob, want.avg_logprob, 1e-5);
    }
  }
}

TEST(parity_whisper_compact, transcribe) {
  const auto pcm = sound();
  context c;
  const auto all = expected();
  for (const auto& [name, want] : all["transcribe"].items()) {
    SCOPED_TRACE(name);
    const json& j = want["options"];
    whisper::whisper_transcribe_options o;
    o.temperatures = {0.0};
    o.no_speech_threshold.reset();
    o.decode.sample_len = 24;
    o.decode.beam_size = j.value("beam_size", 0);
    o.condition_on_previous_text = j.value("condition_on_previous_text", true);
    o.word_timestamps = j.value("word_timestamps", false);
    o.initial_prompt = j.value("initial_prompt", std::string());
    if (j.contains("clip_timestamps")) o.clip_timestamps = {3, 39};
    const whisper::whisper_transcribed r = whisper::whisper_transcribe(model(), pcm, o, c);
    EXPECT_EQ(r.text, want["text"].get<std::string>());
    ASSERT_EQ(r.segments.size(), want["segments"].size());
    for (std::size_t i = 0; i < r.segments.size(); ++i) {
      const whisper::whisper_segment& s = r.segments[i];
      const json& g = want["segments"][i];
      EXPECT_EQ(s.tokens, g["tokens"].get<std::vector<int>>());
      EXPECT_EQ(s.seek, g["seek"].get<int>());
      EXPECT_DOUBLE_EQ(s.start, g["start"].get<double>());
      EXPECT_DOUBLE_EQ(s.end, g["end"].get<double>());
      if (!g.contains("words")) continue;
      ASSERT_EQ(s.words.size(), g["words"].size());
      for (std::size_t k = 0; k < s.words.size(); ++k) {
        EXPECT_EQ(s.words[k].text, g["words"][k]["word"].get<std::string>());
        EXPECT_DOUBLE_EQ(s.words[k].start, g["words"][k]["start"].get<double>());
        EXPECT_DOUBLE_EQ(s.words[k].end, g["words"][k]["end"].get<double>());
      }
    }
  }
}

}  // namespace whisper_compact_test
