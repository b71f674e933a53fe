// SPDX-License-Identifier: Apache-2.0
#include <steno/text/words_in_text.hpp>

#include <gtest/gtest.h>

#include <string>

namespace words_in_text_test {

using namespace steno;

// The text with a bar at every cut; empty when the words are not found.
std::string cut(const std::string& text, const std::vector<std::string>& words) {
  std::vector<word> all;
  for (const std::string& w : words) all.push_back({.text = w});
  const auto places = text::words_in_text(text, all);
  if (places.empty()) return "";
  std::string out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(text.substr(places[i].begin, places[i].end - places[i].begin), words[i]);
    const std::size_t end = i + 1 < places.size() ? places[i + 1].cut : text.size();
    EXPECT_LE(places[i].cut, places[i].begin);
    EXPECT_LE(places[i].end, end);
    out += (i == 0 ? "" : "|") + text.substr(places[i].cut, end - places[i].cut);
  }
  return out;
}

TEST(words_in_text, marks_and_spaces) {
  EXPECT_EQ(cut("Hello, world.", {"Hello", "world"}), "Hello,| world.");
  EXPECT_EQ(cut("a  b", {"a", "b"}), "a|  b");
  EXPECT_EQ(cut("  a b ", {"a", "b"}), "  a| b ");
  EXPECT_EQ(cut("well -yes", {"well", "yes"}), "well| -yes");
  EXPECT_EQ(cut("he said \"yes\" \"no\"", {"he", "said", "yes", "no"}), "he| said| \"yes\"| \"no\"");
  EXPECT_EQ(cut("it's 'so'", {"it's", "so"}), "it's| 'so'");
  EXPECT_EQ(cut("one (two) three", {"one", "two", "three"}), "one| (two)| three");
  EXPECT_EQ(cut("one ( two", {"one", "two"}), "one| ( two");
  EXPECT_EQ(cut("twenty-two", {"twenty", "two"}), "twenty-|two");
  EXPECT_EQ(cut("a\xc2\xa0"
                "b",
                {"a", "b"}),
            "a|\xc2\xa0"
            "b");
}

TEST(words_in_text, scripts_without_spaces) {
  EXPECT_EQ(cut("\xe4\xbd\xa0\xe5\xa5\xbd,\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82",
                {"\xe4\xbd\xa0", "\xe5\xa5\xbd", "\xe4\xb8\x96", "\xe7\x95\x8c"}),
            "\xe4\xbd\xa0|\xe5\xa5\xbd,|\xe4\xb8\x96|\xe7\x95\x8c\xe3\x80\x82");
  EXPECT_EQ(cut("\xe4\xbb\x96\xe8\xaf\xb4:\xe3\x80\x8c\xe4\xbd\xa0\xe5\xa5\xbd\xe3\x80\x8d\xe3\x80\x82\xe5\xa5\xbd",
                {"\xe4\xbb\x96", "\xe8\xaf\xb4", "\xe4\xbd\xa0", "\xe5\xa5\xbd", "\xe5\xa5\xbd"}),
            "\xe4\xbb\x96|\xe8\xaf\xb4:|\xe3\x80\x8c\xe4\xbd\xa0|\xe5\xa5\xbd\xe3\x80\x8d\xe3\x80\x82|\xe5\xa5\xbd");
  EXPECT_EQ(cut("\xe4\xbd\xa0\xe5\xa5\xbd hello \xe4\xb8\x96\xe7\x95\x8c",
                {"\xe4\xbd\xa0", "\xe5\xa5\xbd", "hello", "\xe4\xb8\x96", "\xe7\x95\x8c"}),
            "\xe4\xbd\xa0|\xe5\xa5\xbd| hello| \xe4\xb8\x96|\xe7\x95\x8c");
  EXPECT_EQ(cut("\xe4\xbd\xa0 \xe4\xb8\x96", {"\xe4\xbd\xa0", "\xe4\xb8\x96"}), "\xe4\xbd\xa0| \xe4\xb8\x96");
  EXPECT_EQ(cut("\xc2\xbfqu\xc3\xa9? \xc2\xa1s\xc3\xad!", {"qu\xc3\xa9", "s\xc3\xad"}),
            "\xc2\xbfqu\xc3\xa9?| \xc2\xa1s\xc3\xad!");
}

TEST(words_in_text, equal_words_stand_one_behind_the_other) {
  EXPECT_EQ(cut("no no no", {"no", "no", "no"}), "no| no| no");
  EXPECT_EQ(cut("\xe5\x93\x88\xe5\x93\x88\xe5\x93\x88", {"\xe5\x93\x88", "\xe5\x93\x88", "\xe5\x93\x88"}),
            "\xe5\x93\x88|\xe5\x93\x88|\xe5\x93\x88");
}

TEST(words_in_text, a_text_of_other_words) {
  EXPECT_EQ(cut("25", {"twenty", "five"}), "");
  EXPECT_EQ(cut("a b", {"b", "a"}), "");
  EXPECT_EQ(cut("a b", {"a", ""}), "");
  EXPECT_TRUE(text::words_in_text("a b", {}).empty());
  EXPECT_EQ(cut("", {"a"}), "");
  EXPECT_EQ(cut("a", {"a"}), "a");
}

}  // namespace words_in_text_test
