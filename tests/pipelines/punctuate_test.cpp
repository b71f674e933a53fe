// Punctuation in segments: the model's text without a space in front, everything else untouched; one text of several
// segments; either form of model from a file.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/punctuate.hpp>
#include <steno/pipelines/punctuator.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace punctuate_test {

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

// Segments of one text, by the form for streams: what came before is known, and each stream has a text of its own.
TEST(punctuate, segments_are_pieces_of_one_text) {
  const std::string file = (test::compact() / "ct_punc_realtime" / "model.gguf").string();
  std::ifstream in(test::compact() / "ct_punc_realtime" / "expected.json");
  const nlohmann::json all = nlohmann::json::parse(in);
  const punctuator marks(file);
  punctuator::stream text(marks), other(marks);
  context c;
  const auto bare = [](std::string t) { return t.starts_with(' ') ? t.substr(1) : t; };
  for (std::size_t i = 0; i < all["pieces"].size(); ++i) {
    const nlohmann::json& piece = all["pieces"][i];
    segment s;
    s.text = piece["input"].get<std::string>();
    s.token_ids = {3};
    segment alone = s;
    if (i == 2) {  // another stream changes nothing
      segment elsewhere = s;
      other.punctuate(elsewhere, c);
    }
    text.punctuate(s, c);
    EXPECT_EQ(s.text, bare(piece["text"].get<std::string>()));
    EXPECT_EQ(s.token_ids, std::vector<int>{3});
    marks.punctuate(alone, c);
    EXPECT_EQ(alone.text, bare(all["pieces_without_cache"][i].get<std::string>()));
  }
}

TEST(punctuate, a_punctuator_opens_either_form_and_names_them) {
  const punctuator whole((test::compact() / "ct_punc" / "model.gguf").string());
  punctuator::stream text(whole);
  context c;
  segment one, two;
  one.text = two.text = "hello world";
  whole.punctuate(one, c);
  text.punctuate(two, c);
  text.punctuate(two, c);
  EXPECT_TRUE(one.text.ends_with(".") || one.text.ends_with("?")) << one.text;
  try {
    const punctuator none((test::compact() / "paraformer" / "model.gguf").string());
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("ct_transformer or ct_transformer_streaming"), std::string::npos) << e.what();
  }
}

}  // namespace punctuate_test
