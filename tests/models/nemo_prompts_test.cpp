// Languages of a model and the numbers of their prompts.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/nemo_prompts.hpp>

#include <gtest/gtest.h>

namespace nemo_prompts_test {

using namespace steno;

TEST(nemo_prompts, names_share_numbers_and_auto_is_no_language) {
  const nemo::nemo_prompts p{.names = {"en-US", "en", "auto", "no"}, .numbers = {0, 0, 101, 27}, .usual = 101};
  EXPECT_EQ(p.prompt_of("en"), 0);
  EXPECT_EQ(p.prompt_of("no"), 27);
  EXPECT_EQ(p.prompt_of("auto"), 101);
  EXPECT_EQ(p.languages(), (std::vector<std::string>{"en-US", "en", "no"}));
  EXPECT_FALSE(p.find("en-us"));
  try {
    (void)p.prompt_of("de");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("en-US, en, no"), std::string::npos) << e.what();
  }
}

// A model without prompts is told nothing; one without a usual prompt has to be told.
TEST(nemo_prompts, without_a_usual_one) {
  EXPECT_EQ(nemo::nemo_prompts{}.prompt_of("auto"), -1);
  EXPECT_THROW((void)nemo::nemo_prompts{}.prompt_of("de"), error);
  const nemo::nemo_prompts p{.names = {"de", "fr"}, .numbers = {1, 2}};
  EXPECT_THROW((void)p.prompt_of("auto"), error);
  const nemo::nemo_prompts own{.names = {"de", "auto"}, .numbers = {1, 2}};
  EXPECT_EQ(own.prompt_of("auto"), 2);
}

TEST(nemo_prompts, tags_name_a_language) {
  EXPECT_EQ(nemo::language_of_tag("<en-US>"), "en-US");
  EXPECT_EQ(nemo::language_of_tag("<fil-PH>"), "fil-PH");
  for (const char* other :
       {"<EOU>", "<unk>", "en-US", "<en-US", "<e-US>", "<en_US>", "<EN-US>", "<en-U1>", "<0xAB>", ""})
    EXPECT_EQ(nemo::language_of_tag(other), "") << other;
}

}  // namespace nemo_prompts_test
