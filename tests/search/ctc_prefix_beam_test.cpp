// Prefix beam search against the sum over all paths, and its options.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/ctc_prefix_beam.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace ctc_prefix_beam_test {

using namespace steno;

using table = matrix<float, dynamic, dynamic>;

table random_table(extent frames, extent labels, std::uint64_t seed) {
  table p(frames, labels);
  test::random_numbers random(seed);
  for (extent t = 0; t < frames; ++t) {
    float sum = 0;
    for (extent i = 0; i < labels; ++i) sum += p(t, i) = std::exp(2 * random.normal());
    for (extent i = 0; i < labels; ++i) p(t, i) = std::log(p(t, i) / sum);
  }
  return p;
}

// log of the summed probability of every label sequence, over all paths.
std::map<std::vector<int>, double> all_paths(const table& p, int blank) {
  std::map<std::vector<int>, double> sums;
  std::vector<int> path(static_cast<std::size_t>(p.rows()));
  const auto labels = static_cast<int>(p.cols());
  for (;;) {
    double score = 0;
    std::vector<int> ids;
    for (std::size_t t = 0; t < path.size(); ++t) {
      score += static_cast<double>(p(static_cast<extent>(t), path[t]));
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) ids.push_back(path[t]);
    }
    sums[ids] += std::exp(score);
    std::size_t i = 0;
    while (i < path.size() && ++path[i] == labels) path[i++] = 0;
    if (i == path.size()) break;
  }
  for (auto& [ids, v] : sums) v = std::log(v);
  return sums;
}

TEST(ctc_prefix_beam, a_beam_that_holds_everything_sums_over_all_paths) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const table p = random_table(6, 4, seed);
    for (const int blank : {0, 2}) {
      const auto want = all_paths(p, blank);
      search::ctc_prefix_beam search({.search = {.beam = 10000}, .blank = blank, .labels = 4});
      search.advance(p);
      // Behind what is possible come sequences no path leads to (a repeated label in too few frames).
      ASSERT_GT(search.size(), static_cast<extent>(want.size()));
      EXPECT_EQ(search.score(static_cast<extent>(want.size())), -INFINITY);
      double before = INFINITY;
      for (extent i = 0; i < static_cast<extent>(want.size()); ++i) {
        const search::ctc_hypothesis h = search.hypothesis(i);
        EXPECT_NEAR(h.score, want.at(h.ids), 1e-5);  // the table is float
        EXPECT_LE(h.score, before);
        before = h.score;
        ASSERT_EQ(h.times.size(), h.ids.size());
        for (std::size_t j = 0; j < h.times.size(); ++j) {
          EXPECT_LT(h.times[j], 6);
          EXPECT_TRUE(j == 0 || h.times[j - 1] < h.times[j]);
        }
      }
    }
  }
}

TEST(ctc_prefix_beam, portions_make_no_difference) {
  const table p = random_table(40, 9, 5);
  search::ctc_prefix_beam whole({.search = {.beam = 6}, .labels = 5}), parts({.search = {.beam = 6}, .labels = 5});
  whole.advance(p);
  for (extent t = 0; t < 40; t += 7) parts.advance(core::read(p.middleRows(t, std::min<extent>(7, 40 - t))));
  ASSERT_EQ(parts.size(), whole.size());
  EXPECT_EQ(parts.frames(), 40);
  for (extent i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(parts.hypothesis(i).ids, whole.hypothesis(i).ids);
    EXPECT_EQ(parts.hypothesis(i).times, whole.hypothesis(i).times);
    EXPECT_EQ(parts.score(i), whole.score(i));
  }
  search::ctc_prefix_beam copy = parts;  // a value: copies go on by themselves
  copy.reset();
  EXPECT_EQ(copy.size(), 1);
  EXPECT_TRUE(copy.ids(0).empty());
  EXPECT_EQ(parts.size(), whole.size());
}

TEST(ctc_prefix_beam, a_likelier_blank_gives_shorter_results_and_a_certain_one_is_all_that_is_seen) {
  const table p = random_table(60, 8, 11);
  const auto length = [&](search::ctc_beam_options o) {
    search::ctc_prefix_beam s(o);
    s.advance(p);
    return s.ids(0).size();
  };
  EXPECT_LT(length({.blank_scale = 100.0f}), length({}));
  EXPECT_GT(length({.blank_scale = 0.01f}), length({}));
  // Above the threshold a frame extends by the blank alone, so scores are sums of fewer paths.
  search::ctc_prefix_beam all, some({.blank_skip_threshold = 0.2f});
  all.advance(p);
  some.advance(p);
  EXPECT_LT(some.score(0), all.score(0));
  EXPECT_LE(some.ids(0).size(), all.ids(0).size());
}

