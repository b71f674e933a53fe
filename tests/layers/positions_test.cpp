// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/positions.hpp>

#include <gtest/gtest.h>

namespace positions_test {

using namespace steno;

// 3e-7 of the angle: sine and cosine of a float product, one rounding of it.
TEST(positions, sine_and_cosine_side_by_side_at_any_position) {
  for (const extent first : {0, 7, 4999, 250000}) {
    matrix<float, dynamic, dynamic> y(3, 8);
    context c;
    nn::write_positions(first, y, c);
    for (extent t = 0; t < 3; ++t)
      for (extent i = 0; i < 4; ++i) {
        const double angle = static_cast<double>(first + t) * std::pow(10000.0, -2.0 * static_cast<double>(i) / 8);
        EXPECT_NEAR(static_cast<double>(y(t, 2 * i)), std::sin(angle), 3e-7 * (1 + angle));
        EXPECT_NEAR(static_cast<double>(y(t, 2 * i + 1)), std::cos(angle), 3e-7 * (1 + angle));
      }
  }
}
TEST(positions, rows_do_not_depend_on_where_a_call_begins) {
  matrix<float, dynamic, dynamic> all(40, 6), part(5, 6);
  context c;
  nn::write_positions(0, all, c);
  nn::write_positions(20, part, c);
  EXPECT_EQ(part, all.middleRows(20, 5));
}

}  // namespace positions_test
