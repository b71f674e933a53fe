// SPDX-License-Identifier: Apache-2.0
#include <steno/search/token_choice.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

namespace token_choice_test {

using namespace steno;

const std::vector<float> scores = {0.5f, 2.0f, -1.0f, 2.0f, 1.0f};
// How often each token is chosen in 20000 turns.
std::map<int, double> shares(const search::token_sampling& s, const std::vector<float>& of = scores) {
  search::token_choice choose(s);
  std::map<int, double> seen;
  for (int i = 0; i < 20000; ++i) seen[choose(of)] += 1.0 / 20000;
  return seen;
}
TEST(token_choice, is_greedy_by_default) {
  search::token_choice choose;
  EXPECT_EQ(choose(scores), 1);
  EXPECT_EQ(choose(std::vector<float>{3}), 0);
}

// 0.015: four standard deviations of a share in 20000 turns.
TEST(token_choice, samples_as_often_as_probable) {
  for (const double t : {0.5, 1.0, 3.0}) {
    const auto seen = shares({.temperature = t, .seed = 7});
    double sum = 0;
    for (const float s : scores) sum += std::exp(static_cast<double>(s) / t);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto at = seen.find(static_cast<int>(i));
      EXPECT_NEAR(at == seen.end() ? 0 : at->second, std::exp(static_cast<double>(scores[i]) / t) / sum, 0.015) << i;
    }
  }
}

TEST(token_choice, top_k_and_top_p_leave_the_best) {
  const auto ids = [](const std::map<int, double>& seen) {
    std::vector<int> all;
    for (const auto& [id, share] : seen) all.push_back(id);
    return all;
  };
  EXPECT_EQ(ids(shares({.temperature = 2, .top_k = 1})), std::vector<int>({1}));
  EXPECT_EQ(ids(shares({.temperature = 2, .top_k = 2})), std::vector<int>({1, 3}));
  EXPECT_EQ(ids(shares({.temperature = 2, .top_k = 3})), std::vector<int>({1, 3, 4}));
  EXPECT_EQ(ids(shares({.temperature = 2, .top_k = 100})), std::vector<int>({0, 1, 2, 3, 4}));
  // At temperature 1 the shares are 0.379, 0.379, 0.139, 0.085 and 0.019.
  EXPECT_EQ(ids(shares({.temperature = 1, .top_p = 0.3})), std::vector<int>({1}));
  EXPECT_EQ(ids(shares({.temperature = 1, .top_p = 0.4})), std::vector<int>({1, 3}));
  EXPECT_EQ(ids(shares({.temperature = 1, .top_p = 0.8})), std::vector<int>({1, 3, 4}));
  EXPECT_EQ(ids(shares({.temperature = 1, .top_p = 0})), std::vector<int>({1}));
  // Of the two best the second holds half.
  const auto both = shares({.temperature = 1, .top_k = 3, .top_p = 0.6});
  EXPECT_EQ(ids(both), std::vector<int>({1, 3}));
  EXPECT_NEAR(both.at(1), 0.5, 0.015);  // as above
}

TEST(token_choice, a_seed_gives_the_same_tokens) {
  const auto tokens = [](std::uint64_t seed) {
    search::token_choice choose({.temperature = 2, .seed = seed});
    std::vector<int> all;
    for (int i = 0; i < 50; ++i) all.push_back(choose(scores));
    return all;
  };
  EXPECT_EQ(tokens(3), tokens(3));
  EXPECT_NE(tokens(3), tokens(4));
}

TEST(token_choice, odd_scores_are_no_trap) {
  const float low = -std::numeric_limits<float>::infinity();
  search::token_choice choose({.temperature = 1, .top_p = 0.9});
  EXPECT_EQ(choose(std::vector<float>{low, 1, low}), 1);
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& s : {std::vector<float>{low, low}, {none, none, none}, {none, 1, none, 2}})
    for (const search::token_sampling& sampling : {search::token_sampling{},
                                                   {.temperature = 1},
                                                   {.temperature = 1, .top_k = 1},
                                                   {.temperature = 1, .top_p = 0.5}}) {
      const int id = search::token_choice(sampling)(s);
      EXPECT_TRUE(id >= 0 && id < static_cast<int>(s.size()));
    }
}

}  // namespace token_choice_test
