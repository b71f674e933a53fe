// Models that take 8 kHz against the original implementation: stages, ids and text of Paraformer, scores and segments
// of FSMN-VAD, from files of 8 kHz and from what the original resampled.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/fsmn_vad.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/pipelines/paraformer.hpp>
#include <steno/streaming/voice_activity_detector.hpp>

#include "support/paraformer_case.hpp"

namespace eight_khz_test {

using namespace steno;
namespace fs = std::filesystem;

// Samples of a run: those of the file of 8 kHz, or those that the original made of the one of 16 kHz.
std::vector<float> samples_of(const fs::path& folder, const std::string& run) {
  if (run == "file_8k") return test::load_wav(folder / "input_8k.wav").pcm;
  return npy::load(folder / "stages/00_file_16k_resampled.npy").floats();
}

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const nlohmann::json& list) {
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (const auto& p : list) all.emplace_back(p[0], p[1]);
  return all;
}

TEST(parity_eight_khz, paraformer) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/paraformer-8k";
  const auto want = test::read_json(folder / "expected.json")["runs"];
  const auto model = test::converted<funasr::paraformer_any>(folder / "checkpoint");
  EXPECT_EQ(model.sample_rate, 8000);
  for (const std::string run : {"file_8k", "file_16k"}) {
    const std::vector<float> pcm = samples_of(folder, run);
    const auto r = test::run_stages(model, folder, pcm, {}, run + "_");
    std::size_t seen = 0;
    for (const auto& [name, difference] : r.stages) {
      EXPECT_LE(difference.relative(), 1e-4) << run << " " << name;
      ++seen;
    }
    EXPECT_EQ(seen, 4u);
    EXPECT_EQ(r.recognised.token_ids, want[run]["token_ids_after_filter"].get<std::vector<int>>()) << run;
    EXPECT_EQ(r.recognised.text, want[run]["text"].get<std::string>()) << run;
    EXPECT_DOUBLE_EQ(r.recognised.end, static_cast<double>(pcm.size()) / 8000);
  }
}

TEST(parity_eight_khz, fsmn_vad) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = shared / "golden/funasr/vad-8k";
  const auto want = test::read_json(folder / "expected.json")["runs"];
  const auto model = test::converted<funasr::fsmn_vad_any>(folder / "checkpoint");
  EXPECT_EQ(model.sample_rate, 8000);
  for (const auto& [name, run] : want.items()) {
    if (!name.starts_with("file_")) continue;  // arrays of another rate than the argument says
    const std::string file = name.substr(0, name.find("k_") == std::string::npos ? name.size() : name.find("k_") + 1);
    const std::vector<float> pcm = samples_of(folder, file);
    context c;
    funasr::fsmn_vad_options o;
    if (run["args"].contains("max_end_silence_time"))
      o.max_end_silence = run["args"]["max_end_silence_time"].get<int>();
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (const auto& s : streaming::find_speech(model, pcm, c, o)) found.emplace_back(s.start_ms, s.end_ms);
    EXPECT_EQ(found, pairs(run["value"])) << name;
    if (name != file) continue;
    matrix<float, dynamic, dynamic> scores(model.frontend.rows(static_cast<extent>(pcm.size())),
                                           model.encoder.output_size());
    model.score(pcm, scores, c);
    const fs::path stage = folder / "stages" / (file == "file_8k" ? "04_file_8k_scores.npy" : "02_file_16k_scores.npy");
    EXPECT_LE(test::compare(core::read(scores), npy::load(stage)).relative(), 1e-4) << name;
  }
}

}  // namespace eight_khz_test
