// SPDX-License-Identifier: Apache-2.0
#include <steno/search/token_search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace token_search_test {

using namespace steno;

using rows = matrix<float, dynamic, dynamic>;
constexpr int end_token = 3;

rows scores(std::initializer_list<std::initializer_list<double>> probabilities) {
  rows y(static_cast<extent>(probabilities.size()), static_cast<extent>(probabilities.begin()->size()));
  extent r = 0;
  for (const auto& row : probabilities) {
    extent i = 0;
    for (const double p : row) y(r, i++) = static_cast<float>(std::log(p));
    ++r;
  }
  return y;
}

search::hotword_automaton phrases(const std::vector<std::vector<int>>& all, float score) {
  return search::hotword_automaton(all, {.score = score});
}

TEST(token_search, greedy_takes_the_best_until_the_end) {
  search::token_sampler s({.end = end_token});
  std::vector<int> next, sources;
  EXPECT_TRUE(s.advance(scores({{.1, .6, .2, .1}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{1});
  EXPECT_TRUE(s.advance(scores({{.5, .2, .2, .1}}), next, sources));
  EXPECT_FALSE(s.advance(scores({{.1, .1, .1, .7}}), next, sources));
  ASSERT_EQ(s.finish().size(), 1u);
  EXPECT_EQ(s.finish()[0].tokens, (std::vector<int>{1, 0}));
  EXPECT_NEAR(s.finish()[0].score, std::log(.6 * .5 * .7), 1e-6);  // a few ulp of three sums
}

// 4000 draws: a share is within 0.03 of its probability with more than three standard deviations to spare.
TEST(token_search, samples_have_their_probabilities_and_a_seed) {
  const auto draws = [](double temperature, std::uint64_t seed) {
    search::token_sampler s({.search = {.beam = 4000}, .end = end_token, .temperature = temperature, .seed = seed});
    rows y(4000, 4);
    for (extent r = 0; r < 4000; ++r) y.row(r) = scores({{.5, .3, .15, .05}}).row(0);
    std::vector<int> next, sources;
    s.advance(y, next, sources);
    return next;
  };
  const std::vector<int> one = draws(1, 7);
  std::map<int, double> share;
  for (const int id : one) share[id] += 1.0 / 4000;
  EXPECT_NEAR(share[0], .5, .03);
  EXPECT_NEAR(share[1], .3, .03);
  EXPECT_NEAR(share[3], .05, .03);
  EXPECT_EQ(draws(1, 7), one);
  EXPECT_NE(draws(1, 8), one);
  double first = 0;
  for (const int id : draws(0.5, 7)) first += id == 0 ? 1.0 / 4000 : 0;
  EXPECT_NEAR(first, .25 / (.25 + .09 + .0225 + .0025), .03);
}

TEST(token_search, beams_fork_end_and_are_ranked) {
  search::token_beam b({.search = {.beam = 2}, .end = end_token});
  std::vector<int> next, sources;
  EXPECT_TRUE(b.advance(scores({{.5, .4, .06, .04}, {.5, .4, .06, .04}}), next, sources));
  EXPECT_EQ(next, (std::vector<int>{0, 1}));  // both from the one that all are at first
  // From 0: end .5 x .6 = .30; 1: .10. From 1: 0: .4 x .7 = .28.
  EXPECT_TRUE(b.advance(scores({{.1, .2, .1, .6}, {.7, .1, .1, .1}}), next, sources));
  EXPECT_EQ(next, (std::vector<int>{0, 1}));
  EXPECT_EQ(sources, (std::vector<int>{1, 0}));
  EXPECT_FALSE(b.advance(scores({{.05, .05, .1, .8}, {.3, .3, .2, .2}}), next, sources));
  const auto& all = b.finish();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].tokens, (std::vector<int>{0}));
  EXPECT_EQ(all[1].tokens, (std::vector<int>{1, 0}));
  EXPECT_NEAR(std::exp(all[1].score), .4 * .7 * .8, 1e-6);
  // log .3 / 1 = -1.20, log .224 / 2 = -0.75; a penalty of 0 does not look at lengths.
  EXPECT_EQ(search::best_hypothesis(all, std::nullopt), 1u);
  EXPECT_EQ(search::best_hypothesis(all, 0.0), 0u);
}

TEST(token_search, unfinished_beams_fill_the_list) {
  search::token_beam b({.search = {.beam = 2}, .end = end_token, .patience = 2.0});
  std::vector<int> next, sources;
  EXPECT_TRUE(b.advance(scores({{.6, .3, .06, .04}, {.6, .3, .06, .04}}), next, sources));
  const auto& all = b.finish();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].tokens, (std::vector<int>{0}));
  EXPECT_EQ(all[1].tokens, (std::vector<int>{1}));
}

