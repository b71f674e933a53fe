// Every configuration of the original's transcribe() on the golden recordings: segments, times, words.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/whisper.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/pipelines/whisper.hpp>

#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"
#include "support/whisper_case.hpp"

#include <gtest/gtest.h>

namespace whisper_transcribe_test {

using namespace steno;
using nlohmann::json;

class parity_whisper_transcribe : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(cases, parity_whisper_transcribe, testing::Values("multi", "en", "v3"));

whisper::whisper_transcribe_options options_of(const whisper::whisper_any& model, const json& j) {
  whisper::whisper_transcribe_options o;
  o.decode = test::decode_options(model, j);
  o.temperatures = {0.0};
  const auto threshold = [&](const char* key, std::optional<double>& to) {
    if (j.contains(key)) to = j[key].is_null() ? std::nullopt : std::optional(j[key].get<double>());
  };
  threshold("compression_ratio_threshold", o.compression_ratio_threshold);
  threshold("logprob_threshold", o.logprob_threshold);
  threshold("no_speech_threshold", o.no_speech_threshold);
  threshold("hallucination_silence_threshold", o.hallucination_silence_threshold);
  o.condition_on_previous_text = j.value("condition_on_previous_text", true);
  o.initial_prompt = j.value("initial_prompt", std::string());
  o.carry_initial_prompt = j.value("carry_initial_prompt", false);
  o.word_timestamps = j.value("word_timestamps", false);
  if (j.contains("clip_timestamps")) o.clip_timestamps = {5, 20};
  return o;
}

std::vector<std::pair<int, int>> heads_of(const json& want) {
  std::vector<std::pair<int, int>> heads;
  for (const json& h : want["alignment_heads_layer_head"]) heads.emplace_back(h[0].get<int>(), h[1].get<int>());
  return heads;
}

TEST_P(parity_whisper_transcribe, every_configuration) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden/whisper" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  auto model = test::converted_whisper(shared, GetParam());
  model.alignment_heads = heads_of(want);  // only Hugging Face's files name them
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  context c;
  for (const auto& [name, v] : want["transcribe"].items()) {
    SCOPED_TRACE(name);
    const std::span<const float> samples_used(pcm.data(), name == "short11" ? 176000 : pcm.size());
    const whisper::whisper_transcribed r =
        whisper::whisper_transcribe(model, samples_used, options_of(model, v["options"]), c);
    EXPECT_EQ(r.text, v["text"].get<std::string>());
    EXPECT_EQ(model.tokenizer.code(r.language), v["language"].get<std::string>());
    ASSERT_EQ(r.segments.size(), v["segments"].size());
    for (std::size_t i = 0; i < r.segments.size(); ++i) {
      const whisper::whisper_segment& s = r.segments[i];
      const json& w = v["segments"][i];
      EXPECT_EQ(s.seek, w["seek"].get<int>());
      EXPECT_EQ(s.tokens, w["tokens"].get<std::vector<int>>());
      EXPECT_EQ(s.text, w["text"].get<std::string>());
      EXPECT_NEAR(s.start, w["start"].get<double>(), 1e-9);
      EXPECT_NEAR(s.end, w["end"].get<double>(), 1e-9);
      EXPECT_NEAR(s.avg_logprob, w["avg_logprob"].get<double>(), 2e-4);  // as in whisper_decode_test.cpp
      EXPECT_NEAR(s.compression_ratio, w["compression_ratio"].get<double>(), 1e-12);
      EXPECT_NEAR(s.no_speech_prob, w["no_speech_prob"].get<double>(), 1e-4);
      if (!w.contains("words")) continue;
      ASSERT_EQ(s.words.size(), w["words"].size());
      for (std::size_t k = 0; k < s.words.size(); ++k) {
        EXPECT_EQ(s.words[k].text, w["words"][k]["word"].get<std::string>());
        EXPECT_NEAR(s.words[k].start, w["words"][k]["start"].get<double>(), 1e-9);
        EXPECT_NEAR(s.words[k].end, w["words"][k]["end"].get<double>(), 1e-9);
        EXPECT_NEAR(s.words[k].probability, w["words"][k]["probability"].get<double>(), 1e-4);
      }
    }
  }
}

TEST_P(parity_whisper_transcribe, alignment_of_a_text) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden/whisper" / GetParam();
  const json want = test::read_json(folder / "expected.json");
  auto model = test::converted_whisper(shared, GetParam());
  auto pcm = test::load_wav(folder / "input.wav").pcm;
  pcm.resize(480000);
  whisper::whisper_window w;
  matrix<float, dynamic, dynamic> x(model.window_frames(), model.frontend.width()), shown;
  context c;
  model.frontend(pcm, x, c);
  model.encode_rows(x, w, c);
  for (const char* which : {"find_alignment", "find_alignment_default_heads"}) {
    SCOPED_TRACE(which);
    const json& a = want[which];
    model.alignment_heads.clear();
    if (which == std::string("find_alignment")) model.alignment_heads = heads_of(want);
    const auto sink = [&](std::string_view path, const view<const float>& y) {
      if (path == "align_matrix") shown = y;
    };
    c.trace_to(core::tracer(sink));
    const int language = model.tokenizer.multilingual
                             ? model.tokenizer.find_language(want["find_alignment"]["language"].get<std::string>())
                             : 0;
    const auto words = whisper::whisper_align(model, w, a["text_tokens"].get<std::vector<int>>(), language, false,
                                              a["num_frames"].get<extent>(), c);
    c.trace_to({});
    if (!model.alignment_heads.empty()) {
      // Deviations of attention weights, which are differences of small numbers: 1e-3 of the largest.
      test::expect_close(shown, folder / "stages/13_align_matrix.npy", 1e-3);
    }
    ASSERT_EQ(words.size(), a["words"].size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i].text, a["words"][i]["word"].get<std::string>());
      EXPECT_NEAR(words[i].start, a["words"][i]["start"].get<double>(), 1e-9) << i;
      EXPECT_NEAR(words[i].end, a["words"][i]["end"].get<double>(), 1e-9) << i;
      EXPECT_NEAR(words[i].probability, a["words"][i]["probability"].get<double>(), 1e-4);
    }
  }
}

}  // namespace whisper_transcribe_test
