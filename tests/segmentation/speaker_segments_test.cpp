// SPDX-License-Identifier: Apache-2.0
#include <steno/segmentation/speaker_segments.hpp>

#include <gtest/gtest.h>

namespace speaker_segments_test {

using namespace steno;

std::vector<segmentation::speaker_span> spans(std::vector<float> p, const segmentation::speaker_segment_options& o = {},
                                              extent steps = 1) {
  return segmentation::speaker_segments(
      core::make_view(static_cast<const float*>(p.data()), static_cast<extent>(p.size()), 1), 0, steps, o);
}
using list = std::vector<segmentation::speaker_span>;

TEST(speaker_segments, begins_above_one_threshold_and_ends_below_another) {
  EXPECT_EQ(spans({0, 0.6f, 0.6f, 0.4f, 0}), (list{{0.01, 0.03}}));
  EXPECT_EQ(spans({0, 0.6f, 0.4f, 0.2f, 0}, {.offset = 0.3}), (list{{0.01, 0.03}}));
  EXPECT_EQ(spans({0.5f, 0.5f}), list{});  // not above
  EXPECT_EQ(spans({}), list{});
  EXPECT_EQ(spans({0.6f, 0.1f}, {}, 8), (list{{0, 0.08}}));
}

// As the original: what goes on to the end ends a step early, and one step alone is nothing.
TEST(speaker_segments, the_end_of_the_recording) {
  EXPECT_EQ(spans({0, 1, 1, 1}), (list{{0.01, 0.03}}));
  EXPECT_EQ(spans({0, 0, 1}), list{});
  EXPECT_EQ(spans({0, 1}, {}, 8), (list{{0.08, 0.15}}));
}

TEST(speaker_segments, paddings_join_spans) {
  const std::vector<float> p{0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(spans(p), (list{{0.01, 0.03}, {0.06, 0.08}}));
  EXPECT_EQ(spans(p, {.pad_onset = 0.02, .pad_offset = 0.02}), (list{{0, 0.1}}));
}

TEST(speaker_segments, short_spans_go_before_short_gaps) {
  const std::vector<float> p{1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0};
  EXPECT_EQ(spans(p), (list{{0, 0.04}, {0.05, 0.06}, {0.07, 0.11}}));
  EXPECT_EQ(spans(p, {.min_duration_on = 0.025}), (list{{0, 0.04}, {0.07, 0.11}}));
  EXPECT_EQ(spans(p, {.min_duration_off = 0.025}), (list{{0, 0.11}}));
  EXPECT_EQ(spans(p, {.min_duration_on = 0.025, .min_duration_off = 0.025}), (list{{0, 0.04}, {0.07, 0.11}}));
  EXPECT_EQ(spans(p, {.min_duration_on = 1, .min_duration_off = 1}), list{});
}

// A threshold to end that is above the one to begin, as in a published file of settings: every step begins anew.
TEST(speaker_segments, thresholds_the_other_way_round) {
  EXPECT_EQ(spans({0, 0.7f, 0.7f, 0.7f, 0.7f, 0}, {.onset = 0.6, .offset = 0.9}), (list{{0.01, 0.02}, {0.03, 0.04}}));
  EXPECT_EQ(spans({0.7f, 0}, {.onset = 0.6, .offset = 0.9}, 4), (list{{0, 0.01}, {0.02, 0.03}}));
}

TEST(speaker_segments, columns) {
  matrix<float, dynamic, dynamic> p(4, 2);
  p << 1, 0, 0, 1, 0, 1, 0, 0;
  EXPECT_EQ(segmentation::speaker_segments(core::read(p), 0, 8), (list{{0, 0.08}}));
  EXPECT_EQ(segmentation::speaker_segments(core::read(p), 1, 8), (list{{0.08, 0.24}}));
}

}  // namespace speaker_segments_test
