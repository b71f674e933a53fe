#include <steno/pipelines/any_vad.hpp>

#include <gtest/gtest.h>

#include "support/golden.hpp"
#include "support/speech.hpp"

namespace {
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
  EXPECT_EQ(vad_name(open_vad("energy")), "energy_vad");
  EXPECT_EQ(vad_name(open_vad(golden_model)), "fsmn_vad");
  EXPECT_EQ(vad_sample_rate(open_vad(golden_model)), 16000);
  EXPECT_NE(refusal("none.gguf").find("none.gguf"), std::string::npos);
  const std::string other = (test::compact() / "sensevoice" / "model.gguf").string();
  EXPECT_NE(refusal(other).find("no voice activity detector"), std::string::npos) << refusal(other);
}

TEST(any_vad, settings_reach_each_detector) {
  const vad_settings none, some{.min_silence = 700, .max_segment = 9000, .threshold = 0.4};
  const energy_vad_options plain;
  EXPECT_EQ(none.give(energy_vad()).min_silence, plain.min_silence);
  EXPECT_EQ(none.give(energy_vad()).on_above, plain.on_above);
  const auto energy = vad_settings{.min_silence = 700, .max_segment = 9000, .threshold = 20}.give(energy_vad());
  EXPECT_EQ(energy.min_silence, 700);
  EXPECT_EQ(energy.max_segment, 9000);
  EXPECT_EQ(energy.on_above, 20);
  EXPECT_DOUBLE_EQ(energy.off_above, 12);
  const any_vad opened = open_vad(golden_model);
  const auto& model = std::get<fsmn_vad_any>(opened);
  const auto fsmn = some.give(model);
  EXPECT_EQ(fsmn.max_end_silence, 700);
  EXPECT_EQ(fsmn.max_single_segment, 9000);
  EXPECT_EQ(fsmn.speech_noise_thres, 0.4);
  EXPECT_FALSE(none.give(model).max_end_silence.has_value());
}

// The promises of the concept, for the detector with a network: pieces, and what may be forgotten.
TEST(any_vad, every_detector_keeps_the_promises_of_a_stream) {
  const double pauses[] = {1, 3};
  const test::conversation talk = test::joined_utterances(3, pauses);
  for (const std::string& name : {std::string("energy"), golden_model})
    std::visit(
        [&](const auto& v) {
          context c;
          const auto options = vad_settings{.min_silence = 400}.give(v);
          const auto whole = find_speech(v, talk.pcm, c, options);
          EXPECT_FALSE(whole.empty()) << name;
          for (const std::size_t piece : {160u, 4999u}) {
            std::vector<voice_segment> found;
            voice_segment_collector collector;
            std::int64_t settled = 0;
            const auto sink = [&](const voice_change& change) {
              EXPECT_TRUE(change.start_ms < 0 || change.start_ms >= settled) << name;
              collector(change, [&](const voice_segment& s) { found.push_back(s); });
            };
            auto s = v.start(options);
            for (std::span<const float> left(talk.pcm); !left.empty();) {
              const std::size_t n = std::min(left.size(), piece);
              v.accept(s, left.first(n), c, sink);
              EXPECT_GE(v.settled_ms(s), settled) << name;
              settled = v.settled_ms(s);
              left = left.subspan(n);
            }
            v.finish(s, c, sink);
            EXPECT_EQ(found, whole) << name << " " << piece;
          }
        },
        open_vad(name));
}

}  // namespace
