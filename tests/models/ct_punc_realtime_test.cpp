// CT-Transformer for streams on the compact golden set: texts, marks, caches and scores that the original gives;
// threads; what stands in a piece; files that are none.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>

#include "npy.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace ct_punc_realtime_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

using punctuation = funasr::ct_punc_realtime_any;
const fs::path folder = test::compact() / "ct_punc_realtime";

punctuation small() { return load<punctuation>((folder / "model.gguf").string()); }

json expected() {
  std::ifstream in(folder / "expected.json");
  return json::parse(in);
}

// The set's smallest distance between two marks is 3.2.
TEST(ct_punc_realtime, pieces_and_cache_equal_the_original) {
  const auto model = small();
  const json all = expected();
  for (const int threads : {1, 2}) {
    thread_pool pool(threads);
    context c{executor(pool)};
    punctuation::cache cache;
    std::string joined;
    for (std::size_t i = 0; i < all["pieces"].size(); ++i) {
      const json& want = all["pieces"][i];
      const std::string input = want["input"];
      const funasr::punctuated_text got = model.punctuate(input, cache, c);
      EXPECT_EQ(got.text, want["text"].get<std::string>());
      EXPECT_EQ(cache.words, want["pre_text_after"].get<std::vector<std::string>>());
      punctuation::cache none;
      EXPECT_EQ(model.punctuate(input, none, c).text, all["pieces_without_cache"][i].get<std::string>());
      joined += got.text;
    }
    EXPECT_EQ(joined, all["joined"].get<std::string>());
  }
}

// 1e-4 of max(1, absmax) is the contract's bound for f32.
TEST(ct_punc_realtime, scores_equal_the_original) {
  const auto model = small();
  const json all = expected();
  const npy::array want = npy::load(folder / "logits.npy");
  std::vector<float> scores;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path == "piece.5.mini.1.logits") scores.assign(x.data(), x.data() + x.size());
  };
  context c(executor{}, core::tracer(sink));
  punctuation::cache cache;
  for (extent i = 0; i < 6; ++i) {
    auto scope = c.enter("piece", i);
    (void)model.punctuate(all["pieces"][static_cast<std::size_t>(i)]["input"].get<std::string>(), cache, c);
  }
  ASSERT_EQ(static_cast<extent>(scores.size()), want.size());
  EXPECT_LE(test::compare(core::make_view(scores.data(), 1, want.size()), want).relative(), 1e-4);
}

TEST(ct_punc_realtime, odd_pieces) {
  const auto model = small();
  context c;
  punctuation::cache cache;
  // Where the original fails, nothing is written and nothing changes.
  for (const char* none : {"", " ", "\xe3\x80\x80\n"}) EXPECT_EQ(model.punctuate(none, cache, c).text, "");
  EXPECT_TRUE(cache.words.empty());
  EXPECT_EQ(model.punctuate("hello", cache, c).text, "hello");
  // A mark at the end is left out, also the piece's own.
  punctuation::cache mark;
  EXPECT_LE(model.punctuate("\xe3\x80\x82", mark, c).text.size(), 3u);
  EXPECT_EQ(mark.words.size(), 1u);
  // Many pieces without an end: the cache grows, and stays right.
  punctuation::cache long_text;
  for (int i = 0; i < 40; ++i) (void)model.punctuate("hello hello hello hello hello hello", long_text, c);
  EXPECT_LE(long_text.words.size(), 240u);
  EXPECT_FALSE(model.punctuate("\xff\xfe hello", long_text, c).text.empty());
}

TEST(ct_punc_realtime, the_other_form_is_refused) {
  EXPECT_THROW((void)load<funasr::ct_punc_any>((folder / "model.gguf").string()), error);
  EXPECT_THROW((void)load<punctuation>((test::compact() / "ct_punc" / "model.gguf").string()), error);
  EXPECT_THROW((void)load<funasr::ct_punc_realtime_zh>((folder / "model.gguf").string()), error);
}

}  // namespace ct_punc_realtime_test
