// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/qwen_tokens.hpp>

#include <gtest/gtest.h>

namespace qwen_tokens_test {

using namespace steno;

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t n = tokenizers::qwen2_piece(text);
    all.emplace_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return all;
}
using list = std::vector<std::string>;

// Bytes a .. z, two pairs, and added tokens.
tokenizers::qwen_tokens small() {
  list tokens;
  std::vector<int> types;
  for (char c = 'a'; c <= 'z'; ++c) tokens.emplace_back(1, c);
  tokens.insert(tokens.end(), {"ab", "abc", "\xc4\xa0", "<|end|>", "<|end|>x", "<tag>", "[PAD]"});
  types.assign(29, 1);
  types.insert(types.end(), {3, 3, 4, 5});
  return {tokens, types};
}
TEST(qwen_tokens, phrases_have_a_space_in_front_but_where_a_text_begins) {
  const tokenizers::qwen_tokens t = small();
  using ids = std::vector<int>;
  EXPECT_EQ(t.split("abc"), (ids{28, 27}));
  EXPECT_EQ(t.split("  abc a "), (ids{28, 27, 28, 0}));
  EXPECT_EQ(t.split_opening(" abc a"), (ids{27, 28, 0}));
  EXPECT_EQ(t.split_opening("abc"), ids{27});
  EXPECT_EQ(t.split("ABC"), std::nullopt);  // no token has these bytes
  EXPECT_EQ(t.split(""), ids{});
  EXPECT_EQ(t.split_opening("\xe4\xbd\xa0"), std::nullopt);
}

TEST(qwen2_piece, cuts_as_the_pattern_says) {
  EXPECT_EQ(pieces("Hello world"), (list{"Hello", " world"}));
  EXPECT_EQ(pieces("don't DON'T we'LLo"), (list{"don", "'t", " DON", "'T", " we", "'LL", "o"}));
  EXPECT_EQ(pieces("a12 3"), (list{"a", "1", "2", " ", "3"}));
  EXPECT_EQ(pieces("x\r\n\n  y"), (list{"x", "\r\n\n", " ", " y"}));
  EXPECT_EQ(pieces("x  \n  \n y"), (list{"x", "  \n  \n", " y"}));
  EXPECT_EQ(pieces("\tx \t"), (list{"\tx", " \t"}));
  EXPECT_EQ(pieces("a...\n\nb ?!"), (list{"a", "...\n\n", "b", " ?!"}));
  EXPECT_EQ(pieces("(x)-y"), (list{"(x", ")-", "y"}));
  EXPECT_EQ(pieces("  a"), (list{" ", " a"}));
  EXPECT_EQ(pieces("\xff\xfe"), (list{"\xff\xfe"}));
  EXPECT_EQ(pieces("\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c"), (list{"\xe4\xbd\xa0\xe5\xa5\xbd", "\xef\xbc\x8c"}));
}

TEST(qwen_tokens, added_tokens_stand_for_themselves) {
  const tokenizers::qwen_tokens t = small();
  EXPECT_EQ(t.size(), 33);
  EXPECT_EQ(t.find("<tag>"), 31);
  EXPECT_EQ(t.find("[PAD]"), -1);
  EXPECT_EQ(t.find("ab"), -1);
  EXPECT_THROW(t.require("<|none|>"), error);
  EXPECT_EQ(t.encode("abcb<|end|>a"), (std::vector<int>{27, 1, 29, 0}));
  EXPECT_EQ(t.encode("<|end|>x<tag>"), (std::vector<int>{30, 31}));  // the longest name wins
  EXPECT_EQ(t.decode({27, 29, 31, 0}, true), "abc<tag>a");
  EXPECT_EQ(t.decode({27, 29, 31, 28}, false), "abc<|end|><tag> ");
  EXPECT_TRUE(t.is_special(29));
  EXPECT_FALSE(t.is_special(31));
  EXPECT_FALSE(t.is_special(0));
  EXPECT_EQ(t.decode({-1, 1000}, false), "");
  EXPECT_THROW(tokenizers::qwen_tokens({"a", "b"}, {1}), error);
}

}  // namespace qwen_tokens_test
