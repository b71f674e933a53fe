// Bonuses by hand for both rules; see tests/parity/wenet_test.cpp for the original's n-best lists.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/hotword_automaton.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hotword_automaton_test {

using namespace steno;

const std::vector<std::vector<int>> phrases = {{1, 2, 3}, {2, 3, 4, 5}, {9}, {}};

// Bonus after each unit, and at the end.
std::vector<float> walk(const search::hotword_automaton& g, const std::vector<int>& units,
                        std::vector<int>* matched = nullptr) {
  int state = 0;
  float sum = 0;
  std::vector<float> sums;
  for (const int u : units) {
    const auto [next, earned] = g.next(state, u, matched);
    state = next;
    sums.push_back(sum += earned);
  }
  sums.push_back(g.finish(state, sum));
  return sums;
}
TEST(hotword_automaton, runtime_rules) {
  const search::hotword_automaton g(phrases, {.score = 2.0f});
  std::vector<int> matched;
  EXPECT_EQ(walk(g, {1, 2, 3}, &matched), (std::vector<float>{2, 4, 6, 6}));
  EXPECT_EQ(matched, (std::vector<int>{0}));
  // A phrase left half-way pays back; 1 2 falls to 2 of the second phrase first.
  EXPECT_EQ(walk(g, {1, 2, 7}), (std::vector<float>{2, 4, 0, 0}));
  // A finished phrase keeps its bonus and goes on as the beginning of another.
  matched.clear();
  EXPECT_EQ(walk(g, {1, 2, 3, 4, 5}, &matched), (std::vector<float>{2, 4, 6, 8, 10, 10}));
  EXPECT_EQ(matched, (std::vector<int>{0, 1}));  // 4 was reached over a failure arc, but 5 completes the second phrase
  EXPECT_EQ(walk(g, {9, 9}), (std::vector<float>{2, 4, 4}));
  EXPECT_EQ(walk(g, {2, 3}), (std::vector<float>{2, 4, 0}));  // the end takes back what is open
}

TEST(hotword_automaton, later_units_may_earn_more) {
  const search::hotword_automaton g(phrases, {.score = 2.0f, .increment = 0.5f});
  EXPECT_EQ(walk(g, {1, 2, 3}), (std::vector<float>{2.0f, 4.5f, 7.5f, 7.5f}));
}

TEST(hotword_automaton, training_rules) {
  const search::hotword_automaton g(phrases, {.rules = search::hotword_rules::training, .score = 2.0f});
  // A finished phrase earns its bonus twice; the end replaces everything by minus what is open.
  EXPECT_EQ(walk(g, {1, 2, 3}), (std::vector<float>{2, 4, 12, -6}));
  EXPECT_EQ(walk(g, {1, 7}), (std::vector<float>{2, 0, -0.0f}));
  EXPECT_EQ(walk(g, {9}), (std::vector<float>{4, -2}));
}

TEST(hotword_automaton, without_phrases_nothing_is_earned) {
  for (const search::hotword_rules rules : {search::hotword_rules::runtime, search::hotword_rules::training}) {
    const search::hotword_automaton g(std::span<const std::vector<int>>{}, {.rules = rules});
    EXPECT_TRUE(g.empty());
    EXPECT_EQ(walk(g, {1, 2}), (std::vector<float>{0, 0, 0}));
  }
}

TEST(hotword_automaton, a_weight_multiplies_what_a_phrase_earns) {
  const std::vector<std::vector<int>> three{{1, 2}, {1, 3, 4}, {5}};
  const std::vector<float> weights{1, 2, 0.5f};
  const search::hotword_automaton g(three, {.score = 2.0f}, weights);
  EXPECT_EQ(walk(g, {5}), (std::vector<float>{1, 1}));
  EXPECT_EQ(walk(g, {1, 3, 4}), (std::vector<float>{4, 8, 12, 12}));
  EXPECT_EQ(walk(g, {1, 2}), (std::vector<float>{4, 4, 4}));  // what both begin with earned more; its end settles that
  EXPECT_EQ(walk(g, {1, 7}), (std::vector<float>{4, 0, 0}));
  EXPECT_EQ(g.highest_step(), 4);
  const std::vector<float> ones{1, 1, 1};
  EXPECT_EQ(walk(search::hotword_automaton(three, {.score = 2.0f}, ones), {1, 3, 4}),
            walk(search::hotword_automaton(three, {.score = 2.0f}), {1, 3, 4}));
}

