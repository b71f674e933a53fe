// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/open_vad.hpp>

#include <gtest/gtest.h>

#include <fstream>

#include "support/golden.hpp"
#include "support/silero_case.hpp"
#include "support/speech.hpp"

namespace any_vad_test {

using namespace steno;

const std::string golden_model = (test::compact() / "fsmn_vad" / "model.gguf").string();

std::string refusal(const std::string& name) {
  try {
    (void)open_vad(name);
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(any_vad, is_energy_or_what_the_file_holds) {
  EXPECT_EQ(open_vad("energy").name(), "energy_vad");
  EXPECT_EQ(open_vad(golden_model).name(), "fsmn_vad");
  EXPECT_EQ(open_vad(golden_model).sample_rate(), 16000);
  EXPECT_EQ(open_vad("energy").sample_rate(), 16000);
  EXPECT_EQ(open_vad("energy", {}, 8000).sample_rate(), 8000);
  EXPECT_THROW((void)open_vad("energy", {}, 7999), error);
  EXPECT_NE(refusal("none.gguf").find("none.gguf"), std::string::npos);
  EXPECT_NE(refusal((test::compact() / "sensevoice" / "model.gguf").string()).find("fsmn_vad or silero_vad"),
            std::string::npos);
  const std::string other = (test::compact() / "sensevoice" / "model.gguf").string();
  EXPECT_NE(refusal(other).find("no voice activity detector"), std::string::npos) << refusal(other);
}

TEST(any_vad, settings_reach_each_detector) {
  const vad_settings none, given{.min_silence = 700, .max_segment = 9000, .threshold = 0.4};
  const models::energy_vad_options plain;
  EXPECT_EQ(pipelines::vad_options(models::energy_vad(), none).min_silence, plain.min_silence);
  EXPECT_EQ(pipelines::vad_options(models::energy_vad(), none).on_above, plain.on_above);
  const auto energy =
      pipelines::vad_options(models::energy_vad(), {.min_silence = 700, .max_segment = 9000, .threshold = 20});
  EXPECT_EQ(energy.min_silence, 700);
  EXPECT_EQ(energy.max_segment, 9000);
  EXPECT_EQ(energy.on_above, 20);
  EXPECT_DOUBLE_EQ(energy.off_above, 12);
  const auto model = load<funasr::fsmn_vad_any>(golden_model);
  const auto fsmn = pipelines::vad_options(model, given);
  EXPECT_EQ(fsmn.max_end_silence, 700);
  EXPECT_EQ(fsmn.max_single_segment, 9000);
  EXPECT_EQ(fsmn.speech_noise_thres, 0.4);
  EXPECT_FALSE(pipelines::vad_options(model, none).max_end_silence.has_value());
  for (const vad_settings& s :
       {vad_settings{.neg_threshold = 0.1}, vad_settings{.min_speech = 100}, vad_settings{.pad = 100}})
    EXPECT_THROW((void)pipelines::vad_options(model, s), error);
}

// All six of Silero VAD; of the energy VAD, too.
TEST(any_vad, settings_reach_the_detectors_that_have_more) {
  const vad_settings all{
      .min_silence = 700, .max_segment = 9000, .threshold = 20, .neg_threshold = 3, .min_speech = 90, .pad = 70};
  const auto energy = pipelines::vad_options(models::energy_vad(), all);
  EXPECT_EQ(energy.off_above, 3);
  EXPECT_EQ(energy.min_speech, 90);
  EXPECT_EQ(energy.pad, 70);
  const auto silero = pipelines::vad_options(models::silero_vad_any(), all);
  EXPECT_EQ(silero.threshold, 20);
  EXPECT_EQ(silero.neg_threshold, 3);
  EXPECT_EQ(silero.min_speech, 90);
  EXPECT_EQ(silero.min_silence, 700);
  EXPECT_EQ(silero.pad, 70);
  EXPECT_EQ(silero.max_segment, 9000);
  EXPECT_EQ(pipelines::vad_options(models::silero_vad_any(), {}).max_segment, 3600000);
}

TEST(any_vad, opens_a_silero_vad) {
  std::vector<std::byte> image = test::silero_gguf(8000, 0, test::silero_tensors(8000, 5, {8, 6, 4, 12}));
  const any_vad v = open_vad(gguf_file("memory", image), {}, image);
  EXPECT_EQ(v.name(), "silero_vad");
  EXPECT_EQ(v.sample_rate(), 8000);
}

// The promises of the concept, for the detector with a network: pieces, and what may be forgotten.
TEST(any_vad, every_detector_keeps_the_promises_of_a_stream) {
  const double pauses[] = {1, 3};
  const test::conversation talk = test::joined_utterances(3, pauses);
  const test::temporary_directory scratch;
  const std::string silero_model = (scratch.path() / "silero.gguf").string();
  {
    const std::vector<std::byte> bytes = test::silero_gguf(16000, 0, test::silero_tensors(16000, 5, {8, 6, 4, 12}, 4));
    std::ofstream(silero_model, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  for (const std::string& name : {std::string("energy"), golden_model, silero_model}) {
    const any_vad v = open_vad(name);
    context c;
    const auto segments_of = [&](std::size_t piece) {
      std::vector<streaming::voice_segment> found;
      streaming::voice_segment_collector collector;
      std::int64_t settled = 0;
      const auto sink = [&](const segmentation::voice_change& change) {
        EXPECT_TRUE(change.start_ms < 0 || change.start_ms >= settled) << name;
        collector(change, [&](const streaming::voice_segment& s) { found.push_back(s); });
      };
      vad_stream s(v, {.min_silence = 400});
      for (std::span<const float> left(talk.pcm); !left.empty();) {
        const std::size_t n = std::min(left.size(), piece);
        s.accept(left.first(n), c, sink);
        EXPECT_GE(s.settled_ms(), settled) << name;
        settled = s.settled_ms();
        left = left.subspan(n);
      }
      s.finish(c, sink);
      return found;
    };
    const auto whole = segments_of(talk.pcm.size());
    EXPECT_FALSE(whole.empty()) << name;
    for (const std::size_t piece : {160u, 4999u}) EXPECT_EQ(segments_of(piece), whole) << name << " " << piece;
  }
}

// The closed class does what the detector itself does.
TEST(any_vad, is_the_detector) {
  const double pauses[] = {1, 3};
  const test::conversation talk = test::joined_utterances(3, pauses);
  const auto direct = load<funasr::fsmn_vad_any>(golden_model);
  const any_vad v = open_vad(golden_model);
  context c;
  std::vector<streaming::voice_segment> found;
  streaming::voice_segment_collector collector;
  const auto sink = [&](const segmentation::voice_change& change) {
    collector(change, [&](const streaming::voice_segment& s) { found.push_back(s); });
  };
  vad_stream s(v);
  s.accept(talk.pcm, c, sink);
  s.finish(c, sink);
  EXPECT_EQ(found, streaming::find_speech(direct, talk.pcm, c));
}

}  // namespace any_vad_test
