// One door: every family, with sizes from the file and as a published type, and a model of one's own walk through
// transcribe(), recordings and sessions; an option that a model does not support is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/canary.hpp>
#include <steno/pipelines/fun_asr_nano.hpp>
#include <steno/pipelines/paraformer.hpp>
#include <steno/pipelines/parakeet.hpp>
#include <steno/pipelines/qwen3_asr.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>
#include <steno/pipelines/sense_voice.hpp>
#include <steno/pipelines/transcriber.hpp>
#include <steno/pipelines/transcriber_of.hpp>
#include <steno/pipelines/u2.hpp>
#include <steno/pipelines/whisper.hpp>

#include "support/golden.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace recogniser_test {

namespace fs = std::filesystem;
using namespace steno;

// Published types, whose sizes are constants.
static_assert(recogniser<funasr::sense_voice_small> && recogniser<funasr::sense_voice_any>);
static_assert(recogniser<funasr::paraformer_large> && recogniser<funasr::paraformer_any>);
static_assert(recogniser<funasr::paraformer_large_online> && recogniser<funasr::paraformer_online_any>);
static_assert(recogniser<funasr::bicif_paraformer_large> && recogniser<funasr::bicif_paraformer_any>);
static_assert(recogniser<funasr::seaco_paraformer_large> && recogniser<funasr::seaco_paraformer_any>);
static_assert(recogniser<funasr::contextual_paraformer_large> && recogniser<funasr::contextual_paraformer_any>);
static_assert(recogniser<wenet::u2_conformer_any> && recogniser<wenet::u2_transformer_any>);
static_assert(recogniser<nemo::parakeet_ctc_06b> && recogniser<nemo::parakeet_ctc_any>);
static_assert(recogniser<nemo::parakeet_tdt_06b_v3> && recogniser<nemo::parakeet_transducer_any>);
static_assert(recogniser<nemo::canary_1b_v2> && recogniser<nemo::canary_180m_flash> && recogniser<nemo::canary_any>);
static_assert(!streaming::streaming_recogniser<nemo::canary_180m_flash>);
static_assert(recogniser<whisper::whisper_base> && recogniser<whisper::whisper_large_v3_turbo> &&
              recogniser<whisper::whisper_any>);
static_assert(recogniser<qwen3::qwen3_asr_0_6b> && recogniser<qwen3::qwen3_asr_any>);
static_assert(recogniser<funasr::fun_asr_nano_0_8b> && recogniser<funasr::fun_asr_nano_any>);
static_assert(streaming::streaming_recogniser<wenet::u2_conformer_any> &&
              streaming::streaming_recogniser<wenet::u2_transformer_any>);
static_assert(streaming::streaming_recogniser<funasr::paraformer_large_online> &&
              streaming::streaming_recogniser<funasr::paraformer_online_any>);
static_assert(streaming::streaming_recogniser<nemo::parakeet_ctc_06b> &&
              streaming::streaming_recogniser<nemo::parakeet_tdt_06b_v3>);
static_assert(streaming::streaming_recogniser<qwen3::qwen3_asr_0_6b> &&
              streaming::streaming_recogniser<qwen3::qwen3_asr_any>);
static_assert(!streaming::streaming_recogniser<funasr::sense_voice_small> &&
              !streaming::streaming_recogniser<whisper::whisper_base>);

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

std::string file_of(const std::string& name) {
  const fs::path bundled = examples / "models" / (name + ".gguf");
  return (fs::exists(bundled) ? bundled : test::compact() / name / "model.gguf").string();
}

std::vector<float> speech() { return test::load_wav(examples / "audio" / "train.wav").pcm; }

std::string text_of(const result& r) {
  std::string all = r.model + "|" + r.language + "|" + r.text;
  for (const segment& s : r.segments) {
    all.append("|").append(s.text);
    for (const int id : s.token_ids) all.append(" ").append(std::to_string(id));
  }
  return all;
}

