#include <steno/tokenizers/aligned_words.hpp>

#include <gtest/gtest.h>

using namespace steno;

TEST(aligned_words, letters_numbers_and_apostrophes_stay) {
  using list = std::vector<std::string>;
  EXPECT_EQ(aligned_words("Hello, world! It's 3.5 o'clock"), (list{"Hello", "world", "It's", "35", "o'clock"}));
  EXPECT_EQ(aligned_words("\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c hi\xe4\xb8\x96x"),
            (list{"\xe4\xbd\xa0", "\xe5\xa5\xbd", "hi", "\xe4\xb8\x96", "x"}));
  EXPECT_EQ(aligned_words(" \n ... "), list{});
  EXPECT_EQ(aligned_words("a\xff"
                          "b"),
            list{"ab"});
}
