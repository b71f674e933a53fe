// Lines of a list of hotwords.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/hotword.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/refusal.hpp"

namespace hotword_test {

using namespace steno;

TEST(hotword, a_line_is_a_phrase_or_a_phrase_with_a_weight) {
  EXPECT_EQ(core::parse_hotword("new york"), core::hotword("new york"));
  EXPECT_EQ(core::parse_hotword("  new york \r"), core::hotword("new york"));
  EXPECT_EQ(core::parse_hotword("new york\t2.5"), core::hotword("new york", 2.5f));
  EXPECT_EQ(core::parse_hotword("new york \t 0.01 "), core::hotword("new york", 0.01f));
  EXPECT_EQ(core::parse_hotword(" \t \r"), std::nullopt);
  EXPECT_EQ(core::parse_hotword("paris\t"), core::hotword("paris"));
  const std::vector<core::hotword> list = {"a b", std::string("c")};
  EXPECT_EQ(list[0].phrase, "a b");
  EXPECT_EQ(list[1].weight, 1);
}

TEST(hotword, what_is_no_weight_is_refused) {
  for (const char* line : {"a\tb", "a\t0", "a\t-1", "a\t1000", "a\tnan", "a\tinf", "a\t1x", "a\tb\t2"})
    EXPECT_NE(test::refusal([&] { (void)core::parse_hotword(line); }).find("0.01 to 100"), std::string::npos) << line;
  EXPECT_NE(test::refusal([&] { (void)core::parse_hotword(std::string(2000, 'a')); }).find("too long"),
            std::string::npos);
}

}  // namespace hotword_test
