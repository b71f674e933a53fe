// SPDX-License-Identifier: Apache-2.0
#include <steno/search/token_draft.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace token_draft_test {

using namespace steno;
using tokens = std::vector<int>;

// The pass behind a text, without the token that was chosen last.
tokens guessed(search::token_draft d, int last, extent limit = search::token_draft::max_rows) {
  EXPECT_FALSE(d.follow(last, limit));
  EXPECT_EQ(d.pass()[0], last);
  return {d.pass().begin() + 1, d.pass().end()};
}
search::token_draft draft(const tokens& earlier = {}, const tokens& known = {}) {
  return search::token_draft({.earlier = earlier, .known = known, .vocabulary = 100});
}
tokens behind(const tokens& text, const tokens& earlier = {}, const tokens& known = {}) {
  search::token_draft d = draft(earlier, known);
  for (std::size_t i = 0; i + 1 < text.size(); ++i) d.add(text[i]);
  return guessed(d, text.back());
}

TEST(token_draft, what_followed_the_last_tokens) {
  EXPECT_EQ(behind({1, 2, 3, 4, 9, 1, 2}), (tokens{3, 4, 9, 1}));
  EXPECT_EQ(behind({2, 3, 4, 9, 8, 2}), tokens{});  // one token says little
  EXPECT_EQ(behind({7, 7, 7}), tokens{7});          // itself
  EXPECT_EQ(behind({8, 1, 2}, {}, {5, 1, 2, 3}), tokens{3});
}

TEST(token_draft, an_earlier_text_from_its_beginning) {
  EXPECT_EQ(behind({1}, {1, 2, 3}), (tokens{2, 3}));
  EXPECT_EQ(behind({1}, {}, {1, 2, 3}), tokens{});
  EXPECT_EQ(behind({4}, {1, 2, 3}), tokens{});
  EXPECT_EQ(behind({1, 7, 3, 4}, {1, 2, 3, 4, 5}), tokens{5});  // one token differs, and the text goes on as before
  EXPECT_EQ(behind({4, 5}, {4, 5}), tokens{});                  // it ends where the earlier one ended
}

TEST(token_draft, the_longest_match_then_the_latest) {
  EXPECT_EQ(behind({1, 2, 3, 4, 8, 2, 3, 5, 8, 2, 3}).front(), 5);
  EXPECT_EQ(behind({1, 2, 3, 4, 8, 2, 3, 5, 1, 2, 3}).front(), 4);
}

TEST(token_draft, only_tokens_of_the_model_and_as_many_as_fit) {
  EXPECT_EQ(behind({1, 2, 3, 100, 9, 1, 2}), tokens{3});
  EXPECT_EQ(behind({1, 2, -7, 3, 9, 1, 2}), tokens{});
  search::token_draft d = draft({1, 2, 3, 4, 5});
  EXPECT_EQ(guessed(d, 1, 2), (tokens{2, 3}));
  EXPECT_EQ(guessed(d, 1, 0), tokens{});
  const search::token_draft off({.guesses = false, .earlier = tokens{1, 2, 3}, .vocabulary = 100});
  EXPECT_EQ(off.rows(), 1);
  EXPECT_EQ(guessed(off, 1), tokens{});
}

TEST(token_draft, rows_that_are_there_and_rows_that_are_wrong) {
  search::token_draft d = draft({1, 2, 3, 4, 5});
  EXPECT_EQ(d.row(), 0);
  EXPECT_FALSE(d.follow(1));
  EXPECT_EQ(d.wrong(), 0);
  ASSERT_EQ(d.pass().size(), 5u);
  EXPECT_TRUE(d.follow(2));
  EXPECT_TRUE(d.follow(3));
  EXPECT_EQ(d.row(), 2);
  EXPECT_EQ(d.unused(), 2);
  EXPECT_FALSE(d.follow(9));
  EXPECT_EQ(d.wrong(), 2);
  EXPECT_EQ(d.row(), 0);
  EXPECT_EQ(d.pass().size(), 1u);
  EXPECT_EQ(d.unused(), 0);
  EXPECT_FALSE(d.follow(5));
  EXPECT_EQ(d.wrong(), 0);
}

TEST(token_draft, right_guesses_make_longer_ones) {
  tokens earlier;
  for (int i = 0; i < 60; ++i) earlier.push_back(i);
  search::token_draft d = draft(earlier);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 40; ++i)
    if (!d.follow(i)) sizes.push_back(d.pass().size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{5, 8, 8, 8, 8, 8}));
}

TEST(token_draft, wrong_guesses_need_longer_matches) {
  search::token_draft d = draft();
  for (const int id : {1, 2, 3, 4, 5, 6, 1}) d.add(id);
  EXPECT_FALSE(d.follow(2));  // guesses 3
  EXPECT_FALSE(d.follow(9));
  d.add(1);
  EXPECT_EQ(guessed(d, 2), tokens{});
  d.add(2), d.add(3);
  EXPECT_EQ(guessed(d, 4), tokens{5});
}

}  // namespace token_draft_test