TEST(hotword_automaton, openings_are_phrases_where_a_text_begins_alone) {
  const std::vector<std::vector<int>> spaced{{1, 2}, {5}}, bare{{11, 2}, {5, 6}};
  const std::vector<float> weights{1, 2, 1, 2};
  const search::hotword_automaton g(spaced, {.score = 2.0f}, weights, bare);
  const auto from_start = [&](const std::vector<int>& units) {
    int state = g.start();
    float sum = 0;
    for (const int u : units) {
      const auto [next, earned] = g.next(state, u);
      state = next;
      sum += earned;
    }
    return std::pair(sum, g.finish(state, sum));
  };
  EXPECT_NE(g.start(), 0);
  EXPECT_EQ(from_start({11, 2}), std::pair(4.0f, 4.0f));
  EXPECT_EQ(from_start({1, 2}), std::pair(4.0f, 4.0f));
  EXPECT_EQ(from_start({11, 7}), std::pair(0.0f, 0.0f));
  EXPECT_EQ(from_start({11}), std::pair(2.0f, 0.0f));
  EXPECT_EQ(from_start({5, 6}), std::pair(8.0f, 8.0f));
  EXPECT_EQ(from_start({5, 7}), std::pair(4.0f, 4.0f));  // what the opening left is a phrase of its own
  EXPECT_EQ(from_start({}), std::pair(0.0f, 0.0f));
  EXPECT_EQ(walk(g, {11, 2}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(walk(g, {7, 5, 6}), (std::vector<float>{0, 4, 4, 4}));
  std::vector<int> units;
  g.continuations(g.start(), [&](const search::hotword_automaton::continuation& c) {
    units.push_back(c.unit);
    if (c.unit != 5 || std::count(units.begin(), units.end(), 5) == 1) {
      EXPECT_EQ(std::pair(c.state, c.bonus), g.next(g.start(), c.unit)) << c.unit;
    }
  });
  std::sort(units.begin(), units.end());
  EXPECT_EQ(units, (std::vector<int>{1, 5, 5, 11}));
  EXPECT_EQ(search::hotword_automaton(spaced, {}).start(), 0);
}

TEST(hotword_automaton, continuations_are_what_next_gives) {
  const std::vector<std::vector<int>> many{{1, 2, 3}, {2, 3, 4, 5}, {3, 1}, {9}, {2, 6}};
  for (const search::hotword_rules rules : {search::hotword_rules::runtime, search::hotword_rules::training}) {
    const search::hotword_automaton g(many, {.rules = rules, .score = 2.0f, .increment = 0.5f});
    for (const std::vector<int>& units : {std::vector<int>{}, {1}, {1, 2}, {2, 3}, {1, 2, 3}, {2, 3, 4}}) {
      int state = 0;
      for (const int u : units) state = g.next(state, u).first;
      std::vector<int> seen;
      const auto agrees = [&](const search::hotword_automaton::continuation& c) {
        if (std::find(seen.begin(), seen.end(), c.unit) != seen.end()) return;
        seen.push_back(c.unit);
        EXPECT_EQ(std::pair(c.state, c.bonus), g.next(state, c.unit)) << c.unit;
      };
      g.continuations(state, agrees);
      EXPECT_FALSE(seen.empty());
      const std::size_t count = seen.size();
      seen.clear();
      const auto left = g.inner_continuations(
          state, [](int) { return true; }, [&](const auto& c, bool) { agrees(c); });
      if (left.begins)
        for (const int unit : {1, 2, 3, 9})
          if (std::find(seen.begin(), seen.end(), unit) == seen.end()) {
            seen.push_back(unit);
            const auto [to, bonus] = g.next(0, unit);
            EXPECT_EQ(std::pair(to, left.paid + bonus), g.next(state, unit)) << unit;
          }
      EXPECT_EQ(seen.size(), count);
      if (rules == search::hotword_rules::runtime) {
        EXPECT_EQ(left.paid, g.paid(state));
      }
      std::vector<int> all, odd, wanted;
      const auto is_odd = [](int unit) { return unit % 2 == 1; };
      g.inner_continuations(
          state, [](int) { return true; }, [&](const auto& c, bool) { all.push_back(c.unit); });
      g.inner_continuations(state, is_odd, [&](const auto& c, bool) { wanted.push_back(c.unit); });
      std::copy_if(all.begin(), all.end(), std::back_inserter(odd), is_odd);
      EXPECT_EQ(wanted, odd);
    }
  }
}

// What a search may count on: a state behind a phrase that goes on has one state in front of it.
TEST(hotword_automaton, one_state_leads_to_what_goes_on_with_all_of_it) {
  const std::vector<std::vector<int>> many{{1, 2, 3}, {2, 3, 4, 5}, {3, 1}, {9}, {2, 6}, {1, 2, 6}};
  const search::hotword_automaton g(many, {.score = 2.0f});
  std::vector<int> open{0}, behind;
  for (std::size_t k = 0; k < open.size(); ++k) {
    bool other = false;
    g.inner_continuations(
        open[k], [](int) { return true; },
        [&](const auto& c, bool goes_on) {
          EXPECT_FALSE(other && goes_on);  // these come first
          other = other || !goes_on;
          if (goes_on && c.state != 0) behind.push_back(c.state);
        });
    for (int unit = 0; unit < 10; ++unit) {
      const int to = g.next(open[k], unit).first;
      if (std::find(open.begin(), open.end(), to) == open.end()) open.push_back(to);
    }
  }
  EXPECT_GT(open.size(), 7u);
  std::sort(behind.begin(), behind.end());
  EXPECT_EQ(std::adjacent_find(behind.begin(), behind.end()), behind.end());
  EXPECT_GT(behind.size(), 3u);
}

}  // namespace hotword_automaton_test
