// Whisper through the pipeline: a recording is heard as a whole, so its text is the original's.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/transcriber.hpp>
#include <steno/pipelines/whisper.hpp>

#include "support/golden.hpp"
#include "support/wav.hpp"
#include "support/whisper_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace whisper_test {

using namespace steno;

TEST(whisper_pipeline, a_recording_is_heard_as_a_whole) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden/whisper/v3";
  const nlohmann::json want = test::read_json(folder / "expected.json")["transcribe"]["no_thresholds"];
  const test::temporary_directory scratch;
  convert(folder / "checkpoint/hf", scratch.path() / "model.gguf", {.type = dtype::f32});
  const transcriber t((scratch.path() / "model.gguf").string());
  EXPECT_EQ(t.model_name(), "whisper");
  EXPECT_EQ(t.languages().size(), 100u);
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  context c;
  const result r = t.transcribe(pcm, {}, c);
  EXPECT_EQ(r.language, want["language"].get<std::string>());
  ASSERT_FALSE(r.segments.empty());
  double last = 0;
  for (const segment& s : r.segments) {
    EXPECT_LE(s.start, s.end);
    EXPECT_GE(s.start, last);
    last = s.start;
    std::vector<std::string> names;
    for (const auto& [name, value] : s.extra) names.push_back(name);
    for (const char* name : {"seek", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob", "fallbacks"})
      EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
    EXPECT_FALSE(s.stop_reason.empty());
  }
  const auto direct = load<whisper::whisper_any>((scratch.path() / "model.gguf").string());
  const segment clip =
      direct.recognise(std::span(pcm).first(160000), pipelines::whisper_options(direct, {.language = "german"}, {}), c);
  EXPECT_EQ(clip.language, "de");
  EXPECT_THROW((void)t.transcribe(pcm, {.language = "klingon"}, c), error);
}

const transcriber& v3() {
  static const transcriber t = [] {
    const test::temporary_directory scratch;
    convert(*test::shared() / "golden/whisper/v3/checkpoint/hf", scratch.path() / "model.gguf", {.type = dtype::f32});
    return transcriber((scratch.path() / "model.gguf").string());  // stays mapped
  }();
  return t;
}

transcribe_options options_of(const nlohmann::json& j) {
  transcribe_options o;
  o.decoding.temperature = std::vector<double>{0.0};
  o.beam = j.value("beam_size", 0);
  const auto take = [&]<class T>(const char* key, std::optional<T>& to) {
    if (!j.contains(key)) return;
    if constexpr (std::is_same_v<T, double>)
      to = j[key].is_null() ? decoding_options::off : j[key].get<double>();
    else
      to = j[key].get<T>();
  };
  take("compression_ratio_threshold", o.decoding.compression_ratio_threshold);
  take("logprob_threshold", o.decoding.logprob_threshold);
  take("no_speech_threshold", o.decoding.no_speech_threshold);
  take("hallucination_silence_threshold", o.decoding.hallucination_silence_threshold);
  take("condition_on_previous_text", o.decoding.condition_on_previous_text);
  take("initial_prompt", o.decoding.initial_prompt);
  take("carry_initial_prompt", o.decoding.carry_initial_prompt);
  take("without_timestamps", o.decoding.without_timestamps);
  take("word_timestamps", o.decoding.word_timestamps);
  if (j.contains("clip_timestamps")) o.decoding.clip_timestamps = std::vector<double>{5, 20};
  return o;
}

// The original's configurations, asked for by their names; looked at first and in portions, or kept until the end.
TEST(whisper_pipeline, the_original_s_options) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden/whisper/v3";
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  context c;
  const nlohmann::json all = test::read_json(folder / "expected.json")["transcribe"];
  for (const auto& [name, want] : all.items()) {
    SCOPED_TRACE(name);
    const std::span<const float> heard(pcm.data(), name == "short11" ? 176000 : pcm.size());
    const transcribe_options o = options_of(want["options"]);
    const result r = v3().transcribe(heard, o, c);
    any_recording kept(v3(), o);
    std::vector<segment> again;
    const auto sink = [&](segment s) { again.push_back(std::move(s)); };
    for (std::size_t at = 0; at < heard.size(); at += 7777)
      kept.push(heard.subspan(at, std::min<std::size_t>(7777, heard.size() - at)), c, sink);
    const result head = kept.finish(c, sink);
    EXPECT_EQ(head.language, r.language);
    ASSERT_EQ(r.segments.size(), want["segments"].size());
    ASSERT_EQ(again.size(), r.segments.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
      const nlohmann::json& w = want["segments"][i];
      EXPECT_EQ(r.segments[i].token_ids, w["tokens"].get<std::vector<int>>());
      EXPECT_EQ(again[i].token_ids, r.segments[i].token_ids);
      EXPECT_DOUBLE_EQ(r.segments[i].start, w["start"].get<double>());
      EXPECT_DOUBLE_EQ(again[i].end, w["end"].get<double>());
      if (!w.contains("words")) continue;
      ASSERT_EQ(r.segments[i].words.size(), w["words"].size());
      for (std::size_t k = 0; k < w["words"].size(); ++k) {
        const word& spoken = r.segments[i].words[k];
        EXPECT_EQ(spoken.space + spoken.text, w["words"][k]["word"].get<std::string>());
        EXPECT_EQ(spoken.how, timing::native);
      }
    }
  }
}

