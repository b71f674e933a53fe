// SPDX-License-Identifier: Apache-2.0
#include <steno/search/overlap_merge.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace overlap_merge_test {

using steno::search::merge_overlap;
using ids = std::vector<int>;

ids merged(ids left, const ids& right) {
  merge_overlap(left, right);
  return left;
}

TEST(overlap_merge, what_both_have_stands_once) {
  EXPECT_EQ(merged({1, 2, 3, 4}, {3, 4, 5, 6}), (ids{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(merged({1, 2, 3}, {3, 4}), (ids{1, 2, 3, 4}));
  EXPECT_EQ(merged({1, 2, 3}, {3}), (ids{1, 2, 3}));
  EXPECT_EQ(merged({1, 2}, {1, 2}), (ids{1, 2}));
}

TEST(overlap_merge, nothing_in_common_follows_as_it_is) {
  EXPECT_EQ(merged({1, 2, 3}, {4, 5}), (ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(merged({}, {4, 5}), (ids{4, 5}));
  EXPECT_EQ(merged({1}, {}), (ids{1}));
  EXPECT_EQ(merged({}, {}), ids{});
  // One token that is not at the end is no run.
  EXPECT_EQ(merged({1, 2, 3}, {2, 7}), (ids{1, 2, 3, 2, 7}));
}

// A run that does not reach the end of the left text: what stands behind it there is dropped.
TEST(overlap_merge, runs_in_the_middle) { EXPECT_EQ(merged({1, 2, 3, 4, 9}, {2, 3, 4, 5}), (ids{1, 2, 3, 4, 5})); }

// The first seven tokens of the right text and the last 24 of the left one are looked at.
TEST(overlap_merge, looks_no_farther) {
  ids left(30);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<int>(i);
  const ids before = left;
  EXPECT_EQ(merge_overlap(left, ids{0, 1, 2, 3, 100}), before.size());
  EXPECT_EQ(left.size(), 35u);
  left = before;
  EXPECT_EQ(merge_overlap(left, ids{50, 51, 52, 53, 54, 55, 56, 28, 29}), before.size());
  EXPECT_EQ(left.size(), 39u);
  left = before;
  EXPECT_EQ(merge_overlap(left, ids{27, 28, 29, 31}), before.size());
  EXPECT_EQ(left.back(), 31);
  EXPECT_EQ(left.size(), 31u);
}

}  // namespace overlap_merge_test
