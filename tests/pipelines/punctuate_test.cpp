// Punctuation in segments: the model's text without a space in front, everything else untouched.
#include <steno/pipelines/punctuate.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace steno;

TEST(punctuate, a_segment_gets_the_text_with_marks) {
  const auto model = load<funasr::ct_punc_any>((test::compact() / "ct_punc" / "model.gguf").string());
  std::ifstream in(test::compact() / "ct_punc" / "expected.json");
  const nlohmann::json all = nlohmann::json::parse(in);
  context c;
  std::size_t spaces = 0;
  for (const auto& entry : all["cases"]) {
    segment s;
    s.text = entry["text"].get<std::string>();
    s.token_ids = {1, 2};
    s.words.resize(2);
    s.end = 3;
    punctuate(s, model, c);
    std::string want = entry["punctuated"];
    if (want.starts_with(' ')) {
      want.erase(0, 1);
      ++spaces;
    }
    EXPECT_EQ(s.text, want);
    EXPECT_EQ(s.token_ids, (std::vector<int>{1, 2}));
    EXPECT_EQ(s.words.size(), 2u);
    EXPECT_EQ(s.end, 3);
  }
  EXPECT_GT(spaces, 3u);
}