TEST(whisper_pipeline, what_became_of_windows_is_reported) {
  STENO_REQUIRE_SHARED(shared);
  const auto pcm = test::load_wav(shared / "golden/whisper/v3/input.wav").pcm;
  context c;
  transcribe_options o;
  o.decoding.no_speech_threshold = -1.0;  // everything is silence
  o.decoding.logprob_threshold = 0.0;     // and fails
  o.decoding.temperature = std::vector<double>{0.0, 0.5};
  o.decoding.seed = 7;
  const result r = v3().transcribe(pcm, o, c);
  EXPECT_TRUE(r.segments.empty());
  EXPECT_TRUE(r.extra.empty());
  ASSERT_TRUE(r.windows);
  ASSERT_EQ(r.windows->size(), 2u);
  for (const core::window_report& w : *r.windows) EXPECT_EQ(w.outcome, "no_speech");
  EXPECT_EQ(r.windows->back().start, 30.0);
  EXPECT_EQ(r.windows->back().end, 44.0);
}

// Silence, noise and tones: every window ends and times never decrease.
TEST(whisper_pipeline, long_sounds_without_speech) {
  STENO_REQUIRE_SHARED(shared);
  context c;
  for (const char* kind : {"silence", "noise", "tones"}) {
    SCOPED_TRACE(kind);
    std::vector<float> pcm(16000 * 95);
    std::uint32_t state = 1;
    for (std::size_t i = 0; i < pcm.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      if (kind == std::string("noise")) pcm[i] = static_cast<float>(state >> 16) / 65536.0f - 0.5f;
      if (kind == std::string("tones"))
        pcm[i] = 0.4f * std::sin(static_cast<float>(i % 16000) * 0.0003927f * static_cast<float>(200 + i / 16000));
    }
    transcribe_options o;
    o.language = "en";
    o.decoding.temperature = std::vector<double>{0.0};
    const result r = v3().transcribe(pcm, o, c);
    double last = 0;
    for (const segment& s : r.segments) {
      EXPECT_GE(s.start, last);
      EXPECT_GE(s.end, s.start);
      last = s.start;
    }
    EXPECT_EQ(r.windows.value().back().end, 95.0);
  }
}

TEST(whisper_pipeline, other_models_refuse_its_options) {
  const transcriber demo((std::filesystem::path(STENO_SOURCE_DIR) / "examples/models/demo.gguf").string());
  transcribe_options o;
  o.decoding.best_of = 3;
  try {
    const any_recording r(demo, o);
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("best_of"), std::string::npos) << e.what();
  }
}

