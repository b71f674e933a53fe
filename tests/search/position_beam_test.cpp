// Texts of independent positions against all of them, with and without hotwords; as a whole and as positions come.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/position_beam.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/allocations.hpp"
#include "support/random.hpp"
#include "support/refusal.hpp"

namespace position_beam_test {

using namespace steno;
using table = matrix<float, dynamic, dynamic>;

table random_table(extent positions, extent tokens, std::uint64_t seed) {
  table p(positions, tokens);
  test::random_numbers random(seed);
  for (extent t = 0; t < positions; ++t)
    for (extent i = 0; i < tokens; ++i) p(t, i) = -std::fabs(3 * random.normal());
  return p;
}

// The best total of all texts.
double best_of_all(const table& p, const search::hotword_automaton& g) {
  std::vector<int> ids(static_cast<std::size_t>(p.rows()));
  double best = -std::numeric_limits<double>::infinity();
  for (;;) {
    double score = 0;
    float bonus = 0;
    int state = 0;
    for (std::size_t t = 0; t < ids.size(); ++t) {
      score += static_cast<double>(p(static_cast<extent>(t), ids[t]));
      const auto [next, earned] = g.next(state, ids[t]);
      state = next;
      bonus += earned;
    }
    best = std::max(best, score + static_cast<double>(g.finish(state, bonus)));
    std::size_t i = 0;
    while (i < ids.size() && ++ids[i] == p.cols()) ids[i++] = 0;
    if (i == ids.size()) return best;
  }
}

TEST(position_beam, the_best_text_is_the_best_of_all) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const table p = random_table(5, 6, seed);
    const search::hotword_automaton none, some(std::vector<std::vector<int>>{{1, 2}, {2, 3, 4}, {5}}, {.score = 1.5f});
    for (const auto* g : {&none, &some}) {
      const auto found = search::position_beam(p, {.search = {.beam = 6, .hotwords = g}});
      ASSERT_EQ(found.size(), 6u);
      EXPECT_NEAR(found[0].score, best_of_all(p, *g), 1e-5) << seed;
      for (std::size_t k = 1; k < found.size(); ++k) EXPECT_LE(found[k].score, found[k - 1].score);
      EXPECT_EQ(found[0].ids.size(), 5u);
    }
  }
}

// Longer texts, phrases that overlap and strong ones: what is dropped on the way is never one of the best.
TEST(position_beam, nothing_is_lost_on_the_way) {
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    const table p = 3 * random_table(7, 5, seed);
    for (const float score : {0.5f, 4.0f, -2.0f}) {  // a negative one avoids phrases
      // The second list begins with every token.
      const search::hotword_automaton lists[] = {
          search::hotword_automaton(std::vector<std::vector<int>>{{1, 2}, {2, 3, 4, 1}, {0}, {4, 4}}, {.score = score}),
          search::hotword_automaton(std::vector<std::vector<int>>{{0, 1}, {1, 2}, {2, 0, 4, 1}, {3}, {4, 4}, {4, 1, 2}},
                                    {.score = score, .increment = 0.3f})};
      const search::hotword_automaton& g = lists[seed % 2];
      const auto few = search::position_beam(p, {.search = {.beam = 10, .hotwords = &g}, .token_threshold = 1000});
      const auto many = search::position_beam(p, {.search = {.beam = 300, .hotwords = &g}, .token_threshold = 1000});
      EXPECT_NEAR(few[0].score, best_of_all(p, g), 1e-4) << seed;
      for (std::size_t k = 0; k < 10; ++k) EXPECT_NEAR(few[k].score, many[k].score, 1e-4) << seed << " " << k;
    }
  }
}

// As a damaged model may give: the search comes to an end, with a token for each position.
TEST(position_beam, what_is_no_number_is_the_worst) {
  const search::hotword_automaton g(std::vector<std::vector<int>>{{1, 2}, {2, 3, 4, 1}, {7, 8}, {9}}, {.score = 2});
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    table p = random_table(6, 40, seed);
    test::random_numbers random(seed);
    for (extent i = 0; i < p.size(); ++i)
      if (random.normal() > 0.5f) p.data()[i] = std::numeric_limits<float>::quiet_NaN();
    const auto found = search::position_beam(p, {.search = {.beam = 8, .hotwords = &g}});
    ASSERT_FALSE(found.empty());
    for (const auto& f : found) EXPECT_EQ(f.ids.size(), 6u);
  }
}

TEST(position_beam, phrases_go_on_over_what_is_no_text) {
  table p(3, 4);
  p << -9, -0.1f, -3, -9,  //
      -0.1f, -9, -9, -9,   //
      -9, -9, -2, -0.2f;
  const search::hotword_automaton g(std::vector<std::vector<int>>{{1, 2}}, {.score = 3});
  constexpr int silent[] = {0};
  EXPECT_EQ(search::position_beam(p, {.search = {.hotwords = &g}, .silent = silent})[0].ids,
            (std::vector<int>{1, 0, 2}));
  EXPECT_EQ(search::position_beam(p, {.search = {.hotwords = &g}})[0].ids, (std::vector<int>{1, 0, 3}));
  EXPECT_TRUE(search::position_beam(table(0, 4), {})[0].ids.empty());
  EXPECT_NE(test::refusal([&] { (void)search::position_beam(p, {.search = {.length_penalty = 1.0}}); }), "");
}

