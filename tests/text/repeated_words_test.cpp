// SPDX-License-Identifier: Apache-2.0
#include <steno/text/repeated_words.hpp>

#include <gtest/gtest.h>

#include <random>

namespace repeated_words_test {

using namespace steno;

TEST(repeated_words, three_rounds_stay) {
  const auto limited = [](std::string_view text) { return text::limit_repeats(std::string(text), 3); };
  EXPECT_EQ(limited(""), "");
  EXPECT_EQ(limited("no, no, no."), "no, no, no.");
  EXPECT_EQ(limited("No, no, no, no, no. Yes."), "No, no, no. Yes.");
  EXPECT_EQ(limited("so a b a b a b a b a b a c"), "so a b a b a b a c");
  EXPECT_EQ(limited("\xe5\x93\x88\xe5\x93\x88\xe5\x93\x88\xe5\x93\x88\xe5\x93\x88\xe3\x80\x82"),
            "\xe5\x93\x88\xe5\x93\x88\xe5\x93\x88\xe3\x80\x82");
  // What is left repeats itself as a whole.
  std::string nested;
  for (int i = 0; i < 5; ++i) nested += "a a a a a b ";
  EXPECT_EQ(limited(nested), "a a a b a a a b a a a b ");
  EXPECT_EQ(limited("... ... ... ... ..."), "... ... ...");
}

TEST(repeated_words, numbers_have_runs) {
  const std::string number = "call 5 0 0 0 0 0 0 1";
  EXPECT_EQ(text::limit_repeats(number, 3), number);
  EXPECT_EQ(text::limit_repeats("1000000000", 3), "1000000000");
  std::string many = "x";
  for (int i = 0; i < 30; ++i) many += " 0";
  EXPECT_EQ(text::limit_repeats(many, 3), "x 0 0 0");
}

TEST(repeated_words, the_beginning_may_stay_as_it_is) {
  const std::string before = "a b a b a b a b ";
  EXPECT_EQ(text::limit_repeats(before + "a b a b c", 3, before.size()), before + "c");
  EXPECT_EQ(text::limit_repeats("x x x x x y", 3, 4), "x x x y");
  EXPECT_EQ(text::limit_repeats("x x x x x y", 3, 6), "x x x y");
  EXPECT_EQ(text::limit_repeats("x x x x x y", 3, 8), "x x x x y");
}

// Of random texts in few words: nothing stands four times in a row, what may not change does not, and doing it again
// changes nothing.
TEST(repeated_words, property) {
  std::mt19937 engine(1);
  for (int turn = 0; turn < 300; ++turn) {
    std::string text;
    std::uniform_int_distribution<int> letter(0, 1 + turn % 3);
    for (int i = 0; i < 60; ++i) {
      text += static_cast<char>('a' + letter(engine));
      text += ' ';
    }
    const std::string made = text::limit_repeats(text, 3);
    for (std::size_t k = 1; k <= 32; ++k)
      for (std::size_t i = 0; i + 8 * k <= made.size(); ++i) {
        bool same = true;
        for (std::size_t j = i; j < i + 6 * k && same; ++j) same = made[j] == made[j + 2 * k];
        EXPECT_FALSE(same && i % 2 == 0) << made;
      }
    EXPECT_EQ(text::limit_repeats(made, 3), made);
    const auto from = static_cast<std::size_t>(turn % 120);
    EXPECT_EQ(text::limit_repeats(text, 3, from).substr(0, from), text.substr(0, from));
  }
}

}  // namespace repeated_words_test
