// Qwen3-ForcedAligner on the compact golden set: the language model on the original's rows of audio.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/qwen3_aligner.hpp>

#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace qwen3_aligner_test {

using namespace steno;

using rows = matrix<float, dynamic, dynamic>;

std::filesystem::path folder() { return test::compact() / "qwen3_aligner"; }
rows load_rows(const std::string& name) {
  const npy::array a = npy::load(folder() / name);
  const std::vector<float> values = a.floats();
  return core::make_view(values.data(), a.rows(), a.cols());
}
const qwen3::qwen3_forced_aligner_any& model() {
  static const auto loaded = load<qwen3::qwen3_forced_aligner_any>((folder() / "model.gguf").string());
  return loaded;
}

// 1e-4 of max(1, absmax): the contract's bound; weights are stored as bf16, which is what the original computed with.
TEST(qwen3_aligner, scores_classes_and_times) {
  std::ifstream in(folder() / "expected.json");
  const auto want = nlohmann::json::parse(in);
  const auto ids = want["input_ids"].get<std::vector<int>>();
  const rows audio = load_rows("encoder_out.npy"), golden = load_rows("logits.npy");
  EXPECT_EQ(model().timestamp, want["timestamp_token_id"].get<int>());
  EXPECT_EQ(ids[0], model().audio_begin());
  rows x(static_cast<extent>(ids.size()), model().text.width());
  model().text.embed(ids, x);
  const auto first = std::find(ids.begin(), ids.end(), want["audio_token_id"].get<int>()) - ids.begin();
  ASSERT_EQ(audio.rows(), std::count(ids.begin(), ids.end(), want["audio_token_id"].get<int>()));
  x.middleRows(first, audio.rows()) = audio;
  context c;
  nn::qwen3_decoder_state state;
  nn::qwen3_read(model().text, view<float>(x), state, c);
  rows slots(golden.rows(), x.cols()), scores(golden.rows(), model().text.outputs());
  extent n = 0;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] == model().timestamp) slots.row(n++) = x.row(static_cast<extent>(i));
  ASSERT_EQ(n, golden.rows());
  model().text.logits(slots, scores, c);
  EXPECT_LE((scores - golden).cwiseAbs().maxCoeff(), 1e-4f * std::max(1.0f, golden.cwiseAbs().maxCoeff()));
  const auto classes = want["classes"].get<std::vector<int>>();
  std::vector<double> raw;
  for (extent i = 0; i < n; ++i) {
    extent best = 0;
    scores.row(i).maxCoeff(&best);
    EXPECT_EQ(best, classes[static_cast<std::size_t>(i)]);
    raw.push_back(static_cast<double>(best) * model().segment_time);
  }
  EXPECT_EQ(search::repair_times(raw), want["fixed_ms"].get<std::vector<long>>());
}

TEST(qwen3_aligner, words_by_language) {
  const auto words = [](std::string_view language) {
    return model().words_in("\uac00\ub098\ub2e4\ub77c, \uac00\ub098\u4f60", language);
  };
  const std::vector<std::string> cut = {"\uac00\ub098\ub2e4", "\ub77c", "\uac00\ub098", "\u4f60"};
  EXPECT_EQ(words("Korean"), cut);
  EXPECT_EQ(words("korean"), cut);
  EXPECT_EQ(words("ko"), cut);
  const std::vector<std::string> whole = {"\uac00\ub098\ub2e4\ub77c", "\uac00\ub098", "\u4f60"};
  EXPECT_EQ(words(""), whole);
  EXPECT_EQ(words("Chinese"), whole);
  EXPECT_TRUE(model().words_in(" -- ", "").empty());
  for (const char* language : {"ja", "Japanese", "japanese"})
    EXPECT_EQ(model().words_in("\u5b66\u6821\u306b", language), (std::vector<std::string>{"\u5b66\u6821", "\u306b"}));
  EXPECT_EQ(model().words_in("\u5b66\u6821\u306b", "").size(), 3u);
}

}  // namespace qwen3_aligner_test
