// FSMN-VAD on the compact golden set: stages, segments from the original's probabilities, and the published sizes.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/fsmn_vad.hpp>

#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "trace/stages/fsmn_vad.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <set>

namespace fsmn_vad_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path folder = test::compact() / "fsmn_vad";
funasr::fsmn_vad_any small() { return load<funasr::fsmn_vad_any>((folder / "model.gguf").string()); }
// 1e-4 of max(1, absmax) is the contract's bound for f32: the sums run in another order than torch's.
TEST(fsmn_vad, stages_equal_the_original) {
  const auto model = small();
  const npy::array features = npy::load(folder / "feats.npy");
  const std::vector<float> values = features.floats();
  std::set<std::string> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const fs::path golden = folder / (stages::fsmn_vad(path) + ".npy");
    if (!fs::exists(golden)) return;
    seen.insert(golden.stem().string());
    EXPECT_LE(test::compare(x, npy::load(golden)).relative(), 1e-4) << golden.stem();
  };
  context c(executor{}, core::tracer(sink));
  auto memories = model.encoder.start();
  matrix<float, dynamic, dynamic> scores(features.rows(), model.encoder.output_size());
  model.encoder(core::make_view(values.data(), features.rows(), features.cols()), scores, &memories, nn::no_env{}, c);
  EXPECT_EQ(seen.size(), 5u);
}

TEST(fsmn_vad, segments_of_the_originals_probabilities) {
  const std::vector<float> silence = npy::load(folder / "silence.npy").floats();
  std::ifstream in(folder / "expected.json");
  const nlohmann::json runs = nlohmann::json::parse(in);
  for (const auto& [name, run] : runs.items()) {
    segmentation::voice_segment_options o;
    o.max_end_silence = run["max_end_silence"].get<int>();
    o.max_single_segment = run["max_single_segment"].get<int>();
    segmentation::voice_segmenter segmenter(o);
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    for (std::size_t t = 0; t < silence.size(); ++t) {
      const bool speech = 1 - static_cast<double>(silence[t]) >= static_cast<double>(silence[t]) + 0.6;
      const segmentation::voice_change v = segmenter.frame(speech, t + 1 == silence.size());
      if (v.start_ms >= 0) found.emplace_back(v.start_ms, -1);
      if (v.end_ms >= 0) found.back().second = v.end_ms;
    }
    EXPECT_EQ(nlohmann::json(found), run["segments"]) << name;
  }
  EXPECT_EQ(runs.size(), 4u);
}

TEST(fsmn_vad, silence_and_clips_shorter_than_a_frame_have_no_segments) {
  const auto model = small();
  context c;
  for (const std::size_t n : {0u, 1u, 399u, 400u, 16000u})
    EXPECT_TRUE(model.segments(std::vector<float>(n), {}, c).empty()) << n;
}

TEST(fsmn_vad, a_model_of_other_sizes_is_refused) {
  try {
    (void)load<funasr::fsmn_vad_small>((folder / "model.gguf").string());
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("encoder.in_linear1.linear.weight"), std::string::npos) << e.what();
  }
}

}  // namespace fsmn_vad_test