TEST(token_search, a_phrase_wins_by_its_bonus_and_scores_stay_the_model_s) {
  const auto graph = phrases({{2}}, 1.5f);
  std::vector<int> next, sources;
  search::token_sampler s({.search = {.hotwords = &graph}, .end = end_token});
  EXPECT_TRUE(s.advance(scores({{.5, .3, .15, .05}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{2});  // .15 x e^1.5 = .67
  EXPECT_FALSE(s.advance(scores({{.05, .05, .1, .8}}), next, sources));
  EXPECT_NEAR(s.finish()[0].score, std::log(.15 * .8), 1e-6);
  EXPECT_EQ(s.finish()[0].bonus, 1.5f);

  search::token_beam b({.search = {.beam = 2, .hotwords = &graph}, .end = end_token});
  EXPECT_TRUE(b.advance(scores({{.5, .3, .15, .05}, {.5, .3, .15, .05}}), next, sources));
  EXPECT_EQ(next, (std::vector<int>{2, 0}));
  EXPECT_FALSE(b.advance(scores({{.05, .05, .02, .88}, {.05, .05, .02, .88}}), next, sources));
  const auto& all = b.finish();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].tokens, std::vector<int>{2});
  EXPECT_EQ(all[1].tokens, std::vector<int>{0});
  EXPECT_NEAR(all[0].score, std::log(.15 * .88), 1e-6);
  EXPECT_EQ(all[1].bonus, 0.0f);
  EXPECT_EQ(search::best_hypothesis(all, std::nullopt), 0u);
}

TEST(token_search, unfinished_phrases_pay_back) {
  const auto graph = phrases({{0, 1}}, 2);
  std::vector<int> next, sources;
  // Begun, then ended; begun, then left; begun when no tokens are left.
  search::token_beam b({.search = {.beam = 2, .hotwords = &graph}, .end = end_token});
  EXPECT_TRUE(b.advance(scores({{.2, .1, .4, .3}, {.2, .1, .4, .3}}), next, sources));
  EXPECT_EQ(next, (std::vector<int>{0, 2}));                                               // .2 x e^2 = 1.48
  EXPECT_TRUE(b.advance(scores({{.01, .01, .5, .48}, {.4, .3, .2, .1}}), next, sources));  // .16 x e^2 = 1.18
  EXPECT_EQ(next, (std::vector<int>{0, 1}));  // 2 0, and 2 1: .12; 0 2 and its end pay back: .1
  EXPECT_EQ(sources, (std::vector<int>{1, 1}));
  for (const search::token_hypothesis& h : b.finish()) EXPECT_EQ(h.bonus, 0.0f);
  EXPECT_NEAR(std::exp(b.finish()[0].score), .16, 1e-6);

  search::token_sampler s({.search = {.hotwords = &graph}, .end = end_token});
  EXPECT_TRUE(s.advance(scores({{.2, .1, .4, .3}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{0});
  EXPECT_EQ(s.finish()[0].bonus, 0.0f);  // stopped here

  search::token_sampler left({.search = {.hotwords = &graph}, .end = end_token}),
      ended({.search = {.hotwords = &graph}, .end = end_token});
  for (search::token_sampler* each : {&left, &ended})
    EXPECT_TRUE(each->advance(scores({{.2, .1, .4, .3}}), next, sources));
  EXPECT_TRUE(left.advance(scores({{.01, .001, .9, .089}}), next, sources));
  EXPECT_FALSE(ended.advance(scores({{.01, .001, .089, .9}}), next, sources));
  EXPECT_EQ(left.finish()[0].tokens, (std::vector<int>{0, 2}));
  EXPECT_EQ(left.finish()[0].bonus, 0.0f);
  EXPECT_EQ(ended.finish()[0].tokens, std::vector<int>{0});
  EXPECT_EQ(ended.finish()[0].bonus, 0.0f);
}

TEST(token_search, improbable_tokens_of_phrases_are_considered) {
  // The beam of one looks at two tokens; 2 is the fourth by the model alone, and goes on with its phrase as the least.
  const auto graph = phrases({{2, 0}}, 4);
  std::vector<int> next, sources;
  search::token_beam b({.search = {.beam = 1, .hotwords = &graph}, .end = end_token});
  EXPECT_TRUE(b.advance(scores({{.4, .35, .05, .2}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{2});
  EXPECT_TRUE(b.advance(scores({{.01, .3, .4, .29}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{0});
  EXPECT_FALSE(b.advance(scores({{.1, .1, .01, .79}}), next, sources));
  EXPECT_EQ(b.finish()[0].tokens, (std::vector<int>{2, 0}));
  EXPECT_EQ(b.finish()[0].bonus, 8.0f);
  EXPECT_NEAR(b.finish()[0].score, std::log(.05 * .01 * .79), 1e-5);
}

TEST(token_search, tokens_above_the_end_stand_between_the_parts_of_a_phrase) {
  const auto graph = phrases({{0, 1}}, 3);
  std::vector<int> next, sources;
  search::token_sampler s({.search = {.hotwords = &graph}, .end = end_token});
  EXPECT_TRUE(s.advance(scores({{.2, .1, .3, .2, .2}}), next, sources));
  EXPECT_TRUE(s.advance(scores({{.04, .03, .03, .1, .8}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{4});
  EXPECT_TRUE(s.advance(scores({{.1, .1, .5, .2, .1}}), next, sources));
  EXPECT_EQ(next, std::vector<int>{1});
  EXPECT_FALSE(s.advance(scores({{.01, .1, .1, .7, .09}}), next, sources));
  EXPECT_EQ(s.finish()[0].tokens, (std::vector<int>{0, 4, 1}));
  EXPECT_EQ(s.finish()[0].bonus, 6.0f);
}

// 4000 draws, as above.
TEST(token_search, samples_favour_phrases) {
  const auto graph = phrases({{2}}, 1);
  search::token_sampler s(
      {.search = {.beam = 4000, .hotwords = &graph}, .end = end_token, .temperature = 1, .seed = 7});
  rows y(4000, 4);
  for (extent r = 0; r < 4000; ++r) y.row(r) = scores({{.5, .3, .15, .05}}).row(0);
  std::vector<int> next, sources;
  s.advance(y, next, sources);
  const double favoured = .15 * std::exp(1.0);
  EXPECT_NEAR(static_cast<double>(std::count(next.begin(), next.end(), 2)) / 4000, favoured / (.85 + favoured), .03);
}

TEST(token_search, an_empty_graph_changes_nothing) {
  const search::hotword_automaton none;
  std::vector<int> next, sources, next_too, sources_too;
  search::token_beam a({.search = {.beam = 3}, .end = end_token}),
      b({.search = {.beam = 3, .hotwords = &none}, .end = end_token});
  search::token_sampler c({.search = {.beam = 3}, .end = end_token, .temperature = 0.7, .seed = 5}),
      d({.search = {.beam = 3, .hotwords = &none}, .end = end_token, .temperature = 0.7, .seed = 5});
  std::uint32_t state = 1;
  for (int step = 0; step < 12; ++step) {
    rows y(3, 9);
    for (extent i = 0; i < y.size(); ++i) {
      state = state * 1664525u + 1013904223u;
      y.data()[i] = -static_cast<float>(state >> 20) / 1024;
    }
    EXPECT_EQ(a.advance(y, next, sources), b.advance(y, next_too, sources_too));
    EXPECT_EQ(next, next_too);
    EXPECT_EQ(sources, sources_too);
    EXPECT_EQ(c.advance(y, next, sources), d.advance(y, next_too, sources_too));
    EXPECT_EQ(next, next_too);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(a.finish()[i].tokens, b.finish()[i].tokens);
    EXPECT_EQ(a.finish()[i].score, b.finish()[i].score);
    EXPECT_EQ(c.finish()[i].score, d.finish()[i].score);
  }
}

}  // namespace token_search_test