TEST(ctc_prefix_beam, one_frame_and_no_frames) {
  search::ctc_prefix_beam search;
  search.advance(core::make_view(static_cast<const float*>(nullptr), 0, 5));
  EXPECT_EQ(search.size(), 1);
  EXPECT_EQ(search.score(0), 0.0);
  const float row[3] = {-3, -0.1f, -4};
  search.advance(core::make_view(row, 1, 3));
  EXPECT_EQ(search.hypothesis(0).ids, std::vector<int>{1});
  EXPECT_EQ(search.hypothesis(0).times, std::vector<extent>{0});
  EXPECT_EQ(search.size(), 3);
}

TEST(ctc_prefix_beam, a_length_penalty_is_refused) {
  EXPECT_THROW(search::ctc_prefix_beam({.search = {.length_penalty = 1}}), error);
}

// What is settled and what is open are together what they would have been.
TEST(ctc_prefix_beam, what_all_prefixes_share_can_be_settled) {
  for (const std::uint64_t seed : {3u, 4u, 5u}) {
    const table p = random_table(60, 9, seed);
    const std::vector<std::vector<int>> phrases{{1, 2, 1}, {5}};
    const search::hotword_automaton graph(phrases, {.score = 1});
    const search::ctc_beam_options o{.search = {.beam = 4, .hotwords = &graph}};
    search::ctc_prefix_beam whole(o), settled(o);
    std::vector<int> ids;
    std::vector<extent> times;
    std::vector<float> log_probs;
    const auto take = [&](std::size_t n) {
      ids.insert(ids.end(), settled.ids(0).begin(), settled.ids(0).begin() + static_cast<std::ptrdiff_t>(n));
      times.insert(times.end(), settled.times(0).begin(), settled.times(0).begin() + static_cast<std::ptrdiff_t>(n));
      const auto all = settled.log_probabilities(0);
      log_probs.insert(log_probs.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
    };
    for (extent t = 0; t < 60; ++t) {
      whole.advance(core::read(p.middleRows(t, 1)));
      settled.advance(core::read(p.middleRows(t, 1)));
      ASSERT_EQ(settled.log_probabilities(0).size(), settled.ids(0).size());
      const extent n = settled.agreed();
      take(static_cast<std::size_t>(n));
      settled.settle(n);
      ASSERT_EQ(settled.size(), whole.size()) << t;
    }
    EXPECT_GT(ids.size(), 5u);
    whole.finish();
    settled.finish();
    take(settled.ids(0).size());
    EXPECT_EQ(ids, whole.hypothesis(0).ids);
    EXPECT_EQ(settled.score(0), whole.score(0));
    const std::vector<extent> last = whole.hypothesis(0).times;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_LE(times[i], last[i]);  // of a label that went on
      EXPECT_TRUE(i == 0 || times[i - 1] < times[i]);
      const auto column = p.col(ids[i]);  // that of a frame of its run
      EXPECT_TRUE(std::find(column.begin(), column.end(), log_probs[i]) != column.end()) << i;
    }
  }
}

TEST(ctc_prefix_beam, the_best_prefix_may_decide_alone) {
  const table p = random_table(40, 6, 8);
  search::ctc_prefix_beam search({.search = {.beam = 8}});
  search.advance(p);
  const std::vector<int> best = search.hypothesis(0).ids;
  ASSERT_GT(best.size(), 3u);
  const double score = search.score(0);
  search.settle(static_cast<extent>(best.size()));
  EXPECT_TRUE(search.hypothesis(0).ids.empty());
  EXPECT_EQ(search.score(0), score);
  // The label that was settled goes on: it is no further one unless a blank is between.
  matrix<float, dynamic, dynamic> again(1, 6);
  again.setConstant(-20);
  again(0, best.back()) = -0.001f;
  search.advance(core::read(again));
  EXPECT_TRUE(search.hypothesis(0).ids.empty() || search.hypothesis(0).ids[0] == best.back());
  search.reset();
  EXPECT_EQ(search.score(0), 0.0);
}

}  // namespace ctc_prefix_beam_test
