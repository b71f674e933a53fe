// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/quiet_splits.hpp>

#include <gtest/gtest.h>

namespace quiet_splits_test {

using namespace steno;

std::vector<float> loud(std::size_t n) {
  std::vector<float> pcm(n);
  for (std::size_t i = 0; i < n; ++i) pcm[i] = i % 2 == 0 ? 0.5f : -0.25f;
  return pcm;
}
segmentation::cut_policy near(double max_seconds, double around) {
  return {.max_seconds = max_seconds, .rule = segmentation::cut_rule::around, .around = around};
}
TEST(quiet_splits, cuts_in_the_pause_near_the_limit) {
  auto pcm = loud(30000);
  EXPECT_EQ(segmentation::quiet_splits(std::span(pcm).first(10000), 1000, near(10, 2)), std::vector<extent>{0});
  for (std::size_t i = 9300; i < 9500; ++i) pcm[i] = 0.01f;
  for (std::size_t i = 11000; i < 11050; ++i) pcm[i] = 0.0f;  // shorter than the window of 100 ms
  pcm[9321] = 0.001f;
  const auto starts = segmentation::quiet_splits(pcm, 1000, near(10, 2));
  ASSERT_GE(starts.size(), 3u);
  EXPECT_EQ(starts[0], 0);
  EXPECT_EQ(starts[1], 9321);
}

TEST(quiet_splits, the_first_of_equals_and_always_forward) {
  const std::vector<float> silence(5000, 0.0f);
  const auto starts = segmentation::quiet_splits(silence, 1000, near(1, 0.5));
  EXPECT_EQ(starts[1], 500);
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_GT(starts[i], starts[i - 1]);
  // A search that reaches back to the start of a silent part still moves on.
  EXPECT_EQ(segmentation::quiet_splits(std::vector<float>(1010, 0.0f), 1000, near(1, 5))[1], 1);
}

TEST(quiet_splits, within_a_length_no_part_is_longer) {
  auto pcm = loud(30000);
  for (std::size_t i = 7000; i < 7400; ++i) pcm[i] = 0.01f;
  for (std::size_t i = 10100; i < 10500; ++i) pcm[i] = 0.0f;  // behind the first ten seconds
  const auto starts = segmentation::quiet_splits(pcm, 1000, {.max_seconds = 10});
  ASSERT_GE(starts.size(), 3u);
  EXPECT_GE(starts[1], 7100);
  EXPECT_LE(starts[1], 7300);
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_LE(starts[i] - starts[i - 1], 10000);
}

}  // namespace quiet_splits_test
