// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/rotary.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rotary_test {

using namespace steno;

std::vector<float> turned(const std::vector<float>& x, extent first, extent row, double theta) {
  context c;
  core::workspace::frame frame(c.scratch);
  const auto width = static_cast<extent>(x.size());
  nn::kv_sequences rows;
  rows.extend(first);
  rows.extend(row + 1);
  const nn::rotary_angles angles(rows, width, theta, frame, c.run);
  std::vector<float> y(x.size());
  angles.turn(x.data(), row, y.data());
  std::vector<float> same = x;
  angles.turn(same.data(), row, same.data());
  EXPECT_EQ(same, y);
  return y;
}
// 2e-5: angles up to 40 are single precision, as the original's.
TEST(rotary_angles, halves_are_turned_against_each_other) {
  test::random_numbers random(5);
  for (const extent width : {2, 16, 24, 32, 128}) {
    const auto x = random.vector(static_cast<std::size_t>(width));
    const auto y = turned(x, 33, 7, 1e6);
    for (extent i = 0; i < width / 2; ++i) {
      const double a = 40 * std::pow(1e6, -2.0 * static_cast<double>(i) / static_cast<double>(width));
      const auto p = static_cast<std::size_t>(i), q = static_cast<std::size_t>(i + width / 2);
      const double u = static_cast<double>(x[p]), v = static_cast<double>(x[q]);
      EXPECT_NEAR(static_cast<double>(y[p]), u * std::cos(a) - v * std::sin(a), 2e-5);
      EXPECT_NEAR(static_cast<double>(y[q]), v * std::cos(a) + u * std::sin(a), 2e-5);
    }
  }
}

TEST(rotary_angles, scores_depend_on_distances_alone) {
  test::random_numbers random(6);
  const auto q = random.vector(32), k = random.vector(32);
  const auto score = [&](extent at_q, extent at_k) {
    const auto a = turned(q, at_q, 0, 10000), b = turned(k, at_k, 0, 10000);
    double sum = 0;
    for (std::size_t i = 0; i < 32; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  // 1e-4: angles of positions near 100 in single precision.
  EXPECT_NEAR(score(9, 4), score(105, 100), 1e-4);
  EXPECT_GT(std::abs(score(9, 4) - score(9, 8)), 1e-2);
}

}  // namespace rotary_test
