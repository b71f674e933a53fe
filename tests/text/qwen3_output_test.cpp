// SPDX-License-Identifier: Apache-2.0
#include <steno/text/qwen3_output.hpp>

#include <gtest/gtest.h>

namespace qwen3_output_test {

using namespace steno;

TEST(qwen3_output, language_and_text) {
  EXPECT_EQ(text::parse_qwen3_output(" language gErman<asr_text> Hallo \n").language, "German");
  EXPECT_EQ(text::parse_qwen3_output(" language gErman<asr_text> Hallo \n").text, "Hallo");
  EXPECT_EQ(text::parse_qwen3_output("language None<asr_text>").text, "");
  EXPECT_EQ(text::parse_qwen3_output("no tag").text, "no tag");
  EXPECT_EQ(text::parse_qwen3_output("x<asr_text>y", "English").text, "x<asr_text>y");
  EXPECT_EQ(text::parse_qwen3_output("\xe3\x80\x80 \n", "English").language, "");
}

TEST(qwen3_output, repetitions_become_one) {
  const std::string a(25, 'a');
  EXPECT_EQ(text::fix_repetitions(a), "a");
  EXPECT_EQ(text::fix_repetitions(std::string(20, 'a')), std::string(20, 'a'));
  std::string pairs = "x";
  for (int i = 0; i < 20; ++i) pairs += "\xe4\xbd\xa0\xe5\xa5\xbd";
  EXPECT_EQ(text::fix_repetitions(pairs + "y"), "x\xe4\xbd\xa0\xe5\xa5\xbdy");
  EXPECT_EQ(text::fix_repetitions("abab"), "abab");
}

TEST(qwen3_output, languages_of_parts_are_merged) {
  EXPECT_EQ(text::merge_languages({"", "English", " ", "English", "Chinese"}), "English,Chinese");
  EXPECT_EQ(text::normal_language(" cHINese "), "Chinese");
  EXPECT_EQ(text::normal_language("  "), "");
}

}  // namespace qwen3_output_test
