// Words of a text, and texts of words with marks.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/punctuated_words.hpp>

#include <gtest/gtest.h>

namespace punctuated_words_test {

using namespace steno;

using list = std::vector<std::string>;
const list marks = {"<unk>", "_", "\uff0c", "\u3002", "\uff1f", "\u3001"};
std::string joined(const list& words, const std::vector<int>& m, bool begins = true) {
  return tokenizers::join_punctuated(words, m, marks, begins);
}
std::string closed(std::string text) {
  (void)tokenizers::close_text(text);
  return text;
}
TEST(split_words, characters_stand_alone_and_ascii_together) {
  EXPECT_EQ(tokenizers::split_words("\u6211\u4eec hello,world x9\u4f60 ok"),
            (list{"\u6211", "\u4eec", "hello,world", "x9", "\u4f60", "ok"}));
  EXPECT_EQ(tokenizers::split_words(" a\u3000b\u00a0c\td\u2028e "), (list{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(tokenizers::split_words("\U0001f600a"), (list{"\U0001f600", "a"}));
  EXPECT_TRUE(tokenizers::split_words("").empty());
  EXPECT_TRUE(tokenizers::split_words(" \n").empty());
}

TEST(split_words, broken_utf8_keeps_its_bytes) {
  for (const std::string text : {"\xff", "a\xe4\xb8", "\xe4\xb8z", "\xc0\x80", "\xf8\x88"}) {
    std::string all;
    for (const std::string& w : tokenizers::split_words(text)) all += w;
    EXPECT_EQ(all, text);
  }
}

TEST(join_punctuated, ascii_words_have_spaces_capitals_and_marks_of_their_own) {
  EXPECT_EQ(joined({"\u6211", "hello", "WORLD", "\u4f60"}, {1, 2, 3, 4}), "\u6211hello, WORLD.\u4f60\uff1f");
  EXPECT_EQ(joined({"heLLo", "it"}, {3, 1}), " Hello. It");
  EXPECT_EQ(joined({"heLLo", "it"}, {1, 5}, false), " heLLo it\u3001");
  EXPECT_EQ(joined({}, {}), "");
}

TEST(close_text, commas_become_stops_and_stops_stay) {
  EXPECT_EQ(closed("\u6211\uff0c"), "\u6211\u3002");
  EXPECT_EQ(closed("\u6211\u3001"), "\u6211\u3002");
  EXPECT_EQ(closed("a,"), "a.");
  EXPECT_EQ(closed("a"), "a.");
  EXPECT_EQ(closed("\u6211"), "\u6211\u3002");
  for (const std::string text : {"\u6211\u3002", "\u6211\uff1f", "a.", "a?", ""}) EXPECT_EQ(closed(text), text);
}

}  // namespace punctuated_words_test
