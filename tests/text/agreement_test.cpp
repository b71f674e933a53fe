#include <steno/text/agreement.hpp>

#include <gtest/gtest.h>

#include <string>

using namespace steno;

namespace {
std::string agreed(const std::string& a, const std::string& b) {
  EXPECT_EQ(text::agreed_beginning(a, b), text::agreed_beginning(b, a));
  return a.substr(0, text::agreed_beginning(a, b));
}
}  // namespace

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
  EXPECT_EQ(agreed("你好世界", "你好世间"), "你好世");
  EXPECT_EQ(agreed("你好", "你好吗"), "你");
  EXPECT_EQ(agreed("打开 light 吧", "打开 light 了"), "打开 light");
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
  EXPECT_EQ(text::keep_beginning("你好", "你号世界"), "你好世界");
  EXPECT_EQ(text::keep_beginning("你好", "你好世界"), "你好世界");
}
