#include <steno/decoders/token_search.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

using namespace steno;

namespace {

using rows = matrix<float, dynamic, dynamic>;
constexpr int end_token = 3;

rows scores(std::initializer_list<std::initializer_list<double>> probabilities) {
  rows y(static_cast<extent>(probabilities.size()), 4);
  extent r = 0;
  for (const auto& row : probabilities) {
    extent i = 0;
    for (const double p : row) y(r, i++) = static_cast<float>(std::log(p));
    ++r;
  }
  return y;
}

}  // namespace

TEST(token_search, greedy_takes_the_best_until_the_end) {
  token_sampler s(1, end_token, 0, 0);
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
    token_sampler s(4000, end_token, temperature, seed);
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
  token_beam b(2, end_token);
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
  EXPECT_EQ(best_hypothesis(all, std::nullopt), 1u);
  EXPECT_EQ(best_hypothesis(all, 0.0), 0u);
}

TEST(token_search, unfinished_beams_fill_the_list) {
  token_beam b(2, end_token, 2.0);
  std::vector<int> next, sources;
  EXPECT_TRUE(b.advance(scores({{.6, .3, .06, .04}, {.6, .3, .06, .04}}), next, sources));
  const auto& all = b.finish();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].tokens, (std::vector<int>{0}));
  EXPECT_EQ(all[1].tokens, (std::vector<int>{1}));
}
