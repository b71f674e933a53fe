// Where texts of segments are joined by a space, by script.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/scripts.hpp>

#include <gtest/gtest.h>

namespace scripts_test {

using steno::tokenizers::wants_space_between;

TEST(scripts, words_of_scripts_with_spaces_are_kept_apart) {
  EXPECT_TRUE(wants_space_between("one", "two"));
  EXPECT_TRUE(wants_space_between("one.", "Two"));
  EXPECT_TRUE(wants_space_between("caf\u00e9", "\u00e9t\u00e9"));                                  // accented
  EXPECT_TRUE(wants_space_between("\u043f\u0440\u0438\u0432\u0435\u0442", "\u043c\u0438\u0440"));  // Cyrillic
  EXPECT_TRUE(wants_space_between("\uc548\ub155", "\ud558\uc138\uc694"));                          // Hangul
  EXPECT_TRUE(wants_space_between("\u0645\u0631\u062d\u0628\u0627", "\u0628\u0643\u0645"));        // Arabic
}

TEST(scripts, han_kana_and_thai_are_not) {
  EXPECT_FALSE(wants_space_between("\u4f60\u597d", "\u4e16\u754c"));
  EXPECT_FALSE(wants_space_between("\u4f60\u597d\u3002", "\u4e16\u754c"));
  EXPECT_FALSE(wants_space_between("\u4f60\u597d\uff0c", "ok"));
  EXPECT_FALSE(wants_space_between("ok", "\u4e16\u754c"));
  EXPECT_FALSE(wants_space_between("\U00020000", "a"));  // four bytes
  EXPECT_FALSE(wants_space_between("\u3053\u3093", "\u306b\u3061"));
  EXPECT_FALSE(wants_space_between("\u0e2a\u0e27", "\u0e31\u0e2a"));
}

TEST(scripts, white_space_and_nothing_are_enough) {
  EXPECT_FALSE(wants_space_between("", "a"));
  EXPECT_FALSE(wants_space_between("a", ""));
  EXPECT_FALSE(wants_space_between("a ", "b"));
  EXPECT_FALSE(wants_space_between("a", "\nb"));
  EXPECT_FALSE(wants_space_between("a\u3000", "b"));
}

// Bytes that are no character count as letters of their own.
TEST(scripts, broken_bytes_are_letters) {
  EXPECT_TRUE(wants_space_between("a\x80", "b"));
  EXPECT_TRUE(wants_space_between("\x80\x80\x80\x80\x80", "\xe4\xb8"));
}

}  // namespace scripts_test
