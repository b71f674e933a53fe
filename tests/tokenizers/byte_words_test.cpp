// Words of tokens of bytes: characters in several tokens, punctuation, scripts with and without spaces.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/byte_words.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace byte_words_test {

using namespace steno;

// Token i lies from i to i + 0.5 s and has probability 1/2.
std::vector<word> words_of(const std::vector<std::string>& tokens) {
  std::vector<tokenizers::timed_piece> pieces;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    pieces.push_back({tokens[i], static_cast<double>(i), static_cast<double>(i) + 0.5, std::log(0.5f)});
  return tokenizers::join_byte_words(pieces);
}
std::string shown(const std::vector<word>& words) {
  std::string all;
  for (const word& w : words)
    all += (all.empty() ? "" : "|") + w.text + " " + std::to_string(static_cast<int>(w.start)) + "-" +
           std::to_string(static_cast<int>(w.end * 2));
  return all;
}

TEST(byte_words, pieces_of_a_word_are_joined_and_spaces_part_words) {
  EXPECT_EQ(shown(words_of({" hel", "lo", " world"})), "hello 0-3|world 2-5");
  EXPECT_EQ(shown(words_of({"iPhone", "15", " is", "n", "'t"})), "iPhone15 0-3|isn't 2-9");
  EXPECT_EQ(shown(words_of({"a", " ", "b"})), "a 0-1|b 2-5");
}

TEST(byte_words, characters_of_scripts_without_spaces_stand_alone) {
  EXPECT_EQ(shown(words_of({"\u4eca", "\u5929", "\u5929\u6c14", " hello"})),
            "\u4eca 0-1|\u5929 1-3|\u5929\u6c14 2-5|hello 3-7");
  EXPECT_EQ(shown(words_of({"\u3042", "ok", "\u3044"})), "\u3042 0-1|ok 1-3|\u3044 2-5");
}

TEST(byte_words, tokens_of_one_character_are_one_piece) {
  const auto words = words_of({"\xe5", "\xa4", "\xa9", "\u6c14"});
  EXPECT_EQ(shown(words), "\u5929 0-5|\u6c14 3-7");
  EXPECT_NEAR(words[0].confidence, 0.5, 1e-6);
  EXPECT_EQ(words[0].how, timing::native);
  // What never becomes a character is shown as one that is not known.
  EXPECT_EQ(shown(words_of({"a", "\xe5"})), "a\ufffd 0-1");
  EXPECT_EQ(shown(words_of({"\xff"
                            "a"})),
            "\ufffd"
            "a 0-1");
}

TEST(byte_words, punctuation_has_no_time_of_its_own) {
  EXPECT_EQ(shown(words_of({"\u597d", "\xef\xbc", "\x8c", "hello", ",", " you", "."})),
            "\u597d\uff0c 0-1|hello, 3-7|you. 5-11");
  EXPECT_EQ(shown(words_of({"3", ".", "5", "%"})), "3.5% 0-5");
  EXPECT_EQ(shown(words_of({"<", "a", " (", "b", ")"})), "<a 1-3|(b) 3-7");
  EXPECT_EQ(shown(words_of({"a", " -"})), "a- 0-1");
  EXPECT_EQ(shown(words_of({".", " "})), "");
  EXPECT_EQ(shown(words_of({})), "");
}

}  // namespace byte_words_test
