// Words and sentences by NeMo's rules: pieces with and without U+2581, punctuation marks, lone spaces, later symbols.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/nemo_words.hpp>

#include <gtest/gtest.h>

namespace nemo_words_test {

using namespace steno;

#define SPACE "\xe2\x96\x81"

const tokenizers::sentencepiece& pieces() {
  static const tokenizers::sentencepiece all([] {
    tokenizers::sentencepiece_vocabulary v;
    v.pieces = {"<unk>", SPACE "the", "re", ".", SPACE, ",", SPACE "a", "<EOU>", "\xc2\xbf", "'"};
    v.types = {2, 1, 1, 1, 1, 1, 1, 4, 1, 1};
    return v;
  }());
  return all;
}

std::vector<tokenizers::placed_token> placed(const std::vector<int>& ids) {
  std::vector<tokenizers::placed_token> t;
  for (std::size_t i = 0; i < ids.size(); ++i)
    t.push_back({ids[i], static_cast<extent>(2 * i), static_cast<extent>(2 * i + 1)});
  return t;
}
std::string joined(const std::vector<tokenizers::placed_text>& all) {
  std::string s;
  for (const tokenizers::placed_text& w : all)
    s += "[" + w.text + " " + std::to_string(w.start) + "-" + std::to_string(w.end) + "]";
  return s;
}

TEST(nemo_words, marks_come_from_ordinary_pieces) {
  const tokenizers::nemo_words w(pieces());
  for (const char* mark : {".", ",", "\xc2\xbf", "'"}) EXPECT_TRUE(w.is_mark(mark)) << mark;
  for (const char* other : {"<", ">", "the", "", SPACE}) EXPECT_FALSE(w.is_mark(other)) << other;
  EXPECT_TRUE(w.begins_with_mark(".x"));
}

TEST(nemo_words, pieces_are_joined_and_marks_belong_to_the_word_before) {
  const tokenizers::nemo_words w(pieces());
  EXPECT_EQ(joined(w.words(pieces(), placed({1, 2, 3, 6, 7}))), "[there. 0-5][a<EOU> 6-9]");
  EXPECT_EQ(joined(w.words(pieces(), placed({2, 1}))), "[re 0-1][the 2-3]");
  EXPECT_EQ(joined(w.words(pieces(), placed({}))), "");
}

TEST(nemo_words, a_lone_space_begins_a_word_and_may_stay_empty) {
  const tokenizers::nemo_words w(pieces());
  EXPECT_EQ(joined(w.words(pieces(), placed({1, 4, 6}))), "[the 0-1][ 2-3][a 4-5]");
  EXPECT_EQ(joined(w.words(pieces(), placed({1, 4, 2}))), "[the 0-1][re 2-5]");
}

// Vocabularies in which U+2581 is always alone: a word has the time at which its beginning was told.
TEST(nemo_words, words_that_all_begin_with_a_lone_space_start_there) {
  const tokenizers::nemo_words w(pieces());
  EXPECT_EQ(joined(w.words(pieces(), placed({4, 2, 4, 2, 2, 3, 4}))), "[re 0-3][rere. 4-11][ 12-13]");
}

TEST(nemo_words, sentences_end_with_their_marks) {
  const tokenizers::nemo_words w(pieces());
  const auto words = w.words(pieces(), placed({1, 3, 6, 1, 3, 6}));
  EXPECT_EQ(joined(tokenizers::nemo_words::sentences(words)), "[the. 0-3][a the. 4-9][a 10-11]");
}

TEST(nemo_words, text_has_no_space_before_a_mark) {
  const tokenizers::nemo_words w(pieces());
  const std::vector<int> ids{1, 4, 3, 6};
  EXPECT_EQ(w.text(pieces(), ids), "the. a");
}

TEST(nemo_words, text_has_no_space_where_a_word_has_only_begun) {
  const tokenizers::nemo_words w(pieces());
  for (const std::vector<int>& ids : {std::vector{4, 2}, {4, 2, 4}, {4, 2, 4, 4}})
    EXPECT_EQ(w.text(pieces(), ids), "re");
  EXPECT_EQ(w.text(pieces(), std::vector{4}), "");
}

}  // namespace nemo_words_test
