// SPDX-License-Identifier: Apache-2.0
#include <steno/text/agreement.hpp>

#include <gtest/gtest.h>

#include <string>

namespace agreement_test {

using namespace steno;

std::string agreed(const std::string& a, const std::string& b) {
  EXPECT_EQ(text::agreed_beginning(a, b), text::agreed_beginning(b, a));
  return a.substr(0, text::agreed_beginning(a, b));
}
TEST(agreement, words_that_both_have_and_go_on_behind) {
  EXPECT_EQ(agreed("the train to", "the train to paris"), "the train");
  EXPECT_EQ(agreed("the train to paris leaves", "the train to paris leaves"), "the train to paris");
  EXPECT_EQ(agreed("the train", "a train"), "");
  EXPECT_EQ(agreed("", "the train"), "");
  EXPECT_EQ(agreed("the", "the"), "");
  EXPECT_EQ(agreed("seven minutes", "seventy minutes"), "");
  EXPECT_EQ(agreed("hello, world is", "hello world is"), "");
  EXPECT_EQ(agreed("hello world is", "hello  world is"), "hello");  // bytes, white space too
  EXPECT_EQ(agreed(" one two three", " one two four"), " one two");
}

TEST(agreement, characters_of_scripts_without_spaces) {
  EXPECT_EQ(agreed("\u4f60\u597d\u4e16\u754c", "\u4f60\u597d\u4e16\u95f4"), "\u4f60\u597d\u4e16");
  EXPECT_EQ(agreed("\u4f60\u597d", "\u4f60\u597d\u5417"), "\u4f60");
  EXPECT_EQ(agreed("\u6253\u5f00 light \u5427", "\u6253\u5f00 light \u4e86"), "\u6253\u5f00 light");
}

TEST(agreement, what_is_kept_stays_and_the_rest_follows) {
  EXPECT_EQ(text::keep_beginning("", "the train"), "the train");
  EXPECT_EQ(text::keep_beginning("the train", "the train to paris"), "the train to paris");
  EXPECT_EQ(text::keep_beginning("the train", "the train, to paris"), "the train, to paris");
  EXPECT_EQ(text::keep_beginning("the train", "the trains to paris"), "the train to paris");
  EXPECT_EQ(text::keep_beginning("the train too", "the train to paris"), "the train too paris");
  EXPECT_EQ(text::keep_beginning("the uh train", "the train to paris"), "the uh train to paris");
  EXPECT_EQ(text::keep_beginning("the train", ""), "the train");
  EXPECT_EQ(text::keep_beginning("the train", "bus"), "the train");
  EXPECT_EQ(text::keep_beginning("\u4f60\u597d", "\u4f60\u53f7\u4e16\u754c"), "\u4f60\u597d\u4e16\u754c");
  EXPECT_EQ(text::keep_beginning("\u4f60\u597d", "\u4f60\u597d\u4e16\u754c"), "\u4f60\u597d\u4e16\u754c");
}

}  // namespace agreement_test
