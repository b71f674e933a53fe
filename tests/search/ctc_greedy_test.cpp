// SPDX-License-Identifier: Apache-2.0
#include <steno/search/ctc_greedy.hpp>

#include <gtest/gtest.h>

namespace ctc_greedy_test {

using namespace steno;

TEST(ctc_greedy, collapses_runs_and_drops_blanks) {
  const int best[] = {0, 2, 2, 0, 2, 1, 1, 0};
  float scores[8][3] = {};
  for (int t = 0; t < 8; ++t) scores[t][best[t]] = 1;
  std::vector<search::ctc_token> out;
  search::ctc_greedy(core::make_view(static_cast<const float*>(&scores[0][0]), 8, 3), 0, out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].id, 2);
  EXPECT_EQ(out[0].start, 1);
  EXPECT_EQ(out[0].end, 3);
  EXPECT_EQ(out[1].id, 2);
  EXPECT_EQ(out[1].start, 4);
  EXPECT_EQ(out[2].id, 1);
  EXPECT_EQ(out[2].end, 7);
}

TEST(ctc_greedy, no_frames_and_only_blanks_are_empty) {
  std::vector<search::ctc_token> out{{1, 2, 3}};
  search::ctc_greedy(core::make_view(static_cast<const float*>(nullptr), 0, 3), 0, out);
  EXPECT_TRUE(out.empty());
  const float quiet[4] = {1, 0, 1, 0};
  search::ctc_greedy(core::make_view(quiet, 2, 2), 0, out);
  EXPECT_TRUE(out.empty());
}

}  // namespace ctc_greedy_test
