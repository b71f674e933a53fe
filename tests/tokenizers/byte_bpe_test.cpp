// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/byte_bpe.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace byte_bpe_test {

using namespace steno;

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t n = tokenizers::gpt2_piece(text);
    all.emplace_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return all;
}

/// Every byte, then a few unions.
tokenizers::byte_bpe small() {
  std::vector<std::string> letters;
  const auto put = [&](unsigned c) {
    std::string s;
    if (c < 0x80) {
      s += static_cast<char>(c);
    } else {
      s += static_cast<char>(0xc0 | c >> 6);
      s += static_cast<char>(0x80 | (c & 0x3f));
    }
    letters.push_back(s);
  };
  for (unsigned c = 0x21; c <= 0x7e; ++c) put(c);
  for (unsigned c = 0xa1; c <= 0xff; ++c)
    if (c != 0xad) put(c);
  for (unsigned c = 0x100; c <= 0x143; ++c) put(c);
  for (const char* u : {"ab", "bc", "aa", "abc",
                        "\xc4\xa0"
                        "a",
                        ""})
    letters.push_back(u);
  return tokenizers::byte_bpe(letters);
}

std::vector<std::string> tokens(const tokenizers::byte_bpe& b, std::string_view text) {
  std::vector<std::string> all;
  for (const int id : b.encode(text)) all.emplace_back(b.bytes(id));
  return all;
}

using list = std::vector<std::string>;

TEST(byte_bpe, pieces_of_the_pattern) {
  EXPECT_EQ(pieces("Hello world"), (list{"Hello", " world"}));
  EXPECT_EQ(pieces("it's we'll 'tis"), (list{"it", "'s", " we", "'ll", " '", "tis"}));
  EXPECT_EQ(pieces("a1 22b!? ..."), (list{"a", "1", " 22", "b", "!?", " ..."}));
  EXPECT_EQ(pieces("a   b\n\n c \t"), (list{"a", "  ", " b", "\n\n", " c", " \t"}));
  EXPECT_EQ(pieces("\xc3\xa9t\xc3\xa9 \xe4\xb8\xad\xe6\x96\x87"),
            (list{"\xc3\xa9t\xc3\xa9", " \xe4\xb8\xad\xe6\x96\x87"}));
  EXPECT_EQ(pieces("\xe3\x80\x80x"), (list{"\xe3\x80\x80", "x"}));  // an ideographic space
  EXPECT_EQ(pieces("\xff\xfe z"), (list{"\xff\xfe", " z"}));        // not UTF-8: symbols
}

TEST(byte_bpe, joins_the_lowest_number_first_and_the_leftmost_of_equals) {
  const tokenizers::byte_bpe b = small();
  EXPECT_EQ(b.size(), 262);
  EXPECT_EQ(tokens(b, "abc"), (list{"abc"}));
  EXPECT_EQ(tokens(b, "aab"), (list{"a", "ab"}));      // ab before aa
  EXPECT_EQ(tokens(b, "abcbc"), (list{"abc", "bc"}));  // ab, bc, then abc
  EXPECT_EQ(tokens(b, "aaa"), (list{"aa", "a"}));
  EXPECT_EQ(tokens(b, "x ab"), (list{"x", " ", "ab"}));  // ab has a lower number than " a"
  EXPECT_EQ(tokens(b, "x ac"), (list{"x", " a", "c"}));
  EXPECT_TRUE(b.encode("").empty());
  std::string long_text(200000, 'a');  // one piece: quadratic time would be noticed
  EXPECT_EQ(b.encode(long_text).size(), 100000u);
}

TEST(byte_bpe, every_byte_comes_back) {
  const tokenizers::byte_bpe b = small();
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(b.decode(b.encode(all)), all);
  EXPECT_EQ(b.bytes(-1), "");
  EXPECT_EQ(b.bytes(262), "");
  EXPECT_EQ(b.find(""), -1);
  EXPECT_EQ(b.find("xyz"), -1);
  EXPECT_THROW(tokenizers::byte_bpe({"\xe4\xb8\xad"}), error);
  EXPECT_THROW(tokenizers::byte_bpe({"a b"}), error);
  EXPECT_TRUE(tokenizers::byte_bpe().encode("abc").empty());
}

TEST(unicode, replaces_what_is_not_utf8_as_python_does) {
  EXPECT_EQ(tokenizers::unicode::replace_invalid("a\xe4\xb8z"), "a\xef\xbf\xbdz");          // cut short: one
  EXPECT_EQ(tokenizers::unicode::replace_invalid("\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd");  // each stray byte
  EXPECT_EQ(tokenizers::unicode::replace_invalid("\xed\xa0\x80"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  EXPECT_EQ(tokenizers::unicode::replace_invalid("\xf0\x9f\x98"), "\xef\xbf\xbd");
  EXPECT_EQ(tokenizers::unicode::replace_invalid("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(tokenizers::unicode::strip(" \n\xc2\xa0 a b\xe3\x80\x80"), "a b");
  EXPECT_EQ(tokenizers::unicode::strip(" \t"), "");
}

}  // namespace byte_bpe_test
