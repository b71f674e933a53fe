// N-gram language models by hand, and words that pieces spell.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/guide.hpp>
#include <steno/search/ngram.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "support/refusal.hpp"

namespace ngram_test {

using namespace steno;

// words: 0 <unk>, 1 <s>, 2 </s>, 3 a, 4 b. n-grams: (<s> a), (a b), (b a), (<s> a b).
search::ngram_tables tables() {
  return {.words = {"<unk>", "<s>", "</s>", "a", "b"},
          .word = {0, 0, 1, 2, 3, 4, 3, 4, 3, 4},
          .log_prob = {0, -5, -99, -2, -1, -1.5f, -0.5f, -0.25f, -0.75f, -0.125f},
          .backoff = {0, 0, -0.5f, 0, -0.25f, -1, -0.0625f, 0, 0, 0},
          .first_child = {1, 6, 6, 7, 7, 8, 9, 10, 10, 10, 10}};
}

std::uint64_t spelled(std::string_view word) {
  std::uint64_t h = search::ngram::no_word;
  for (const char c : word) h = search::ngram::spelled(h, c);
  return h;
}

TEST(ngram, backs_off_as_katz_does) {
  const search::ngram m(tables());
  EXPECT_EQ(m.order(), 3u);
  EXPECT_EQ(m.size(), 9u);
  std::uint32_t s = m.start();
  EXPECT_EQ(m.follow(s, spelled("a")), -0.5f);      // (<s> a)
  EXPECT_EQ(m.follow(s, spelled("b")), -0.125f);    // (<s> a b)
  EXPECT_EQ(m.follow(s, spelled("b")), -1 - 1.5f);  // of (a b) nothing goes on, so the context is (b): back-off, then b
  s = m.start();
  EXPECT_EQ(m.follow(s, spelled("b")), -0.5f - 1.5f);  // back-off of <s>
  EXPECT_EQ(m.follow(s, spelled("a")), -0.75f);        // (b a)
  EXPECT_EQ(m.finish(s), -0.25f - 2);
  EXPECT_EQ(m.follow(s, spelled("c")), -0.25f - 5);  // <unk>
  EXPECT_EQ(m.follow(s, spelled("a")), -1);
}

TEST(ngram, without_unk_the_least_likely_word_stands_for_it) {
  search::ngram_tables t{.words = {"<s>", "</s>", "a"},
                         .word = {0, 0, 1, 2},
                         .log_prob = {0, -99, -2, -1},
                         .backoff = {0, 0, 0, 0},
                         .first_child = {1, 4, 4, 4, 4}};
  const search::ngram m(std::move(t));
  std::uint32_t s = m.start();
  EXPECT_EQ(m.follow(s, spelled("zebra")), -2);
}

TEST(ngram, tables_that_are_no_trie_are_refused) {
  const auto broken = [](auto&& change) {
    search::ngram_tables t = tables();
    change(t);
    return test::refusal([&] { search::ngram m(std::move(t)); });
  };
  EXPECT_EQ(broken([](auto&) {}), "");
  EXPECT_NE(broken([](auto& t) { t.words.pop_back(); }), "");
  EXPECT_NE(broken([](auto& t) { t.words[4] = "a"; }), "");
  EXPECT_NE(broken([](auto& t) { t.words[1] = "s"; }), "");
  EXPECT_NE(broken([](auto& t) { t.word[7] = 9; }), "");
  EXPECT_NE(broken([](auto& t) { t.word[3] = 1; }), "");
  EXPECT_NE(broken([](auto& t) { t.log_prob[3] = 1; }), "");
  EXPECT_NE(broken([](auto& t) { t.log_prob[3] = NAN; }), "");
  EXPECT_NE(broken([](auto& t) { t.backoff.pop_back(); }), "");
  EXPECT_NE(broken([](auto& t) { t.first_child[3] = 5; }), "");
  EXPECT_NE(broken([](auto& t) { t.first_child[9] = 8; }), "");
  EXPECT_NE(broken([](auto& t) { t.first_child.back() = 99; }), "");
}

TEST(word_scorer, words_count_where_the_next_one_begins) {
  const search::ngram m(tables());
  const std::vector<std::string> pieces = {"<blank>",
                                           "\xe2\x96\x81"
                                           "a",
                                           "\xe2\x96\x81"
                                           "b",
                                           "\xe2\x96\x81",
                                           "a",
                                           "<EOU>"};
  const search::word_scorer scorer(
      m, {.weight = 2, .word_bonus = 1.0f}, static_cast<int>(pieces.size()),
      [&](int i) { return std::string_view(pieces[static_cast<std::size_t>(i)]); }, [](int i) { return i == 5; });
  search::word_state s = scorer.start();
  EXPECT_EQ(scorer.next(s, 1), 0);  // " a": nothing is complete
  EXPECT_EQ(scorer.next(s, 0), 0);
  EXPECT_EQ(scorer.next(s, 2), 2 * (-0.5f + 1));  // " b": a was the first word
  EXPECT_EQ(scorer.next(s, 4), 0);                // "ba" is no word
  EXPECT_EQ(scorer.next(s, 3), 2 * (-0.0625f - 0.25f - 5 + 1));
  EXPECT_EQ(scorer.next(s, 4), 0);
  EXPECT_EQ(scorer.next(s, 5), 2 * (-1.0f + 1) + 2 * (-0.25f - 2));  // the end of a turn ends the text
  EXPECT_EQ(scorer.next(s, 1), 0);
  EXPECT_EQ(scorer.finish(s), 2 * (-0.5f + 1) + 2 * (-0.0625f - 0.25f - 2));  // (<s> a), then </s>
}

TEST(guide, hotwords_and_words_add_up) {
  const search::ngram m(tables());
  const std::vector<std::string> pieces = {
      "\xe2\x96\x81"
      "a",
      "\xe2\x96\x81"
      "b"};
  const search::word_scorer scorer(
      m, {.weight = 1, .word_bonus = 0.0f}, 2,
      [&](int i) { return std::string_view(pieces[static_cast<std::size_t>(i)]); }, [](int) { return false; });
  const search::hotword_automaton graph(std::vector<std::vector<int>>{{0, 1}}, {.score = 3});
  const search::guide both(&graph, &scorer);
  search::guided g = both.start();
  EXPECT_EQ(both.earned(g, 0), 3);
  both.follow(g, 0);
  EXPECT_EQ(g.bonus, 3);
  EXPECT_EQ(both.earned(g, 1), 3 - 0.5);
  both.follow(g, 1);
  both.finish(g);
  EXPECT_EQ(g.bonus, 6 - 0.5 - 0.125 + static_cast<double>(-1.0f - 2.0f));
  EXPECT_TRUE(search::guide(nullptr, nullptr).empty());
}

}  // namespace ngram_test
