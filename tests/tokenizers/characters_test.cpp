// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/characters.hpp>

#include <gtest/gtest.h>

namespace characters_test {

using steno::tokenizers::character_tokenizer;

/// Tokens one after another, each 0.1 s long.
character_tokenizer::decoded decode(std::vector<std::string> tokens) {
  std::vector<steno::tokenizers::timed_token> timed;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    timed.push_back({.id = static_cast<int>(i),
                     .start = 0.1 * static_cast<double>(i),
                     .end = 0.1 * static_cast<double>(i + 1),
                     .log_probability = -0.5f});
  return character_tokenizer(std::move(tokens)).decode(timed);
}

// "\u6211" and "\u4eec" are Chinese characters, "\u3002" is a full stop, "\u00e9" a letter.
TEST(characters, chinese_stands_together) {
  EXPECT_EQ(decode({"\u6211", "\u4eec", "<unk>", "7"}).text, "\u6211\u4eec7");
  EXPECT_EQ(decode({"\u6211", "\u4eec"}).words.size(), 2u);
}

TEST(characters, words_have_spaces_and_pieces_join) {
  EXPECT_EQ(decode({"the", "coun@@", "try"}).text, "the country");
  EXPECT_EQ(decode({"\u6211", "coun@@", "try", "\u4eec", "is", "not"}).text, "\u6211country\u4eecis not");
  EXPECT_EQ(decode({"caf\u00e9", "\u6211"}).text, "caf\u00e9\u6211");
  EXPECT_EQ(decode({"don't", "do"}).text, "don't do");
}

TEST(characters, times_and_confidence_span_the_pieces) {
  const auto d = decode({"\u6211", "coun@@", "try", "\u4eec"});
  ASSERT_EQ(d.words.size(), 3u);
  EXPECT_EQ(d.words[1].text, "country");
  EXPECT_DOUBLE_EQ(d.words[1].start, 0.1);
  EXPECT_DOUBLE_EQ(d.words[1].end, 0.1 * 3);
  EXPECT_NEAR(d.words[1].confidence, std::exp(-0.5f), 1e-6f);  // the geometric mean
  EXPECT_EQ(d.words[1].how, steno::timing::native);
}

TEST(characters, single_letters_are_an_abbreviation) {
  EXPECT_EQ(decode({"b", "b", "c"}).text, "BBC");
  EXPECT_EQ(decode({"the", "b", "b", "c", "news"}).text, "the BBC news");
  EXPECT_EQ(decode({"b", "\u6211", "c"}).text, "b\u6211c");
  EXPECT_EQ(decode({"a", "word"}).text, "a word");
  const auto d = decode({"b", "b", "c"});
  ASSERT_EQ(d.words.size(), 1u);
  EXPECT_DOUBLE_EQ(d.words[0].end, 0.1 * 3);
}

TEST(characters, other_tokens_stay_as_they_are) {
  EXPECT_EQ(decode({"\u6211", "\u3002"}).text, "\u6211\u3002");
  EXPECT_EQ(decode({}).text, "");
  EXPECT_EQ(decode({"<s>", "</s>", "<unk>"}).text, "");
}

TEST(characters, text_behind_a_chinese_character_is_not_settled) {
  const character_tokenizer t({"\u6211", "coun@@", "try", "b", "5"});
  const auto settled = [&](const std::vector<int>& ids) { return t.settled(ids); };
  EXPECT_EQ(settled({}), 0);
  EXPECT_EQ(settled({1, 2}), 0);
  EXPECT_EQ(settled({0, 0}), 2);
  EXPECT_EQ(settled({3, 0, 1}), 2);
  EXPECT_EQ(settled({0, 3, 3}), 1);
  EXPECT_EQ(settled({3, 4}), 2);
}

TEST(characters, ids_that_are_none) {
  const std::vector<std::string> tokens(3, "a");
  const character_tokenizer t(tokens);
  for (const int id : {-1, 3, 1 << 30}) EXPECT_EQ(t.token(id), "") << id;
}

}  // namespace characters_test
