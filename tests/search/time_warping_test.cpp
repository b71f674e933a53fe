// SPDX-License-Identifier: Apache-2.0
#include <steno/search/time_warping.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace time_warping_test {

using namespace steno;

using cells = std::vector<std::pair<extent, extent>>;

TEST(time_warping, the_path_follows_what_is_cheap) {
  matrix<float, dynamic, dynamic> cost(3, 5);
  cost << -9, -9, 1, 1, 1,  //
      1, 1, -9, 1, 1,       //
      1, 1, 1, -9, -9;
  EXPECT_EQ(search::warp(cost), (cells{{0, 0}, {0, 1}, {1, 2}, {2, 3}, {2, 4}}));
  EXPECT_TRUE(search::warp(matrix<float, dynamic, dynamic>(0, 5)).empty());
  cost.setZero();  // all equal: along the frames first, seen from the end
  EXPECT_EQ(search::warp(cost).front(), (std::pair<extent, extent>{0, 0}));
  EXPECT_EQ(search::warp(cost).back(), (std::pair<extent, extent>{2, 4}));
  cost.setConstant(NAN);  // still a path through both corners
  EXPECT_EQ(search::warp(cost).back(), (std::pair<extent, extent>{2, 4}));
}

// Against all paths, of which there are few for a small matrix.
TEST(time_warping, no_path_is_cheaper) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int round = 0; round < 20; ++round) {
    matrix<float, dynamic, dynamic> cost(4, 6);
    for (extent i = 0; i < cost.size(); ++i) cost.data()[i] = normal(random);
    double best = 1e9;
    const auto search = [&](auto&& self, extent i, extent j, double sum) -> void {
      sum += static_cast<double>(cost(i, j));
      if (i == 3 && j == 5) best = std::min(best, sum);
      if (i < 3) self(self, i + 1, j, sum);
      if (j < 5) self(self, i, j + 1, sum);
      if (i < 3 && j < 5) self(self, i + 1, j + 1, sum);
    };
    search(search, 0, 0, 0);
    double found = 0;
    for (const auto& [i, j] : search::warp(cost)) found += static_cast<double>(cost(i, j));
    EXPECT_NEAR(found, best, 1e-5);  // float sums of nine costs
  }
}

TEST(time_warping, median_of_seven_with_reflected_ends) {
  std::vector<float> row{5, 1, 9, 2, 8, 3, 7}, room;
  search::median_filter(row.data(), 7, 7, room);
  // Around the first: 2 9 1 | 5 | 1 9 2 -> 1 1 2 2 5 9 9.
  EXPECT_EQ(row[0], 2);
  EXPECT_EQ(row[3], 5);  // all of them
  std::vector<float> few{3, 1, 2};
  search::median_filter(few.data(), 3, 7, room);
  EXPECT_EQ(few, (std::vector<float>{3, 1, 2}));
  std::vector<float> broken{1, NAN, 2, NAN, 3, 4, 5, 6};
  search::median_filter(broken.data(), 8, 7, room);  // what is not a number is the largest
  EXPECT_EQ(broken[4], 5);
}

}  // namespace time_warping_test
