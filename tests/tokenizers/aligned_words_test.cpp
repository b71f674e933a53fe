// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/aligned_words.hpp>

#include <gtest/gtest.h>

namespace aligned_words_test {

using namespace steno;

using strings = std::vector<std::string>;

TEST(aligned_words, letters_stay_and_ideographs_stand_alone) {
  EXPECT_EQ(tokenizers::aligned_words(""), strings());
  EXPECT_EQ(tokenizers::aligned_words("Don't stop -- it's 9:30!"), strings({"Don't", "stop", "it's", "930"}));
  EXPECT_EQ(tokenizers::aligned_words("\u4f60\u597d, world\u4e16"), strings({"\u4f60", "\u597d", "world", "\u4e16"}));
}

// What soynlp 0.0.493 with equal scores does: the longest beginning that is known, or the whole word.
TEST(aligned_words, korean_words_are_cut_behind_known_beginnings) {
  const strings known = {"\uad6d\ubbfc", "\uad6d\ubbfc\ud559\uad50", "\ud558", "\ud559\uad50", "\ud559\uad50\uc5d0"};
  ASSERT_TRUE(std::is_sorted(known.begin(), known.end()));
  // Two characters stay together; three and more are cut.
  EXPECT_EQ(tokenizers::aligned_korean_words("\ud559\uad50", known), strings({"\ud559\uad50"}));
  EXPECT_EQ(tokenizers::aligned_korean_words("\ud559\uad50\uc5d0\uc11c \uad6d\ubbfc\uc740,", known),
            strings({"\ud559\uad50\uc5d0", "\uc11c", "\uad6d\ubbfc", "\uc740"}));
  EXPECT_EQ(tokenizers::aligned_korean_words(" \uad6d\ubbfc\ud559\uad50\ub97c  ", known),
            strings({"\uad6d\ubbfc\ud559\uad50", "\ub97c"}));
  // One character is never a beginning; what is not known stays whole; marks alone vanish.
  EXPECT_EQ(tokenizers::aligned_korean_words("\ud558\ub2e4\uac00 ... ok?", known),
            strings({"\ud558\ub2e4\uac00", "ok"}));
  EXPECT_EQ(tokenizers::aligned_korean_words("\uad6d\ubbfc!\uc740", {}), strings({"\uad6d\ubbfc\uc740"}));
  EXPECT_EQ(tokenizers::aligned_korean_words("", known), strings());
}

// Where the script changes a word ends; the original's own network would cut runs of hiragana further.
TEST(aligned_words, japanese_words_end_where_the_script_changes) {
  EXPECT_EQ(tokenizers::aligned_japanese_words("\u5b66\u6821\u306b\u884c\u304d\u307e\u3057\u305f\u3002"),
            strings({"\u5b66\u6821", "\u306b", "\u884c", "\u304d\u307e\u3057\u305f"}));
  EXPECT_EQ(tokenizers::aligned_japanese_words("\u30b3\u30fc\u30d2\u30fc\u3092NHK\u30fb2024\u5e74 \u4eba\u3005"),
            strings({"\u30b3\u30fc\u30d2\u30fc", "\u3092", "NHK", "2024", "\u5e74", "\u4eba\u3005"}));
  EXPECT_EQ(tokenizers::aligned_japanese_words("\u3089\u30fc\u3081\u3093\u3001it's"),
            strings({"\u3089\u30fc\u3081\u3093", "it's"}));
  EXPECT_EQ(tokenizers::aligned_japanese_words("\u3001 \u3002\xff"), strings());
}

}  // namespace aligned_words_test