// Any recogniser, through everything that takes one.
template <recogniser Model>
std::string through_the_door(const Model& m) {
  context c;
  const auto pcm = speech();
  const result whole = transcribe(m, pcm, {}, c);
  result pieces;
  recording r(m, transcribe_options{});
  const auto sink = [&](segment s) { pieces.segments.push_back(std::move(s)); };
  for (std::size_t at = 0; at < pcm.size(); at += 999)
    r.push(std::span(pcm).subspan(at, std::min<std::size_t>(999, pcm.size() - at)), c, sink);
  const result head = r.finish(c, sink);
  EXPECT_EQ(head.model, whole.model);
  EXPECT_EQ(head.duration, whole.duration);
  EXPECT_EQ(pieces.segments.size(), whole.segments.size());
  for (std::size_t i = 0; i < pieces.segments.size(); ++i) EXPECT_EQ(pieces.segments[i].text, whole.segments[i].text);
  std::string all = text_of(whole);
  const auto listen = [&](auto s) {
    std::string live;
    const auto events = [&](session_event e) {
      if (e.final()) live.append("|").append(e.utterance.text);
    };
    s.push(pcm, c, events);
    s.finish(c, events);
    EXPECT_TRUE(s.over());
    all.append(" live").append(live);
  };
  if constexpr (streaming::streaming_recogniser<Model>)
    listen(session(m, session_options{}, c));
  else
    listen(pipelines::segment_session(m, session_options{}, c));
  return all;
}

// The same by a transcriber: closed classes do what the templates do.
std::string by_file(const std::string& file) {
  const transcriber t(file);
  context c;
  const auto pcm = speech();
  std::string all = text_of(t.transcribe(pcm, {}, c));
  any_session s(t, {}, c);
  std::string live;
  const auto events = [&](session_event e) {
    if (e.final()) live.append("|").append(e.utterance.text);
  };
  s.push(pcm, c, events);
  s.finish(c, events);
  return all.append(" live").append(live);
}

template <recogniser Any>
void expect_one_door(const std::string& name) {
  SCOPED_TRACE(name);
  const std::string file = file_of(name);
  const std::string text = through_the_door(load<Any>(file));
  EXPECT_EQ(text, by_file(file));
  EXPECT_FALSE(text.empty());
}

