// ARPA files to language models, and what is none.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/language_model.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "language/arpa.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace arpa_test {

using namespace steno;

const std::string text =
    "written by hand\n\\data\\\nngram 1=4\nngram 2=3\n\n\\1-grams:\n-99\t<s>\t-0.5\n-2.0\t</s>\n-1.0\ta\t-0.25\n"
    "-1.5\tb\t-1\n\n\\2-grams:\n-0.5\t<s> a\n-0.25\ta b\n-0.75 b </s>\n\n\\end\\\n";

std::uint64_t spelled(std::string_view word) {
  std::uint64_t h = search::ngram::no_word;
  for (const char c : word) h = search::ngram::spelled(h, c);
  return h;
}

TEST(arpa, becomes_a_packaged_file) {
  const test::temporary_directory dir;
  const auto arpa = dir.path() / "lm.arpa", packaged = dir.path() / "lm.gguf";
  test::write_text(arpa, text);
  const std::vector<std::string> notes = convert(arpa, packaged);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("<unk>"), std::string::npos);
  for (const models::language_model& m :
       {models::language_model(packaged.string()), models::language_model(open_checkpoint(arpa).file)}) {
    EXPECT_EQ(m.ngrams().order(), 2u);
    EXPECT_EQ(m.ngrams().size(), 7u);
    std::uint32_t s = m.ngrams().start();
    constexpr float e = 2.302585093f;
    EXPECT_FLOAT_EQ(m.ngrams().follow(s, spelled("a")), -0.5f * e);
    EXPECT_FLOAT_EQ(m.ngrams().follow(s, spelled("b")), -0.25f * e);
    EXPECT_FLOAT_EQ(m.ngrams().finish(s), -0.75f * e);
    EXPECT_FLOAT_EQ(m.ngrams().follow(s, spelled("b")), -2.5f * e);
  }
  convert(packaged, dir.path() / "again.gguf");
  EXPECT_EQ(models::language_model((dir.path() / "again.gguf").string()).ngrams().size(), 7u);
}

TEST(arpa, what_is_wrong_is_refused_by_its_line) {
  const auto changed = [](std::string_view from, std::string_view to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    std::vector<std::string> notes;
    return test::refusal([&] { search::ngram m(language_files::read_arpa(other, "lm.arpa", notes)); });
  };
  EXPECT_EQ(changed("-1.5\tb", "-1.5\tb"), "");
  const std::pair<const char*, const char*> table[] = {{"ngram 2=3", "ngram 2=4"},
                                                       {"ngram 2=3", "ngram 2=2"},
                                                       {"ngram 2=3", "ngram 2=99999999999"},
                                                       {"ngram 2=3", "ngram 3=3"},
                                                       {"ngram 1=4", "ngram 1=x"},
                                                       {"-1.5\tb", "1.5\tb"},
                                                       {"-1.5\tb", "nan\tb"},
                                                       {"-1.5\tb", "-1.5\ta"},
                                                       {"-1.5\tb\t-1", "-1.5\tb\t-1 2"},
                                                       {"a b", "a c"},
                                                       {"a b", "</s>"},
                                                       {"a b", "b </s>"},
                                                       {"\\end\\", ""},
                                                       {"\\2-grams:", "\\3-grams:"},
                                                       {"\\data\\", "data"},
                                                       {"-99\t<s>\t-0.5", "-99\tc\t-0.5"}};
  for (const auto& [from, to] : table) EXPECT_NE(changed(from, to), "") << from << " -> " << to;
  EXPECT_NE(changed("a b", "a c").find("lm.arpa, line 14"), std::string::npos) << changed("a b", "a c");
}

TEST(arpa, other_files_are_no_language_models) {
  const test::temporary_directory dir;
  const auto kenlm = dir.path() / "lm.binary";
  test::write_text(kenlm, "mmap lm http://kheafield.com/code format version 5\n");
  const std::string why = test::refusal([&] { (void)open_checkpoint(kenlm); });
  EXPECT_NE(why.find("KenLM"), std::string::npos) << why;
  const auto model = std::filesystem::path(STENO_SOURCE_DIR) / "examples/models/u2.gguf";
  EXPECT_NE(test::refusal([&] { models::language_model m(model.string()); }).find("not a language model"),
            std::string::npos);
}

}  // namespace arpa_test