// As windows of a recording, as clips of a detector, and after the recording moved.
TEST(whisper_pipeline, hotwords_reach_the_search) {
  const transcriber t((test::compact() / "whisper/model.gguf").string());
  EXPECT_TRUE(t.supports("beam"));
  EXPECT_TRUE(t.supports("hotwords"));
  EXPECT_EQ(pipelines::family<whisper::whisper_any>::hotword_score(), whisper::whisper_any::hotword_score);
  const auto m = load<whisper::whisper_any>((test::compact() / "whisper/model.gguf").string());
  std::vector<float> pcm(16000 * 35);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < pcm.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    if (i > 16000 && i < 16000 * 33) pcm[i] = static_cast<float>(state >> 16) / 65536.0f - 0.5f;
  }
  const any_vad energy = open_vad("energy");
  context c;
  const auto count = [&](const result& r) {
    std::ptrdiff_t n = 0;
    for (const segment& s : r.segments) n += std::count(s.text.begin(), s.text.end(), 'q');
    return n;
  };
  for (const bool cut : {false, true}) {
    SCOPED_TRACE(cut);
    transcribe_options plain, told;
    plain.language = "en";
    plain.decoding.temperature = std::vector<double>{0.0};
    plain.decoding.no_speech_threshold = decoding_options::off;
    if (cut) plain.vad = &energy;
    told = plain;
    told.hotwords = {"q"};
    told.hotword_score = 20;
    const auto favoured = count(t.transcribe(pcm, told, c));
    EXPECT_GT(favoured, count(t.transcribe(pcm, plain, c)));
    if (cut) continue;
    any_recording first(t, told);
    any_recording moved(std::move(first));
    result r;
    const auto sink = [&](segment s) { r.segments.push_back(std::move(s)); };
    moved.push(pcm, c, sink);
    moved.finish(c, sink);
    EXPECT_EQ(count(r), favoured);
  }
  // They bring a beam with them.
  EXPECT_EQ(pipelines::whisper_options(m, {}, {}).decode.beam_size, 0);
  const search::guides some{.hotwords = search::hotword_automaton(std::vector<std::vector<int>>{{1}}, {})};
  EXPECT_EQ(pipelines::whisper_options(m, {}, some).decode.beam_size, 5);
  EXPECT_EQ(pipelines::whisper_options(m, {.beam = 3}, some).decode.beam_size, 3);
}

// A window costs the same however little speech is in it, so segments share them; times are the recording's.
TEST(whisper_pipeline, segments_of_a_detector_share_windows) {
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  const transcriber t((examples / "models/whisper.gguf").string());
  std::vector<float> pcm;
  std::vector<std::pair<double, double>> speech;  // seconds of each sentence
  for (int i = 0; i < 6; ++i) {
    pcm.resize(pcm.size() + 16000 * (2 + static_cast<std::size_t>(i)));
    const char* names[] = {"question.wav", "shopping.wav", "train.wav"};
    const auto sentence = test::load_wav(examples / "audio" / names[i % 3]).pcm;
    const double begin = static_cast<double>(pcm.size()) / 16000;
    pcm.insert(pcm.end(), sentence.begin(), sentence.end());
    speech.emplace_back(begin, static_cast<double>(pcm.size()) / 16000);
  }
  const any_vad energy = open_vad("energy");
  context c;
  transcribe_options o;
  o.vad = &energy;
  o.decoding.word_timestamps = true;
  const result shared = t.transcribe(pcm, o, c);
  const auto m = load<whisper::whisper_any>((examples / "models/whisper.gguf").string());
  EXPECT_TRUE(pipelines::clips_of(m, o).share);
  o.merge_seconds = 0;
  EXPECT_FALSE(pipelines::clips_of(m, o).share);
  const result alone = t.transcribe(pcm, o, c);
  std::string together, apart;
  for (const segment& s : shared.segments) together += s.text;
  for (const segment& s : alone.segments) apart += s.text;
  for (std::string* all : {&together, &apart}) std::erase(*all, ' ');  // a text begins without one
  EXPECT_EQ(together, apart);
  double last = 0;
  for (const segment& s : shared.segments) {
    EXPECT_LE(s.start, s.end);
    ASSERT_FALSE(s.words.empty());
    for (const word& w : s.words) {
      EXPECT_GE(w.start, last - 1e-9);
      EXPECT_LE(w.start, w.end);
      last = w.start;
      const double middle = (w.start + w.end) / 2;
      EXPECT_TRUE(
          std::any_of(speech.begin(), speech.end(),
                      [&](const auto& when) { return middle > when.first - 0.3 && middle < when.second + 0.3; }))
          << w.text << " at " << w.start;
    }
  }
}

}  // namespace whisper_test