// What a stream shows behind each portion, and what it had settled by then.
struct shown {
  std::vector<int> ids;
  std::size_t settled = 0;
  double score = 0;
};

std::vector<shown> listen(const table& p, const search::position_beam_options& o, const std::vector<extent>& portions) {
  search::position_search s(o, p.cols());
  std::vector<shown> all;
  std::vector<int> settled;
  std::size_t k = 0;
  for (extent at = 0; at < p.rows();) {
    const extent n = std::min(portions[k++ % portions.size()], p.rows() - at);
    s.advance(p.middleRows(at, n));
    at += n;
    s.take_settled([&](const search::position_token& t) { settled.push_back(t.id); });
    EXPECT_EQ(settled.size() + s.positions(), static_cast<std::size_t>(at));
    EXPECT_LE(s.positions(), static_cast<std::size_t>(o.settle_after));
    shown& now = all.emplace_back(shown{settled, settled.size()});
    now.score = s.best([&](const search::position_token& t) {
      EXPECT_EQ(t.log_probability, p(static_cast<extent>(now.ids.size()), t.id));
      now.ids.push_back(t.id);
    });
  }
  return all;
}

void expect_stable(const std::vector<shown>& all) {
  for (std::size_t k = 1; k < all.size(); ++k) {
    ASSERT_GE(all[k].settled, all[k - 1].settled);
    EXPECT_TRUE(std::equal(all[k - 1].ids.begin(),
                           all[k - 1].ids.begin() + static_cast<std::ptrdiff_t>(all[k - 1].settled),
                           all[k].ids.begin()));
  }
}

const std::vector<extent> divisions[] = {{1}, {2}, {3, 1}, {1, 5}, {7}, {100}};

std::vector<std::vector<int>> random_phrases(std::uint64_t seed, int tokens) {
  test::random_numbers random(seed);
  std::vector<std::vector<int>> all;
  for (int k = 0; k < 8; ++k) {
    std::vector<int>& phrase = all.emplace_back();
    const int n = 1 + static_cast<int>(std::fabs(2 * random.normal()));
    for (int i = 0; i < n; ++i) phrase.push_back(static_cast<int>(std::fabs(3 * random.normal())) % tokens);
  }
  return all;
}

// What all texts would give: where nothing is settled before all have it, nothing is lost.
TEST(position_search, a_stream_finds_the_best_text_of_all) {
  std::size_t early = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const table p = 2 * random_table(7, 5, seed);
    const std::vector<float> weights = test::random_numbers(seed).vector(8, 0.2f, 4.0f);
    const auto phrases = random_phrases(seed, 5);
    const search::hotword_automaton lists[] = {search::hotword_automaton(phrases, {.score = 1.5f}),
                                               search::hotword_automaton(phrases, {.score = 1}, weights)};
    for (const search::hotword_automaton& g : lists) {
      const search::position_beam_options o{.search = {.hotwords = &g}, .token_threshold = 1000, .settle_after = 100};
      const double best = best_of_all(p, g);
      for (const auto& portions : divisions) {
        const auto all = listen(p, o, portions);
        expect_stable(all);
        EXPECT_NEAR(all.back().score, best, 1e-4) << seed;
        early += all.back().settled;
      }
    }
  }
  EXPECT_GT(early, 20 * 2 * 6 * 7 / 4);  // of all positions, though half of the tokens begin phrases
}

TEST(position_search, a_stream_finds_what_the_whole_search_finds) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const table p = 2 * random_table(60, 12, seed);
    const search::hotword_automaton g(random_phrases(seed, 12), {.score = 2, .increment = 0.1f});
    constexpr int silent[] = {0, 11};
    search::position_beam_options o{.search = {.beam = 16, .hotwords = &g}, .silent = silent};
    const auto whole = search::position_beam(p, o);
    o.settle_after = 60;
    for (const auto& portions : divisions) {
      const auto all = listen(p, o, portions);
      expect_stable(all);
      EXPECT_EQ(all.back().ids, whole[0].ids) << seed;
      EXPECT_NEAR(all.back().score, whole[0].score, 1e-6) << seed;
    }
  }
}

// Where hypotheses go apart for too long the best one decides, at the same position whatever the portions.
TEST(position_search, what_is_settled_stays_and_is_settled_in_time) {
  std::size_t bound = 0;
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const table p = random_table(50, 6, seed);
    const search::hotword_automaton g(random_phrases(seed, 6), {.score = 2});
    for (const extent limit : {1, 2, 3}) {
      const search::position_beam_options o{.search = {.hotwords = &g}, .settle_after = limit};
      const auto one = listen(p, o, {1});
      expect_stable(one);
      for (const auto& portions : divisions) {
        const auto all = listen(p, o, portions);
        expect_stable(all);
        EXPECT_EQ(all.back().ids, one.back().ids) << seed;
        EXPECT_EQ(all.back().score, one.back().score) << seed;
      }
      bound += one.back().ids != search::position_beam(p, {.search = {.hotwords = &g}})[0].ids;
    }
  }
  EXPECT_GT(bound, 0u);  // or the limit was none
}

