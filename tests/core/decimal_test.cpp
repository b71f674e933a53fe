// SPDX-License-Identifier: Apache-2.0
#include <steno/core/decimal.hpp>

#include <gtest/gtest.h>

namespace decimal_test {

using steno::core::parse_decimal;
using steno::core::detail::parse_digits;

TEST(decimal, is_a_number_or_none) {
  for (const auto parse : {parse_decimal, parse_digits}) {
    EXPECT_EQ(parse("2"), 2.0);
    EXPECT_EQ(parse("0.01"), 0.01);
    EXPECT_EQ(parse("-12.75"), -12.75);
    EXPECT_EQ(parse(".5"), 0.5);
    for (const char* wrong : {"", "-", ".", "1,5", "1.2.3", "2x", " 2", "+2", "--1"})
      EXPECT_EQ(parse(wrong), std::nullopt) << wrong;
  }
  EXPECT_EQ(parse_digits("1234567890123456"), std::nullopt);
}

}  // namespace decimal_test
