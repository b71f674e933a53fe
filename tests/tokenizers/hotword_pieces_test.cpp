// Hotwords as ids: the dictionary, characters, words that nobody knows; text in lower case.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/hotword_pieces.hpp>

#include "support/refusal.hpp"

#include <gtest/gtest.h>

namespace hotword_pieces_test {

using steno::tokenizers::hotword_pieces;
namespace unicode = steno::tokenizers::unicode;

using ids = std::vector<int>;
const std::vector<std::string> tokens = {"<blank>", "<s>",  "</s>", "\xe5\x8c\x97", "\xe4\xba\xac",
                                         "fe@@",    "llow", "3",    "one",          "<unk>"};
const std::vector<std::string> dictionary = {"\xe5\x8c\x97 \xe5\x8c\x97",
                                             "fellow fe@@ llow",
                                             "\xe4\xba\xac \xe4\xba\xac",
                                             "caf\xc3\xa9 one",
                                             "twice llow",
                                             "twice one",
                                             "nothing",
                                             "new one gone"};
const hotword_pieces with(tokens, dictionary), without(tokens, std::nullopt);

TEST(hotword_pieces, words_of_the_dictionary) {
  EXPECT_EQ(with.split("fellow"), (ids{5, 6}));
  EXPECT_EQ(with.split("FELLOW fellow"), (ids{5, 6, 5, 6}));
  EXPECT_EQ(with.split(" \t\xe3\x80\x80"
                       "fellow\n"),
            (ids{5, 6}));  // U+3000 is white space
  EXPECT_EQ(with.split("CAF\xc3\x89"), (ids{8}));
  EXPECT_EQ(with.split("twice"), (ids{8}));   // the last entry of a word counts
  EXPECT_EQ(with.split("nothing"), ids{});    // an entry without pieces
  EXPECT_EQ(with.split("new"), (ids{8, 9}));  // a piece that is no token
  EXPECT_EQ(with.split(" "), ids{});
}

TEST(hotword_pieces, characters_and_words_that_are_unknown) {
  EXPECT_EQ(with.split("\xe5\x8c\x97\xe4\xba\xac"), (ids{3, 4}));
  EXPECT_EQ(with.split("\xe5\x8c\x97\xe4\xba\xac"
                       "3"),
            (ids{3, 4, 9}));  // "3" is a token, but no word
  EXPECT_EQ(with.split("\xe5\x8c\x97x"), (ids{9}));
  EXPECT_EQ(with.split("one"), (ids{9}));
}

TEST(hotword_pieces, without_a_dictionary_words_are_tokens) {
  EXPECT_EQ(without.split("one \xe5\x8c\x97 ONE"), (ids{8, 3, 9}));
  EXPECT_EQ(hotword_pieces(tokens, std::vector<std::string>{}).split("one \xe5\x8c\x97"), (ids{9, 9}));
  const hotword_pieces none({"a"}, std::nullopt);
  EXPECT_EQ(none.split("a"), ids{0});
  const std::string said = steno::test::refusal([&] { (void)none.split("b"); });
  EXPECT_NE(said.find("\"b\" is not in the vocabulary"), std::string::npos) << said;
}

TEST(hotword_pieces, entries_in_the_order_of_words) {
  EXPECT_EQ(hotword_pieces::in_order({"b 2", "a 1", "b 1", "ab 1"}),
            (std::vector<std::string>{"a 1", "ab 1", "b 2", "b 1"}));
}

TEST(hotword_pieces, an_entry_without_a_word_is_refused) {
  EXPECT_THROW(hotword_pieces(tokens, std::vector<std::string>{"one one", " "}), steno::error);
}

// Values of Python's str.lower().
TEST(unicode_lower, is_that_of_python) {
  EXPECT_EQ(unicode::lower("AbZ09\xff"), "abz09\xff");
  EXPECT_EQ(unicode::lower("\xc3\x80\xc3\x9e\xc3\x97\xc3\x9f"), "\xc3\xa0\xc3\xbe\xc3\x97\xc3\x9f");
  EXPECT_EQ(unicode::lower("\xc4\x80\xc4\x81\xc5\xb8"), "\xc4\x81\xc4\x81\xc3\xbf");
  EXPECT_EQ(unicode::lower("\xc4\xb0"), "i\xcc\x87");
  EXPECT_EQ(unicode::lower("\xef\xbc\xa1\xf0\x90\x90\x80\xe2\x84\xaa"), "\xef\xbd\x81\xf0\x90\x90\xa8k");
  EXPECT_EQ(unicode::lower("\xd0\x81\xe5\xa5\xbd"), "\xd1\x91\xe5\xa5\xbd");
}

}  // namespace hotword_pieces_test
