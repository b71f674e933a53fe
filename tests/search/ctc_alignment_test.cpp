#include <steno/search/ctc_alignment.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace steno;

namespace {

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

}  // namespace

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
