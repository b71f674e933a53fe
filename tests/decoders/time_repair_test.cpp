#include <steno/decoders/time_repair.hpp>

#include <gtest/gtest.h>

using namespace steno;

TEST(repair_times, what_goes_back_is_repaired) {
  using list = std::vector<long>;
  EXPECT_EQ(repair_times({}), list{});
  EXPECT_EQ(repair_times({80, 160, 160, 240}), (list{80, 160, 160, 240}));
  EXPECT_EQ(repair_times({80, 800, 160, 240, 320}), (list{80, 80, 160, 240, 320}));         // one: the nearer, first
  EXPECT_EQ(repair_times({80, 160, 0, 0, 240, 320}), (list{80, 160, 160, 240, 240, 320}));  // two: each its nearer
  EXPECT_EQ(repair_times({0, 100, 9, 8, 7, 200, 300, 400}), (list{0, 100, 125, 150, 175, 200, 300, 400}));  // spread
  EXPECT_EQ(repair_times({900, 800, 80, 160, 240}), (list{80, 80, 80, 160, 240}));  // nothing before
  EXPECT_EQ(repair_times({80, 160, 240, 1, 2, 3}).size(), 6u);
}
