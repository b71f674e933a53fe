// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/sentencepiece.hpp>

#include <gtest/gtest.h>

namespace sentencepiece_test {

using namespace steno;

tokenizers::sentencepiece make(bool dummy_prefix) {
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = {"<unk>",  "<s>",    "</s>",   "<|en|>", "\xe2\x96\x81hello", "\xe2\x96\x81wor", "ld",
              "<0xE4>", "<0xBB>", "<0x8A>", "<0xff>"};
  v.types = {2, 3, 3, 4, 1, 1, 1, 6, 6, 6, 6};
  v.add_dummy_prefix = v.remove_extra_whitespaces = dummy_prefix;
  return tokenizers::sentencepiece(v);
}
std::string decode(bool dummy_prefix, std::vector<int> ids) { return make(dummy_prefix).decode(ids); }
// Expected strings are what sentencepiece 0.1.97 gives for the same pieces.
TEST(sentencepiece, spaces_at_the_beginning_follow_the_model) {
  EXPECT_EQ(decode(true, {4, 5, 6}), "hello world");
  EXPECT_EQ(decode(false, {4, 5, 6}), " hello world");
  EXPECT_EQ(decode(true, {3, 4}), "<|en|> hello");
}

TEST(sentencepiece, control_and_unknown_pieces) {
  EXPECT_EQ(decode(true, {1, 4, 2}), "hello");
  EXPECT_EQ(decode(true, {4, 0}), "hello \xe2\x81\x87 ");
}

TEST(sentencepiece, bytes_become_utf8_or_replacement_characters) {
  EXPECT_EQ(decode(true, {7, 8, 9}), "\xe4\xbb\x8a");
  EXPECT_EQ(decode(true, {10, 6}), "\xef\xbf\xbdld");
  EXPECT_EQ(decode(true, {7, 8}), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(sentencepiece, ids_outside_of_the_vocabulary_are_nothing) { EXPECT_EQ(decode(true, {-1, 99, 4}), "hello"); }

}  // namespace sentencepiece_test
