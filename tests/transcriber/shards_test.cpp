// SPDX-License-Identifier: Apache-2.0
#include "shards.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace shards_test {

using steno::app::balanced_shards;
using steno::app::parse_shard;
using numbers = std::vector<std::size_t>;

TEST(shards, are_counted_from_zero_or_one) {
  for (const std::vector<std::string>& parts : {std::vector<std::string>{"0/3", "1/3", "2/3"}, {"3/3", "1/3", "2/3"}})
    for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parse_shard(parts[i])->number(), i) << parts[i];
  EXPECT_EQ(parse_shard("0/1")->number(), 0u);
  EXPECT_EQ(parse_shard("1/1")->number(), 0u);
  for (const char* bad :
       {"", "1", "/", "1/", "/2", "1/0", "-1/2", "3/2", "1/2x", "a/b", "1//2", "99999999999999999999/2"})
    EXPECT_FALSE(parse_shard(bad)) << bad;
}

TEST(shards, of_equal_or_unknown_lengths_take_every_nth) {
  for (const double seconds : {0.0, 2.5, -1.0})
    EXPECT_EQ(balanced_shards(std::vector<double>(7, seconds), 3), (numbers{0, 1, 2, 0, 1, 2, 0})) << seconds;
  EXPECT_EQ(balanced_shards({1, 1}, 5), (numbers{0, 1}));
  EXPECT_TRUE(balanced_shards({}, 5).empty());
  EXPECT_EQ(balanced_shards({1, 2, 3}, 1), (numbers{0, 0, 0}));
}

TEST(shards, the_longest_go_first_to_where_least_is) {
  EXPECT_EQ(balanced_shards({1, 10, 5, 6}, 2), (numbers{0, 0, 1, 1}));
  // Whatever is not known comes last, where the fewest are.
  EXPECT_EQ(balanced_shards({0, 3, 0, 3, 0}, 2), (numbers{0, 0, 1, 1, 0}));
}

// What the rule promises: the fullest has at most 4/3 of the best sharing, which is no less than the mean and no less
// than the longest recording.
TEST(shards, are_balanced) {
  std::vector<double> seconds;
  std::uint32_t random = 1;
  for (int i = 0; i < 10000; ++i) {
    random = random * 1664525u + 1013904223u;
    seconds.push_back(static_cast<double>(random >> 8) / 1e4);  // 0 to 28 minutes
  }
  for (const std::size_t count : {2u, 8u, 97u}) {
    const auto taken = balanced_shards(seconds, count);
    std::vector<double> sums(count);
    for (std::size_t i = 0; i < seconds.size(); ++i) sums.at(taken[i]) += seconds[i];
    const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(count);
    EXPECT_LT(*std::max_element(sums.begin(), sums.end()), 1.001 * mean) << count;
    EXPECT_EQ(taken, balanced_shards(seconds, count));
  }
}

}  // namespace shards_test
