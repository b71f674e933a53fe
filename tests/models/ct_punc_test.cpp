// CT-Transformer punctuation on the compact golden set: texts, marks and scores the original gives, for texts of all
// lengths and kinds; threads; files that are none.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/ct_punc.hpp>

#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ct_punc_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

const fs::path folder = test::compact() / "ct_punc";

funasr::ct_punc_any small() { return load<funasr::ct_punc_any>((folder / "model.gguf").string()); }

json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}

// The set's smallest distance between two marks is 0.01, far above what another order of summation moves.
TEST(ct_punc, texts_and_marks_equal_the_original) {
  const auto model = small();
  const json all = expected();
  const json& cases = all["cases"];
  ASSERT_GT(cases.size(), 40u);
  context c;
  std::size_t commas = 0;
  for (const json& want : cases) {
    const std::string text = want["text"];
    const funasr::punctuated_text got = model.punctuate(text, c);
    // The original gives a text of spaces no text, and so do we.
    EXPECT_EQ(got.text, want["punctuated"].get<std::string>()) << text;
    EXPECT_EQ(got.marks, want["marks"].get<std::vector<int>>()) << text;
    EXPECT_EQ(got.marks.size(), tokenizers::split_words(text).size());
    commas += text.size() > 600 ? 1u : 0u;
  }
  EXPECT_GT(commas, 2u);
}

// 1e-4 of max(1, absmax) is the contract's bound for f32.
TEST(ct_punc, scores_equal_the_original) {
  const auto model = small();
  const json all = expected();
  const npy::array want = npy::load(folder / "logits.npy");
  std::vector<float> scores;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path.ends_with(".logits")) scores.insert(scores.end(), x.data(), x.data() + x.size());
  };
  thread_pool pool(2);
  context c{executor(pool), core::tracer(sink)};
  (void)model.punctuate(all["cases"][all["logits_of"].get<std::size_t>()]["text"].get<std::string>(), c);
  ASSERT_EQ(static_cast<extent>(scores.size()), want.size());
  EXPECT_LE(test::compare(core::make_view(scores.data(), 1, want.size()), want).relative(), 1e-4);
}

TEST(ct_punc, other_models_are_refused) {
  EXPECT_THROW((void)load<funasr::ct_punc_any>((test::compact() / "paraformer" / "model.gguf").string()), error);
  EXPECT_THROW((void)load<funasr::ct_punc_zh>((folder / "model.gguf").string()), error);
}

}  // namespace ct_punc_test
