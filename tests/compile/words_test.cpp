// The words of the headers are the field's (docs/vocabulary.md): none of ours in names, comments and messages.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sources.hpp"

namespace words_test {
namespace {

using steno::test::source;

const std::set<std::string>& words_of_our_own() {
  static const std::set<std::string> all = {"hear",   "hears", "heard",   "hearing", "said", "told",
                                            "tell",   "tells", "telling", "ask",     "asks", "asked",
                                            "asking", "sure",  "most",    "some",    "past"};
  return all;
}

// Runs of letters count, so that the parts of `told_` and `at_most` are words, too, in capitals or not.
std::vector<std::string> offences(const source& s) {
  std::vector<std::string> found;
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t i = 0; i < s.text.size(); ++i) {
    if (!is_letter(s.text[i])) continue;
    const std::size_t begin = i;
    std::string word;
    for (; i < s.text.size() && is_letter(s.text[i]); ++i)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(s.text[i])));
    if (words_of_our_own().contains(word))
      found.push_back(s.name + ":" + std::to_string(steno::test::line_of(s.text, begin)) + ": " + word);
  }
  return found;
}

std::size_t count(const char* text) { return offences({"steno/layers/x.hpp", text}).size(); }

}  // namespace

TEST(words, headers_have_the_fields_own) {
  const auto sources = steno::test::headers();
  ASSERT_GT(sources.size(), 100u) << "the headers were not found";
  std::vector<std::string> all;
  for (const source& s : sources) {
    const auto found = offences(s);
    all.insert(all.end(), found.begin(), found.end());
  }
  EXPECT_TRUE(all.empty()) << all.size() << " words that docs/vocabulary.md has no place for:\n"
                           << steno::test::joined(all);
}

TEST(words, the_check_itself_finds_each) {
  for (const std::string& w : words_of_our_own()) EXPECT_EQ(count(("int " + w + ";").c_str()), 1u) << w;
  EXPECT_EQ(count("// Most of it is told.\n"), 2u);
  EXPECT_EQ(count("fail(\"expected at most 3\");\n"), 1u);
  EXPECT_EQ(count("extent heard_ms = 0, at_most = 1;\nstruct whisper_heard;\nclass Past;\n"), 4u);
  EXPECT_EQ(offences({"a.hpp", "\n\nint sure;\n"}), std::vector<std::string>{"a.hpp:3: sure"});
}

TEST(words, the_check_itself_lets_the_rest_pass) {
  EXPECT_EQ(
      count("// The leftmost task measures something; a mask is almost pasted.\nauto m = _mm512_maskz_loadu_ps;\n"),
      0u);
  EXPECT_EQ(count("std::span<const float> log_probabilities;\nextent max_tokens;\n"), 0u);
}

}  // namespace words_test
