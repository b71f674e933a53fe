// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/words.hpp>

#include <gtest/gtest.h>

namespace words_test {

using namespace steno;

std::vector<std::string> texts(const std::vector<word>& words) {
  std::vector<std::string> t;
  for (const word& w : words) t.push_back(w.text);
  return t;
}
TEST(words, pieces_join_and_keep_their_times) {
  const auto w =
      tokenizers::join_words({{"ask", 0.03, 0.09, -1}, {"\xe2\x96\x81n", 0.5, 0.7, -2}, {"ot", 1.1, 1.2, -4}});
  ASSERT_EQ(texts(w), (std::vector<std::string>{"ask", "not"}));
  EXPECT_EQ(w[1].start, 0.5);
  EXPECT_EQ(w[1].end, 1.2);
  EXPECT_NEAR(w[1].confidence, std::exp(-3.0f), 1e-6f);  // geometric mean of e^-2 and e^-4
  EXPECT_EQ(w[1].how, timing::native);
}

TEST(words, chinese_characters_and_punctuation_stand_alone) {
  const auto w = tokenizers::join_words({{"\xe2\x96\x81", 0, 0, 0},
                                         {"\xe4\xbb\x8a", 0, 1, 0},
                                         {"\xe5\xa4\xa9", 1, 2, 0},
                                         {",", 2, 3, 0},
                                         {"ok", 3, 4, 0},
                                         {"ay", 4, 5, 0}});
  EXPECT_EQ(texts(w), (std::vector<std::string>{"\xe4\xbb\x8a", "\xe5\xa4\xa9", ",", "okay"}));
}

TEST(words, apostrophes_join_and_a_lone_space_separates) {
  const auto w = tokenizers::join_words({{"\xe2\x96\x81"
                                          "don",
                                          0, 1, 0},
                                         {"'", 1, 2, 0},
                                         {"t", 2, 3, 0},
                                         {"\xe2\x96\x81", 3, 3, 0},
                                         {"go", 3, 4, 0}});
  EXPECT_EQ(texts(w), (std::vector<std::string>{"don't", "go"}));
}

}  // namespace words_test
