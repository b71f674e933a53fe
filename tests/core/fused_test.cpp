// SPDX-License-Identifier: Apache-2.0
#include <steno/core/fused.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace fused_test {

using steno::core::fused_multiply_add;

// (1 + 2^-20) (1 - 2^-20) = 1 - 2^-40: beside 2^24, double holds 1 of it, which is half-way between two floats.
TEST(fused_multiply_add, rounds_once) {
  EXPECT_EQ(fused_multiply_add(0x1.00001p0f, 0x1.ffffep-1f, 0x1.000002p24f), 0x1.000002p24f);
  EXPECT_EQ(fused_multiply_add(-0x1.00001p0f, 0x1.ffffep-1f, 0x1.000002p24f), 0x1.000002p24f);
  EXPECT_EQ(fused_multiply_add(0x1.00001p0f, -0x1.ffffep-1f, -0x1.000002p24f), -0x1.000002p24f);
  EXPECT_EQ(fused_multiply_add(1.0f, 1.0f, 0x1.000002p24f), 0x1.000004p24f);  // half-way: to even
  EXPECT_EQ(fused_multiply_add(0x1.000002p0f, 0x1.000002p0f, 0.0f), 0x1.000004p0f);
  EXPECT_EQ(fused_multiply_add(3.0f, -2.0f, 6.0f), 0.0f);
}

TEST(fused_multiply_add, of_what_is_not_finite) {
  constexpr float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fused_multiply_add(infinite, 2.0f, 1.0f), infinite);
  EXPECT_EQ(fused_multiply_add(2.0f, 1.0f, -infinite), -infinite);
  EXPECT_NE(fused_multiply_add(infinite, 2.0f, -infinite), fused_multiply_add(infinite, 2.0f, -infinite));
  EXPECT_EQ(fused_multiply_add(0x1p127f, 4.0f, 0.0f), infinite);
}

}  // namespace fused_test
