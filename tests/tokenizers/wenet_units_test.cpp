// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/wenet_units.hpp>

#include <gtest/gtest.h>

namespace wenet_units_test {

using namespace steno;

// U+2581, U+65E5, U+672C
const std::string space = "\xe2\x96\x81", sun = "\xe6\x97\xa5", book = "\xe6\x9c\xac";
tokenizers::wenet_units units(bool pieces = false) {
  return tokenizers::wenet_units({"<blank>", "<unk>", "<sos/eos>", space, "A", "b", sun, book, sun + book, space + "go",
                                  space + "g", "o", "<context>"},
                                 pieces);
}
TEST(wenet_units, three_readings) {
  const tokenizers::wenet_units u = units();
  const std::vector<int> ids = {3, 4, 5, 3, 3, 6, 1, 12, 9, 3};
  EXPECT_EQ(u.raw(ids), space + "Ab" + space + space + sun + "<unk><context>" + space + "go" + space);
  EXPECT_EQ(u.text(ids), "Ab " + sun + " go");
  EXPECT_EQ(u.sentence(ids), "ab " + sun + " go");
  EXPECT_EQ(units(true).raw(std::vector<int>{9, 11, 3, 6}), "goo " + sun);
  EXPECT_EQ(u.raw(std::vector<int>{-1, 99}), "");
}
TEST(wenet_units, phrases_take_the_longest_units) {
  const tokenizers::wenet_units u = units();
  EXPECT_EQ(u.split(sun + book + book), (std::vector<int>{8, 7}));
  EXPECT_EQ(u.split("go"), (std::vector<int>{9}));                // at a beginning with U+2581
  EXPECT_EQ(u.split("oo g"), (std::vector<int>{3, 11, 11, 10}));  // or that alone before it
  EXPECT_EQ(u.split(sun + " " + book), (std::vector<int>{6, 7}));
  EXPECT_EQ(u.split("x" + sun), std::nullopt);
  EXPECT_EQ(u.split(sun + "?"), std::nullopt);
  EXPECT_EQ(u.split(""), std::vector<int>{});
  // U+2581 with a byte too many is no mark that was put before a word: it once was one again and again.
  EXPECT_EQ(u.split("\xe2\x96\x81\x81"), std::nullopt);
}

}  // namespace wenet_units_test
