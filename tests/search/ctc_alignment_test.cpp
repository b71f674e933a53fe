// SPDX-License-Identifier: Apache-2.0
#include <steno/search/ctc_alignment.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace ctc_alignment_test {

using namespace steno;

// Score of the best path by trying all: every frame stays, steps, or skips a blank.
double best_path(const std::vector<std::vector<float>>& lp, const std::vector<int>& states, std::size_t t,
                 std::size_t s) {
  if (t == lp.size()) return s + 2 >= states.size() ? 0.0 : -1e30;
  double best = -1e30;
  for (std::size_t step = 0; step < 3; ++step) {
    if (t == 0 && step > 1) continue;
    const std::size_t to = s + step;
    if (to >= states.size()) continue;
    if (step == 2 && (to < 2 || states[to] == states[to - 2])) continue;
    best = std::max(
        best, static_cast<double>(lp[t][static_cast<std::size_t>(states[to])]) + best_path(lp, states, t + 1, to));
  }
  return best;
}

TEST(ctc_alignment, finds_the_best_path) {
  std::mt19937 rng(7);
  core::workspace scratch;
  for (int round = 0; round < 60; ++round) {
    const std::size_t frames = 1 + rng() % 8, count = 1 + rng() % 3;
    std::vector<int> labels(count);
    for (int& l : labels) l = 1 + static_cast<int>(rng() % 3);
    std::vector<float> flat(frames * 4);
    std::vector<std::vector<float>> lp(frames, std::vector<float>(4));
    for (std::size_t i = 0; i < flat.size(); ++i) lp[i / 4][i % 4] = flat[i] = -static_cast<float>(rng() % 1000) / 100;
    std::vector<search::ctc_token> out;
    const bool fits =
        search::ctc_alignment(core::make_view(static_cast<const float*>(flat.data()), static_cast<extent>(frames), 4),
                              labels, {}, scratch, out);
    std::vector<int> states{0};
    for (int l : labels) states.insert(states.end(), {l, 0});
    const double want = best_path(lp, states, 0, 0);
    ASSERT_EQ(fits, want > -1e29);
    if (!fits) continue;
    // The score of what it returned: labels on their frames, blanks elsewhere.
    double got = 0;
    std::size_t at = 0;
    for (std::size_t t = 0; t < frames; ++t) {
      while (at < out.size() && out[at].end <= static_cast<extent>(t)) ++at;
      const bool inside = at < out.size() && out[at].start <= static_cast<extent>(t);
      got += static_cast<double>(lp[t][static_cast<std::size_t>(inside ? out[at].id : 0)]);
    }
    EXPECT_NEAR(got, want, 1e-4);  // f32 sums of up to 8 values below 10
  }
}

TEST(ctc_alignment, too_few_frames_are_refused) {
  const float lp[4] = {-1, -1, -1, -1};
  core::workspace scratch;
  std::vector<search::ctc_token> out;
  EXPECT_FALSE(search::ctc_alignment(core::make_view(lp, 2, 2), std::vector<int>{1, 1}, {}, scratch, out));
  EXPECT_TRUE(out.empty());
  EXPECT_TRUE(search::ctc_alignment(core::make_view(lp, 0, 2), std::vector<int>{}, {}, scratch, out));
}

// Frame by frame as torchaudio decides it, over small tables whose sums are often equal.
TEST(ctc_alignment, equal_paths_as_torchaudio_chooses_them) {
  constexpr float never = -std::numeric_limits<float>::infinity();
  std::mt19937 rng(11);
  core::workspace scratch;
  int differ = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t frames = 3 + rng() % 8, count = 1 + rng() % 3, states = 2 * count + 1;
    std::vector<int> labels(count);
    for (int& l : labels) l = 1 + static_cast<int>(rng() % 3);
    std::vector<float> lp(frames * 4);
    for (float& v : lp) v = -static_cast<float>(1 + rng() % 2);
    const auto label = [&](std::size_t s) { return s % 2 == 0 ? 0 : labels[s / 2]; };
    std::vector<std::vector<float>> score(frames, std::vector<float>(states, never));
    std::vector<std::vector<std::size_t>> from(frames, std::vector<std::size_t>(states));
    for (std::size_t s = 0; s < 2; ++s) score[0][s] = lp[static_cast<std::size_t>(label(s))];
    for (std::size_t t = 1; t < frames; ++t)
      for (std::size_t s = 0; s < states; ++s) {
        const float stay = score[t - 1][s], one = s > 0 ? score[t - 1][s - 1] : never;
        const float two = s % 2 == 1 && s > 1 && label(s) != label(s - 2) ? score[t - 1][s - 2] : never;
        from[t][s] = two > one && two > stay ? 2 : one > stay && one > two ? 1 : 0;
        score[t][s] = (from[t][s] == 2   ? two
                       : from[t][s] == 1 ? one
                                         : stay) +
                      lp[t * 4 + static_cast<std::size_t>(label(s))];
      }
    std::size_t at = score.back()[states - 1] > score.back()[states - 2] ? states - 1 : states - 2;
    if (score.back()[at] == never) continue;
    std::vector<std::size_t> path(frames);
    for (std::size_t t = frames; t-- > 0;) {
      path[t] = at;
      at -= from[t][at];
    }
    std::vector<search::ctc_token> strict, loose;
    const auto scores = core::make_view(static_cast<const float*>(lp.data()), static_cast<extent>(frames), 4);
    ASSERT_TRUE(search::ctc_alignment(scores, labels, {.strict_steps = true}, scratch, strict));
    ASSERT_TRUE(search::ctc_alignment(scores, labels, {}, scratch, loose));
    for (std::size_t t = 0; t < frames; ++t)
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(strict[i].start <= static_cast<extent>(t) && static_cast<extent>(t) < strict[i].end,
                  path[t] == 2 * i + 1)
            << round;
    for (std::size_t i = 0; i < count; ++i)
      differ += strict[i].start != loose[i].start || strict[i].end != loose[i].end;
  }
  EXPECT_GT(differ, 10);
}

}  // namespace ctc_alignment_test
