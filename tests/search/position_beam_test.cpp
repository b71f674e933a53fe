// Texts of independent positions against all of them, with and without hotwords.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/position_beam.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

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
    for (const float score : {0.5f, 4.0f}) {
      // The second list begins with every token.
      const search::hotword_automaton lists[] = {
          search::hotword_automaton(std::vector<std::vector<int>>{{1, 2}, {2, 3, 4, 1}, {0}, {4, 4}}, {.score = score}),
          search::hotword_automaton(std::vector<std::vector<int>>{{0, 1}, {1, 2}, {2, 0, 4, 1}, {3}, {4, 4}, {4, 1, 2}},
                                    {.score = score, .increment = 0.3f})};
      const search::hotword_automaton& g = lists[seed % 2];
      const auto few = search::position_beam(p, {.search = {.beam = 10, .hotwords = &g}, .near = 1000});
      const auto many = search::position_beam(p, {.search = {.beam = 300, .hotwords = &g}, .near = 1000});
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

}  // namespace position_beam_test
