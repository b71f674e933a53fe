// steno vad with the bundled FSMN-VAD: turns with pauses, noise alone.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "programs/run_program.hpp"
#include "support/speech.hpp"

namespace steno_demo_vad_test {

using nlohmann::json;

class steno_demo_vad : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(std::filesystem::exists(model)) << model; }
  json segments(const std::vector<float>& pcm) const {
    std::vector<std::int16_t> samples;
    for (const float x : pcm) samples.push_back(static_cast<std::int16_t>(std::lrint(x * 32767)));
    std::ofstream(dir.path() / "pcm.raw", std::ios::binary)
        .write(reinterpret_cast<const char*>(samples.data()), static_cast<std::streamsize>(samples.size() * 2));
    const auto o = steno::test::shell(
        dir, "'" STENO_PROGRAM "' vad -q --format json --min-silence 600 -m '" + model.string() + "' - < pcm.raw");
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? json::parse(o.out)["segments"] : json::array();
  }
  const std::filesystem::path model = std::filesystem::path(STENO_SOURCE_DIR) / "examples" / "models" / "fsmn-vad.gguf";
  steno::test::temporary_directory dir;
};

// The model card asks for 100 ms; where an utterance begins and ends is known to 10 ms here.
constexpr double near = 0.11;

TEST_F(steno_demo_vad, finds_turns_in_silence_and_in_noise) {
  constexpr double pauses[] = {1, 2, 1.5};
  steno::test::conversation talk = steno::test::joined_utterances(3, pauses);
  for (const bool noisy : {false, true}) {
    if (noisy) steno::test::add_noise(talk.pcm, -50);
    const json found = segments(talk.pcm);
    ASSERT_EQ(found.size(), talk.truth.size()) << found;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i]["start"].get<double>(), talk.truth[i].first, near) << i;
      EXPECT_NEAR(found[i]["end"].get<double>(), talk.truth[i].second, near) << i;
    }
  }
}

TEST_F(steno_demo_vad, hears_nobody_in_noise) {
  EXPECT_EQ(segments(std::vector<float>(320000)), json::array());
  for (const double level : {-60, -40, -20}) EXPECT_EQ(segments(steno::test::noise(20, level)), json::array()) << level;
}

}  // namespace steno_demo_vad_test