// A phrase that no position but the last of it pays for, over two portions; what comes before is settled at once.
TEST(position_search, a_phrase_waits_for_the_next_portion) {
  table p(5, 4);
  p << -0.1f, -9, -9, -9,  //
      -9, -0.1f, -9, -9,   //
      -0.1f, -9, -3, -9,   //
      -0.1f, -9, -9, -3,   //
      -9, -0.1f, -9, -9;
  const search::hotword_automaton g(std::vector<std::vector<int>>{{2, 3}}, {.score = 3.5f});
  const auto all = listen(p, {.search = {.hotwords = &g}, .settle_after = 16}, {3, 1, 1});
  EXPECT_EQ(all[0].ids, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(all[0].settled, 2u);
  EXPECT_EQ(all[1].ids, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(all[2].ids, (std::vector<int>{0, 1, 2, 3, 1}));
  EXPECT_EQ(all[2].settled, 5u);  // the phrase's first token is further behind than its second one could earn
  // With a limit of one position the best one decides: inside the phrase it has earned more.
  EXPECT_EQ(listen(p, {.search = {.hotwords = &g}, .settle_after = 1}, {3, 1, 1})[2].ids, all[2].ids);
  // Without phrases all of it is settled at once.
  for (const shown& s : listen(p, {.settle_after = 1}, {2})) EXPECT_EQ(s.settled, s.ids.size());
}

// Two tokens that each cost so much, in a phrase of up to four units: what they cannot earn holds back nothing.
TEST(position_search, a_phrase_that_is_behind_for_good_holds_nothing_back) {
  const std::vector<std::vector<int>> phrases{{1, 1}, {1, 1, 2, 3}};
  const auto open = [&](float costs, float score, const std::vector<float>& weights) {
    table p(6, 5);
    p.setConstant(-30);
    p.col(4).setConstant(0);
    p(2, 1) = p(3, 1) = -costs;
    const search::hotword_automaton g(phrases, {.score = score}, weights);
    std::vector<std::size_t> all;
    for (const shown& s : listen(p, {.search = {.hotwords = &g}, .settle_after = 16}, {1}))
      all.push_back(s.ids.size() - s.settled);
    return all;
  };
  const std::vector<float> plain{1, 1};
  EXPECT_EQ(open(10, 2, plain), (std::vector<std::size_t>{0, 0, 0, 0, 0, 0}));  // 8 behind, and 6 to come
  EXPECT_EQ(open(7, 2, plain), (std::vector<std::size_t>{0, 0, 1, 1, 0, 0}));   // 5 behind, then 10
  EXPECT_GT(open(10, 2, {1, 4})[3], 0u);  // the longer one may earn four times so much
}

TEST(position_search, begins_again_and_takes_what_is_no_number) {
  const search::hotword_automaton g(std::vector<std::vector<int>>{{1, 2}, {2, 3, 4, 1}, {7, 8}, {9}}, {.score = 2});
  search::position_search s({.search = {.hotwords = &g}, .settle_after = 4}, 12);
  EXPECT_EQ(s.best([](const search::position_token&) { ADD_FAILURE(); }), 0);
  std::vector<int> before;
  for (int round = 0; round < 2; ++round) {
    table p = random_table(20, 12, 3);
    s.advance(p);
    std::vector<int> ids;
    const auto keep = [&](const search::position_token& t) { ids.push_back(t.id); };
    s.take_settled(keep);
    (void)s.best(keep);
    EXPECT_EQ(ids.size(), 20u);
    EXPECT_EQ(ids, round > 0 ? before : ids);
    before = ids;
    p.middleRows(3, 9).setConstant(std::numeric_limits<float>::quiet_NaN());
    s.advance(p);
    EXPECT_LE(s.positions(), 4u);
    s.restart();
    EXPECT_EQ(s.positions(), 0u);
  }
  EXPECT_NE(test::refusal([&] { search::position_search({.search = {.length_penalty = 1.0}}, 12); }), "");
}

TEST(position_search, steady_streams_allocate_nothing) {
  const search::hotword_automaton g(random_phrases(5, 30), {.score = 2});
  const table p = random_table(40, 30, 9);
  search::position_search s({.search = {.hotwords = &g}, .settle_after = 4}, 30);
  extent ids = 0;
  const auto count = [&](const search::position_token&) { ++ids; };
  const auto round = [&] {
    for (extent at = 0; at < p.rows(); at += 4) {
      s.advance(p.middleRows(at, 4));
      s.take_settled(count);
      (void)s.best(count);
    }
    s.restart();
  };
  round();
  test::allocation_counter counted;
  round();
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_GT(ids, 80);
}

}  // namespace position_beam_test
