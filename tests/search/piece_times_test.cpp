// SPDX-License-Identifier: Apache-2.0
#include <steno/search/piece_times.hpp>

#include <gtest/gtest.h>

namespace piece_times_test {

using namespace steno;

std::vector<std::pair<extent, extent>> placed(std::vector<extent> frames, extent ms, extent offset = 0) {
  std::vector<std::pair<extent, extent>> out;
  for (const search::piece_time& t : search::piece_times(frames, ms, offset)) out.emplace_back(t.start_ms, t.end_ms);
  return out;
}
using list = std::vector<std::pair<extent, extent>>;
// The first lines are those of a golden case of the original (80 ms frames).
TEST(piece_times, ends_at_its_frame_and_begins_100_ms_before) {
  EXPECT_EQ(placed({0, 1, 3, 4, 6}, 80), (list{{0, 0}, {0, 80}, {140, 240}, {240, 320}, {380, 480}}));
}
TEST(piece_times, near_neighbours_share_the_middle) {
  EXPECT_EQ(placed({10, 12}, 40), (list{{300, 440}, {440, 480}}));
  EXPECT_EQ(placed({10, 13}, 40), (list{{300, 400}, {420, 520}}));  // 120 ms apart: nothing to share
}
TEST(piece_times, offset_and_nothing) {
  EXPECT_EQ(placed({1}, 40, 5000), (list{{5000, 5040}}));
  EXPECT_TRUE(placed({}, 40).empty());
}

}  // namespace piece_times_test
