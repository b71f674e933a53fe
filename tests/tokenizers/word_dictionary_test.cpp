// Words by a dictionary: the most probable cut, held against all cuts; letters and digits; what stands alone.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/word_dictionary.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace word_dictionary_test {

using namespace steno;
using tokenizers::word_dictionary;

word_dictionary dictionary(const std::vector<std::pair<std::string, std::uint32_t>>& words) {
  word_dictionary d;
  d.total = 0;
  for (const auto& [w, f] : words) {
    d.set(w, f);
    d.total += f;
  }
  return d;
}
std::vector<std::string> cut(const word_dictionary& d, const std::string& text) {
  const auto parts = d.cut(text);
  return {parts.begin(), parts.end()};
}

// Letters of the tests: 4 Chinese characters.
const std::string letters[] = {"\u4e00", "\u4e8c", "\u4e09", "\u56db"};

TEST(word_dictionary, the_best_of_all_cuts_is_taken) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<std::string, std::uint32_t>> words;
    for (int i = 0; i < 12; ++i) {
      std::string w;
      for (std::size_t n = 1 + random() % 3; n > 0; --n) w += letters[random() % 4];
      words.emplace_back(w, static_cast<std::uint32_t>(random() % 4) * 10);  // 0: no word
    }
    const word_dictionary d = dictionary(words);
    std::vector<std::string> text;
    for (int i = 0; i < 7; ++i) text.push_back(letters[random() % 4]);
    const auto joined = [&](std::size_t from, std::size_t to) {
      std::string all;
      for (std::size_t i = from; i < to; ++i) all += text[i];
      return all;
    };
    // From the end, over the characters: the definition.
    std::vector<double> best(8, 0);
    std::vector<std::size_t> next(8, 0);
    for (std::size_t i = 7; i-- > 0;) {
      bool any = false;
      for (std::size_t j = i + 1; j <= 7; ++j) {
        double f = d.frequency(joined(i, j));
        if (f == 0) continue;
        const double score = std::log(f) - std::log(d.total) + best[j];
        if (!any || score >= best[i]) best[i] = score, next[i] = j;
        any = true;
      }
      if (!any) best[i] = std::log(1.0) - std::log(d.total) + best[i + 1], next[i] = i + 1;
    }
    std::vector<std::string> want;
    for (std::size_t i = 0; i < 7; i = next[i]) want.push_back(joined(i, next[i]));
    EXPECT_EQ(cut(d, joined(0, 7)), want) << round;
  }
}

TEST(word_dictionary, letters_and_digits_in_a_row_are_a_word) {
  const word_dictionary d = dictionary({{"C++", 3}, {"\u4e00\u4e8c", 5}, {"ab", 0}});
  EXPECT_EQ(cut(d, "iPhone15\u4e00\u4e8c2024"), (std::vector<std::string>{"iPhone15", "\u4e00\u4e8c", "2024"}));
  EXPECT_EQ(cut(d, "C++\u4e8c"), (std::vector<std::string>{"C++", "\u4e8c"}));
  EXPECT_EQ(cut(d, "a+b"), (std::vector<std::string>{"a", "+", "b"}));
  // Outside of words every character stands alone, white space, too.
  EXPECT_EQ(cut(d, "\u3042\u3044 ,\u4e00"), (std::vector<std::string>{"\u3042", "\u3044", " ", ",", "\u4e00"}));
  EXPECT_EQ(cut(d, ""), std::vector<std::string>());
  EXPECT_EQ(cut(word_dictionary(), "\u4e00\u4e8c"), (std::vector<std::string>{"\u4e00", "\u4e8c"}));
}

TEST(word_dictionary, a_text_is_cut_between_english_words) {
  const word_dictionary d = dictionary({{"\u4e00\u4e8c", 5}, {"\u4e09", 5}});
  EXPECT_EQ(tokenizers::split_words("\u4e00 \u4e8c\u4e09 don't \u4e00\u4e8c iPhone15 x", d),
            (std::vector<std::string>{"\u4e00\u4e8c", "\u4e09", "don't", "\u4e00\u4e8c", "iPhone15", "x"}));
  EXPECT_EQ(tokenizers::split_words("a b\u3000", d), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(tokenizers::split_words(" ", d), std::vector<std::string>());
}

TEST(word_dictionary, words_are_replaced_and_bounded) {
  word_dictionary d = dictionary({{"a", 3}, {"b", 4}});
  d.set("a", 7);
  EXPECT_EQ(d.size(), 2u);
  EXPECT_EQ(d.frequency("a"), 7u);
  EXPECT_EQ(d.frequency("c"), 0u);
  EXPECT_EQ(d.word(1), "b");
  EXPECT_THROW(d.set("", 1), error);
  EXPECT_THROW(d.set(std::string(1025, 'x'), 1), error);
  std::map<std::string, std::uint32_t> many;
  for (std::uint32_t i = 0; i < 3000; ++i) d.set(std::to_string(i), many[std::to_string(i)] = i);
  for (const auto& [w, f] : many) EXPECT_EQ(d.frequency(w), f);
  EXPECT_EQ(tokenizers::count_characters("a\u4e00\xff"), 3u);
}

// Damaged UTF-8 goes through in pieces; nothing is left out.
TEST(word_dictionary, any_bytes_come_out_again) {
  const word_dictionary d = dictionary({{"\u4e00\u4e8c", 5}, {"\xe4\xb8", 9}, {"\u4e8c", 1}});
  std::mt19937 random(9);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i)
      text += random() % 3 == 0 ? static_cast<char>(random() % 256) : letters[random() % 2][random() % 3];
    std::string all;
    for (const auto w : d.cut(text)) all += w;
    EXPECT_EQ(all, text);
  }
}

}  // namespace word_dictionary_test
