// SPDX-License-Identifier: Apache-2.0
#include <steno/search/cif_times.hpp>

#include <gtest/gtest.h>

namespace cif_times_test {

using steno::search::cif_times;
using steno::search::time_span;

std::vector<float> peaks(std::size_t frames, std::initializer_list<std::size_t> at) {
  std::vector<float> f(frames, 0.5f);
  for (const std::size_t t : at) f[t] = 1.2f;
  return f;
}

void expect_spans(const std::vector<time_span>& got, std::initializer_list<time_span> want) {
  ASSERT_EQ(got.size(), want.size());
  std::size_t i = 0;
  for (const time_span& w : want) {
    EXPECT_DOUBLE_EQ(got[i].start, w.start) << i;
    EXPECT_DOUBLE_EQ(got[i].end, w.end) << i;
    ++i;
  }
}

TEST(cif_times, from_peak_to_peak) {
  // Peaks 4, 8 and 11 are two tokens' borders; fewer than five frames are left, so the last ends with the clip.
  expect_spans(cif_times(peaks(12, {4, 8, 11}), std::vector<float>(12, 0.1f), 2, 1.0), {{2.5, 6.5}, {6.5, 12}});
}

TEST(cif_times, the_last_token_ends_half_way_to_a_distant_end) {
  expect_spans(cif_times(peaks(30, {4, 8}), std::vector<float>(30, 0.1f), 1, 1.0), {{2.5, (30 + 6.5) / 2}});
}

TEST(cif_times, a_token_lasts_twelve_frames_at_most) {
  expect_spans(cif_times(peaks(40, {4, 30, 38}), std::vector<float>(40, 0.1f), 2, 1.0), {{2.5, 14.5}, {28.5, 40}});
  // The last one too: the silence after it gets the end.
  expect_spans(cif_times(peaks(40, {4, 38}), std::vector<float>(40, 0.1f), 1, 1.0), {{2.5, 14.5}});
}

// Alphas below one have no peaks, the normal case: the other vector is scaled to one more than the tokens and
// integrated.
TEST(cif_times, integrates_when_there_are_no_peaks) {
  const std::vector<float> alphas(12, 0.3f), fires(12, 0.75f);  // sum 9; scaled to 3 for two tokens, 0.25 a frame
  expect_spans(cif_times(alphas, fires, 2, 1.0), {{1.5, 5.5}, {5.5, 12}});
}

TEST(cif_times, nothing_said) {
  EXPECT_TRUE(cif_times({}, {}, 0, 1.0).empty());
  const std::vector<float> none(4, 0.0f);
  EXPECT_TRUE(cif_times(none, none, 2, 1.0).empty());
}

// Where a peak takes 1 - 1e-4 from the sum.
TEST(cif_peaks, the_sum_before_a_peak_takes_its_part) {
  const std::vector<float> weights = {0.5f, 0.5f, 0.25f, 0.75f, 0.0f};
  std::vector<float> sums(weights.size());
  steno::search::cif_peaks(weights, sums.data());
  EXPECT_EQ(sums[0], 0.5f);
  EXPECT_EQ(sums[1], 1.0f);
  EXPECT_NEAR(sums[2], 0.2501f, 1e-6f);
  EXPECT_NEAR(sums[3], 1.0001f, 1e-6f);
  EXPECT_NEAR(sums[4], 0.0002f, 1e-6f);
}

}  // namespace cif_times_test