std::string refusal(const auto& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(recogniser, sense_voice) { expect_one_door<funasr::sense_voice_any>("demo"); }
TEST(recogniser, paraformer) { expect_one_door<funasr::paraformer_any>("paraformer"); }
TEST(recogniser, paraformer_online) {
  expect_one_door<funasr::paraformer_online_any>("paraformer-online");
  expect_one_door<funasr::paraformer_online_any>("paraformer_online");
}
TEST(recogniser, seaco_paraformer) {
  expect_one_door<funasr::seaco_paraformer_any>("seaco_paraformer");
  const transcriber t(file_of("seaco_paraformer"));
  context c;
  const std::string plain = text_of(t.transcribe(speech(), {}, c));
  EXPECT_NE(text_of(t.transcribe(speech(), {.hotwords = {"w21 w22", "w55 w56"}}, c)).substr(0, 16), "");
  EXPECT_TRUE(t.supports("hotwords"));
  EXPECT_FALSE(t.supports("hotword_score") || t.supports("beam") || t.supports("language"));
  EXPECT_NE(refusal([&] { (void)t.transcribe(speech(), {.beam = 3}, c); }).find("option beam"), std::string::npos);
}
TEST(recogniser, u2) { expect_one_door<wenet::u2_conformer_any>("u2"); }
TEST(recogniser, parakeet_ctc) { expect_one_door<nemo::parakeet_ctc_any>("parakeet-ctc"); }
TEST(recogniser, canary) { expect_one_door<nemo::canary_any>("canary"); }
TEST(recogniser, parakeet_transducer) {
  expect_one_door<nemo::parakeet_transducer_any>("parakeet-tdt");
  expect_one_door<nemo::parakeet_transducer_any>("parakeet-eou");
}
TEST(recogniser, whisper) { expect_one_door<whisper::whisper_any>("whisper"); }
TEST(recogniser, qwen3_asr) { expect_one_door<qwen3::qwen3_asr_any>("qwen3-asr"); }
TEST(recogniser, fun_asr_nano) { expect_one_door<funasr::fun_asr_nano_any>("fun-asr-nano"); }
// The compact file holds the audio half alone.
TEST(recogniser, fun_asr_nano_without_its_language_model) {
  const std::string file = file_of("fun_asr_nano");
  const auto m = load<funasr::fun_asr_nano_any>(file);
  const transcriber t(file);
  const auto pcm = speech();
  context c;
  const std::string why = refusal([&] { (void)transcribe(m, pcm, {}, c); });
  EXPECT_NE(why.find("no language model"), std::string::npos) << why;
  EXPECT_EQ(refusal([&] { (void)t.transcribe(pcm, {}, c); }), why);
  EXPECT_TRUE(t.supports("top_k"));
  EXPECT_TRUE(t.supports("itn"));
  EXPECT_FALSE(t.supports("word_timestamps"));  // the file has no tokens of its CTC head
  using family = pipelines::family<funasr::fun_asr_nano_any>;
  EXPECT_TRUE(family::options(m, {}, {}, 0).itn);  // as the original
  EXPECT_FALSE(family::options(m, {.itn = false}, {}, 0).itn);
  EXPECT_TRUE(t.supports_language("\u82f1\u6587"));
  EXPECT_FALSE(t.supports_language("ko"));
}

TEST(recogniser, options_that_a_model_does_not_support_are_refused_by_name) {
  const auto pcm = speech();
  context c;
  const transcriber parakeet(file_of("parakeet-tdt")), sense(file_of("demo")), whisper(file_of("whisper"));
  const auto why = [&](const transcriber& t, const transcribe_options& o) {
    return refusal([&] { (void)t.transcribe(pcm, o, c); });
  };
  EXPECT_NE(why(parakeet, {.language = "klingon"}).find("option language"), std::string::npos);
  EXPECT_NE(why(parakeet, {.itn = true}).find("option itn"), std::string::npos);
  const transcriber qwen(file_of("qwen3-asr"));
  EXPECT_NE(why(qwen, {.beam = 4}).find("option beam"), std::string::npos);
  EXPECT_EQ(why(qwen, {.beam = 1}), "accepted");  // it is greedy
  EXPECT_EQ(why(sense, {.beam = 4, .hotwords = {"paris", {"madrid", 2}}, .hotword_score = 2.0f}), "accepted");
  EXPECT_EQ(why(qwen, {.hotwords = {{"paris", 2}}, .hotword_score = 2.0f}), "accepted");
  const transcriber online(file_of("paraformer-online"));
  EXPECT_EQ(why(online, {.beam = 4, .hotwords = {"paris", {"madrid", 2}}, .hotword_score = 2.0f}), "accepted");
  EXPECT_NE(why(online, {.lm_weight = 0.5f}).find("option lm_weight"), std::string::npos);
  EXPECT_NE(why(whisper, {.lm_weight = 0.5f}).find("option lm_weight"), std::string::npos);
  EXPECT_NE(why(sense, {.language = "klingon"}).find("\"klingon\""), std::string::npos);
  EXPECT_NE(why(whisper, {.max_clip_seconds = 10}).find("option max_clip_seconds"), std::string::npos);
  EXPECT_NE(why(whisper, {.parallel_clips = 2}).find("option parallel_clips"), std::string::npos);
  const any_vad energy = open_vad("energy");
  EXPECT_EQ(why(whisper, {.max_clip_seconds = 10, .vad = &energy, .parallel_clips = 2}), "accepted");
  for (const char* option : {"max_clip_seconds", "parallel_clips"}) {
    EXPECT_FALSE(whisper.supports(option));
    EXPECT_TRUE(whisper.supports(option, true));
    EXPECT_TRUE(sense.supports(option));
  }
  EXPECT_TRUE(sense.supports("itn"));
  EXPECT_FALSE(parakeet.supports("itn"));
  EXPECT_FALSE(parakeet.supports("no such option"));
  EXPECT_TRUE(whisper.supports("best_of"));
  EXPECT_FALSE(whisper.supports("top_k"));
}

// ---- A model of one's own: it counts loud stretches of 0.1 s, and its session does so while samples come in.

struct loudness_model {
  static constexpr std::string_view architecture = "loudness";
  static constexpr int sample_rate = 16000;
  struct options {
    std::string language = "auto";
  };
  class session_type {
   public:
    session_type(const loudness_model& m, const session_options&, context&) : model_(&m) {}
    void push(std::span<const float> pcm, context&, core::sink_ref<session_event>) {
      pcm_.insert(pcm_.end(), pcm.begin(), pcm.end());
    }
    void finish(context& c, core::sink_ref<session_event> sink) {
      if (over_) return;
      over_ = true;
      session_event e;
      e.kind = streaming::stream_event_kind::final;
      e.utterance = model_->recognise(pcm_, {}, c);
      sink(std::move(e));
    }
    bool over() const { return over_; }
    static bool honours(const loudness_model&, std::string_view) { return false; }

   private:
    const loudness_model* model_;
    std::vector<float> pcm_;
    bool over_ = false;
  };

  std::vector<std::string> languages() const { return {"en"}; }
  segment recognise(std::span<const float> pcm, const options& o, context&) const {
    segment s;
    s.end = static_cast<double>(pcm.size()) / sample_rate;
    for (std::size_t at = 0; at + 1600 <= pcm.size(); at += 1600) {
      float loudest = 0;
      for (const float x : pcm.subspan(at, 1600)) loudest = std::max(loudest, std::abs(x));
      if (loudest > 0.1f) s.token_ids.push_back(static_cast<int>(at / 1600));
    }
    s.text = std::to_string(s.token_ids.size()) + " " + o.language;
    return s;
  }
};
static_assert(recogniser<loudness_model> && streaming::streaming_recogniser<loudness_model>);

TEST(recogniser, a_model_of_one_s_own) {
  const loudness_model m;
  const std::string text = through_the_door(m);
  EXPECT_NE(text.find("loudness|"), std::string::npos);
  EXPECT_NE(text.find(" live|"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" auto")) << text;
  // Long recordings are cut, and a detector finds its clips, as for everybody.
  std::vector<float> pcm;
  for (int i = 0; i < 30; ++i) {
    const auto one = speech();
    pcm.insert(pcm.end(), one.begin(), one.end());
    pcm.insert(pcm.end(), 16000, 0.0f);
  }
  context c;
  const any_vad energy = open_vad("energy");
  EXPECT_GE(transcribe(m, pcm, {.max_clip_seconds = 20}, c).segments.size(), 5u);
  const result cut = transcribe(m, pcm, {.language = "en", .vad = &energy, .parallel_clips = 2}, c);
  EXPECT_GE(cut.segments.size(), 30u);
  EXPECT_TRUE(cut.segments[0].text.ends_with(" en"));
  EXPECT_NE(refusal([&] { (void)transcribe(m, pcm, {.itn = true}, c); }).find("option itn"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)transcribe(m, pcm, {.itn = false}, c); }).find("option itn"), std::string::npos);
  const any_vad narrow = open_vad("energy", {}, 8000);
  EXPECT_NE(refusal([&] { (void)transcribe(m, pcm, {.vad = &narrow}, c); })
                .find("sample rate of the voice activity detector energy_vad: expected 16000 Hz, as the model's, found "
                      "8000"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)transcribe(m, pcm, {.language = "de"}, c); }).find("\"de\""), std::string::npos);
  EXPECT_NE(refusal([&] { session(m, {.chunk_size = 4}, c); }).find("option chunk_size"), std::string::npos);
  // And behind the closed classes.
  const transcriber t = transcriber_of(m);
  EXPECT_EQ(text_of(t.transcribe(speech(), {}, c)), text.substr(0, text.find(" live")));
  EXPECT_TRUE(t.streams());
  EXPECT_EQ(t.summary().architecture, "loudness");
}

}  // namespace recogniser_test
