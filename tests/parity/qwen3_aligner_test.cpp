// Qwen3-ForcedAligner against the original: stages, prompts, classes and times of the golden case.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/qwen3_aligner.hpp>

#include "support/compare.hpp"
#include "support/qwen3_case.hpp"
#include "support/wav.hpp"
#include "trace/stages/qwen3.hpp"

#include <gtest/gtest.h>

#include <map>

namespace qwen3_aligner_test {

using namespace steno;
using nlohmann::json;

// 1e-4 of max(1, absmax): the contract's bound for f32.
TEST(parity_qwen3_aligner, stages_classes_and_times) {
  STENO_REQUIRE_SHARED(shared);
  const std::filesystem::path folder = shared / "golden/qwen3_asr/qwen3-forcedaligner-0.6b";
  const json want = test::read_json(folder / "expected.json");
  const auto model = test::converted_qwen3<qwen3::qwen3_forced_aligner_any>(shared, "qwen3-forcedaligner-0.6b");
  std::map<std::string, double> seen;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    std::string name = stages::qwen3(path);
    if (name == "decoder_layer0_prefill") name = "decoder_layer0";
    if (name == "logits") name = "logits_at_timestamps";
    for (const auto& e : std::filesystem::directory_iterator(folder / "stages")) {
      if (e.path().stem().string().substr(3) != name) continue;
      const npy::array golden = npy::load(e.path());
      ASSERT_EQ(x.size(), golden.size()) << name;
      seen[name] = test::compare(x, golden).relative();
    }
  };
  for (const json& run : want["runs"]) {
    const auto pcm = test::load_wav(folder / run["wav"].get<std::string>()).pcm;
    context c;
    if (run["wav"] == "input.wav") c.trace_to(core::tracer(sink));
    const qwen3::qwen3_alignment a = model.align(pcm, run["text"].get<std::string>(), c);
    EXPECT_EQ(a.words, run["words"].get<std::vector<std::string>>());
    std::vector<int> ids = {model.audio_begin()};
    ids.insert(ids.end(), static_cast<std::size_t>(model.audio_rows(static_cast<extent>(pcm.size()))),
               want["audio_token_id"].get<int>());
    const std::vector<int> after = model.prompt(a.words);
    ids.insert(ids.end(), after.begin(), after.end());
    EXPECT_EQ(ids, run["input_ids"].get<std::vector<int>>());
    EXPECT_EQ(a.classes, run["classes"].get<std::vector<int>>());
    EXPECT_EQ(a.times, run["fixed_ms"].get<std::vector<long>>());
    const std::vector<word> words = model.words_of(a);
    ASSERT_EQ(words.size(), run["items"].size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i].text, run["items"][i]["text"].get<std::string>());
      EXPECT_DOUBLE_EQ(words[i].start, run["items"][i]["start"].get<double>());
      EXPECT_DOUBLE_EQ(words[i].end, run["items"][i]["end"].get<double>());
    }
  }
  EXPECT_FALSE(seen.empty());
  for (const auto& [name, error] : seen) EXPECT_LE(error, 1e-4) << name;
}

TEST(parity_qwen3_aligner, words_and_repaired_times) {
  STENO_REQUIRE_SHARED(shared);
  const json want = test::read_json(shared / "golden/qwen3_asr/common/expected.json");
  for (const json& v : want["encode_timestamp"])
    EXPECT_EQ(tokenizers::aligned_words(v["text"].get<std::string>()), v["words"].get<std::vector<std::string>>()) << v;
  EXPECT_FALSE(want["fix_timestamp"].empty());
  for (const json& v : want["fix_timestamp"])
    EXPECT_EQ(search::repair_times(v["data"].get<std::vector<double>>()), v["result"].get<std::vector<long>>()) << v;
  for (const json& v : want["audio_tokens"]) {
    nn::qwen3_audio_encoder<128, 64, 2, 256, 24, 64, 2> tower;
    EXPECT_EQ(tower.rows(v["frames"].get<extent>()), v["tokens"].get<extent>()) << v;
  }
}

}  // namespace qwen3_aligner_test
