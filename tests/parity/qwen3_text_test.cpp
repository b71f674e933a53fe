// What Qwen3-ASR does without a model, against the original: texts it wrote, names of languages, quiet places.
// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/quiet_splits.hpp>
#include <steno/text/qwen3_output.hpp>

#include "support/golden.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace qwen3_text_test {

using namespace steno;
using nlohmann::json;

json read_expected(const std::filesystem::path& shared) {
  std::ifstream in(shared / "golden/qwen3_asr/common/expected.json");
  return json::parse(in);
}
std::string text_or_nothing(const json& j) { return j.is_null() ? "" : j.get<std::string>(); }
TEST(parity_qwen3_text, outputs_are_parsed_and_repetitions_fixed) {
  STENO_REQUIRE_SHARED(shared);
  const json want = read_expected(shared);
  EXPECT_FALSE(want["parse_asr_output"].empty());
  for (const json& v : want["parse_asr_output"]) {
    const text::qwen3_output got =
        text::parse_qwen3_output(text_or_nothing(v["raw"]), text_or_nothing(v["user_language"]));
    EXPECT_EQ(got.language, v["result"][0].get<std::string>()) << v;
    EXPECT_EQ(got.text, v["result"][1].get<std::string>()) << v;
  }
  for (const json& v : want["detect_and_fix_repetitions"])
    EXPECT_EQ(text::fix_repetitions(v["text"].get<std::string>()), v["result"].get<std::string>()) << v;
  for (const json& v : want["normalize_language"])
    EXPECT_EQ(text::normal_language(v["text"].get<std::string>()), v.value("result", std::string())) << v;
  for (const json& v : want["merge_languages"]) {
    std::vector<std::string> languages;
    for (const json& l : v["langs"]) languages.push_back(text_or_nothing(l));
    EXPECT_EQ(text::merge_languages(languages), v["result"].get<std::string>()) << v;
  }
}

TEST(parity_qwen3_text, recordings_are_cut_at_the_same_samples) {
  STENO_REQUIRE_SHARED(shared);
  const json want = read_expected(shared);
  const auto clip = test::load_wav(shared / "golden/qwen3_asr/common/clip.wav").pcm;
  for (const json& v : want["split_audio_into_chunks"]) {
    std::vector<float> pcm;
    for (int i = 0; i < v["repeat"].get<int>(); ++i) pcm.insert(pcm.end(), clip.begin(), clip.end());
    pcm.resize(v["cut_samples"].get<std::size_t>());
    const segmentation::cut_policy p{.max_seconds = v["max_chunk_sec"].get<double>(),
                                     .rule = segmentation::cut_rule::around,
                                     .around = v["search_expand_sec"].get<double>(),
                                     .window_ms = v["min_window_ms"].get<double>()};
    EXPECT_EQ(segmentation::quiet_splits(pcm, 16000, p), v["starts"].get<std::vector<extent>>()) << v;
  }
}

}  // namespace qwen3_text_test
