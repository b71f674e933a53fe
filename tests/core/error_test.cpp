// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace error_test {

using steno::core::printable;

TEST(printable, keeps_text_and_shows_control_characters) {
  EXPECT_EQ(printable("encoder.0: \xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80"),
            "encoder.0: \xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("a\n\tb\x1b]0;title\x07"), "a\\x0a\\x09b\\x1b]0;title\\x07");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // C1 in UTF-8: a terminal's "erase the screen"
  EXPECT_EQ(printable("\x9b"
                      "2J"),
            "\\x9b2J");  // and as a byte of its own
}

TEST(printable, shows_what_is_no_utf8) {
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");           // a line break in two bytes
  EXPECT_EQ(printable("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");  // C1 in three
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80x"), "\\xf4\\x90\\x80\\x80x");
  EXPECT_EQ(printable("\xff\xc2\xa0"), "\\xff\xc2\xa0");
}

TEST(error, is_one_line_whatever_a_file_says) {
  const steno::error e({.where = "a\nb.gguf", .what = "tensor \"x\x1b[2J\"", .found = "\r\n"});
  EXPECT_STREQ(e.what(), "a\\x0ab.gguf: tensor \"x\\x1b[2J\": found \\x0d\\x0a");
  EXPECT_EQ(e.parts().where, "a\nb.gguf");
}

}  // namespace error_test
