// SPDX-License-Identifier: Apache-2.0
#include <steno/core/view.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace view_test {

using namespace steno;

float sum(const view<const float, dynamic, 3>& x) { return x.sum(); }
using narrow = view<const float, dynamic, 2>;
using wide = view<const float, dynamic, 3>;
static_assert(std::is_convertible_v<view<float, dynamic, 3>&, wide>);
static_assert(std::is_convertible_v<view<float>&, wide>);  // checked at run time
static_assert(!std::is_convertible_v<narrow&, wide>);
static_assert(!std::is_constructible_v<view<float, dynamic, 3>, wide&>);  // const stays const
static_assert(!std::is_constructible_v<wide, Eigen::MatrixXf&>);          // column-major
TEST(view, users_matrices_and_blocks_of_rows_go_in) {
  matrix<float, dynamic, dynamic> m(4, 3);
  m.setConstant(2);
  EXPECT_EQ(sum(m), 24);
  EXPECT_EQ(sum(m.middleRows(1, 2)), 12);
  view<float, dynamic, 3> v(m);
  v.row(0).setZero();
  EXPECT_EQ(m(0, 1), 0);
  EXPECT_EQ(sum(v), 18);
}

TEST(view, column_blocks_keep_the_distance_between_rows) {
  float data[12];
  for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
  auto whole = core::make_view<dynamic, 4>(data, 3, 4);
  const view<const float> part = whole.leftCols(2);
  EXPECT_EQ(part.outerStride(), 4);
  EXPECT_EQ(part(2, 1), 9);
}

TEST(view, assignment_copies_values) {
  std::vector<float> a(64, 1.0f), b(64, 3.0f);
  auto x = core::make_view(a.data(), 8, 8), y = core::make_view(b.data(), 8, 8);
  x = y;
  EXPECT_EQ(a[0], 3);
  EXPECT_EQ(x.data(), a.data());
  x.noalias() = 2.0f * y;
  EXPECT_EQ(a[63], 6);
}

}  // namespace view_test
