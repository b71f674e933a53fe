// SPDX-License-Identifier: Apache-2.0
#include "convert/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

using namespace steno;

namespace {

template <class T>
void expect_the_same(const std::string& text) {
  T ours = 7, theirs = 7;
  const auto a = detail::float_by_c(std::string_view(text), ours);
  const auto b = read_number(std::string_view(text), theirs);
  EXPECT_EQ(a.ec, b.ec) << text;
  EXPECT_EQ(a.ptr, b.ptr) << text;
  if (std::isnan(theirs))
    EXPECT_TRUE(std::isnan(ours)) << text;
  else
    EXPECT_EQ(ours, theirs) << text;
}

}  // namespace

// With libstdc++, read_number() is std::from_chars(); elsewhere this compares the function with itself.
TEST(number_text, the_c_library_reads_what_the_standard_library_does) {
  for (const char* text : {"",
                           "0",
                           "-0",
                           "1",
                           "+1",
                           "-+1",
                           "--1",
                           " 1",
                           "1 ",
                           "- 1",
                           "1.5",
                           ".5",
                           "5.",
                           ".",
                           "-.5e-3",
                           "1e3",
                           "1e",
                           "1e+",
                           "e3",
                           "0x",
                           "0x1p",
                           "0x1p3",
                           "1x",
                           "inf",
                           "-inf",
                           "infinity",
                           "nan",
                           "-nan",
                           "nan(",
                           "1e999",
                           "-1e999",
                           "1e-999",
                           "1e-40",
                           "1e-310",
                           "1.2.3",
                           "1,5",
                           "one",
                           "3e-2abc",
                           "\t1",
                           "1\n2",
                           "0.1",
                           "16777217",
                           "9007199254740993",
                           "123456789012345678901234567890",
                           "00.5",
                           "-"}) {
    expect_the_same<float>(text);
    expect_the_same<double>(text);
  }
  std::mt19937 rng(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    const auto length = 1 + rng() % 12;
    for (std::size_t k = 0; k < length; ++k) text += "0123456789.-+eE"[rng() % 15];
    expect_the_same<double>(text);
    expect_the_same<float>(text);
  }
}

TEST(number_text, the_shortest_text_is_the_number_again) {
  for (const double d : {0.0, 1.0, -1.5, 0.1, 1e-5, 1e300, 2.0 / 3, 1e22, 123456789.0, 5e-324}) {
    double again = 1;
    EXPECT_TRUE(is_number(number_text(d), again));
    EXPECT_EQ(again, d);
    EXPECT_TRUE(is_number(detail::shortest_by_c(d), again));
    EXPECT_EQ(again, d);
    EXPECT_LE(detail::shortest_by_c(d).size(), number_text(d).size() + 2) << d;
  }
  EXPECT_EQ(number_text(1e-5f), "1e-05");
  EXPECT_EQ(detail::shortest_by_c(1e-5f), "1e-05");
  EXPECT_EQ(detail::shortest_by_c(0.1f), "0.1");
}

TEST(number_text, the_whole_of_a_text_is_a_number_or_it_is_none) {
  double d = 0;
  int i = 0;
  EXPECT_TRUE(is_number("0.25", d));
  EXPECT_EQ(d, 0.25);
  EXPECT_FALSE(is_number("0.25 ", d));
  EXPECT_TRUE(is_number("-12", i));
  EXPECT_EQ(i, -12);
  EXPECT_FALSE(is_number("1.5", i));
}
