// Punctuation models' folders: whole texts and streams, with a user's dictionary and without its file; jieba's tables.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>

#include "convert.hpp"
#include "convert/copied_folder.hpp"
#include "convert/fixtures.hpp"
#include "funasr/word_tables.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/variable.hpp"

namespace ct_punc_test {

namespace fs = std::filesystem;
using namespace steno;

class punc_folder : public test::copied_folder {
 protected:
  gguf_file packed(const fs::path& from, const convert_options& o = {}) {
    const fs::path to = directory_.path() / test::new_name("out.gguf");
    notes_ = convert(from, to, o);
    return gguf_file(to.string());
  }

  std::vector<std::string> notes_;
};

TEST_F(punc_folder, the_form_for_streams) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/funasr/punc-realtime/checkpoint";
  const gguf_file file = packed(bare);
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(file.text("general.architecture"), "ct_transformer_streaming");
  EXPECT_EQ(load<funasr::ct_punc_realtime_any>(packed(bare)).marks.size(), 6u);
  // The packaged file goes through the converter again.
  const fs::path first = directory_.path() / "first.gguf";
  convert(bare, first);
  EXPECT_EQ(packed(first, {.type = dtype::q8_0}).text("general.architecture"), "ct_transformer_streaming");

  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{
           {"sanm_shfit: 5", "sanm_shfit: 0"},
           {"sanm_shfit: 5, ", ""},
           {"encoder: SANMVadEncoder", "encoder: SANMEncoder"},
           {"tokenizer: CharTokenizer", "tokenizer: SentencepiecesTokenizer"},
           {"model_conf:\n", "model_conf:\n  new: 1\n"},
           {"tokenizer_conf: {", "jieba_usr_dict: tokens.json\ntokenizer_conf: {"}}) {
    const fs::path folder = clone(bare);
    replace(folder / "config.yaml", from, to);
    EXPECT_NE(test::refusal([&] { (void)import_checkpoint(folder); }), "") << to;
  }
}

TEST_F(punc_folder, a_users_dictionary_counts_where_its_file_is) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/funasr/punc-jieba/checkpoint",
                 excerpt = shared / "golden/funasr/punc-jieba/jieba_dict_excerpt.txt";
  const gguf_file file = packed(bare, {.jieba_dict = excerpt});
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(file.number("ct_transformer.dictionary.total"), 60102102);
  EXPECT_EQ(file.strings("ct_transformer.dictionary.words").size(), 261u + 6 - 2);  // two were there before

  // Hugging Face's folder names a file that it does not have.
  fs::path folder = clone(bare);
  fs::remove(folder / "jieba_usr_dict");
  EXPECT_FALSE(packed(folder).has("ct_transformer.dictionary.words"));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("has no file jieba_usr_dict"), std::string::npos) << notes_[0];
  (void)packed(folder, {.jieba_dict = excerpt});
  ASSERT_EQ(notes_.size(), 2u);
  EXPECT_NE(notes_[1].find("--jieba-dict is not used"), std::string::npos) << notes_[1];

  // Without configuration.json the file of this name is taken.
  folder = clone(bare);
  fs::remove(folder / "configuration.json");
  EXPECT_TRUE(packed(folder, {.jieba_dict = excerpt}).has("ct_transformer.dictionary.words"));

  // What is wrong in a table is named by its line.
  folder = clone(bare);
  test::write_text(folder / "jieba_usr_dict", "\xe4\xb8\x80 3\n\xe4\xb8\x80 99999999999\n");
  EXPECT_NE(test::refusal([&] {
              (void)import_checkpoint(folder, {.jieba_dict = excerpt});
            }).find("jieba_usr_dict: line 2: expected a frequency"),
            std::string::npos);
  EXPECT_NE(
      test::refusal([&] { (void)import_checkpoint(bare, {.jieba_dict = bare / "config.yaml"}); }).find("config.yaml"),
      std::string::npos);
}

// An installed jieba is found where Python finds it.
TEST_F(punc_folder, the_dictionary_of_an_installed_package) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/funasr/punc-jieba/checkpoint";
  const fs::path package = directory_.path() / "site" / "jieba";
  fs::create_directories(package);
  fs::copy_file(shared / "golden/funasr/punc-jieba/jieba_dict_excerpt.txt", package / "dict.txt");
  const char* const before = std::getenv("PYTHONPATH");
  const std::string kept = before == nullptr ? "" : before;
  test::set_variable("PYTHONPATH", (directory_.path() / "site").string());
  EXPECT_TRUE(packed(bare).has("ct_transformer.dictionary.words"));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(test::with_slashes(notes_[0]).find("jieba/dict.txt"), std::string::npos) << notes_[0];
  if (before == nullptr)
    test::unset_variable("PYTHONPATH");
  else
    test::set_variable("PYTHONPATH", kept);
}

TEST(word_tables, lines_of_a_users_dictionary) {
  auto words = funasr_files::read_common_words("a 10 n\nab 20\n\xe4\xb8\x80 30 x\n", "dict.txt");
  EXPECT_EQ(words.total, funasr_files::jieba_total);  // an excerpt
  const double before = words.total;
  funasr_files::add_user_words(words, "\xef\xbb\xbfone 5 nz\ntwo words 7\nthree nz\n\n  four\t\n5 6\na 3\n", "user");
  EXPECT_EQ(words.frequency("one"), 5u);
  EXPECT_EQ(words.frequency("two words"), 7u);
  EXPECT_EQ(words.frequency("three"), 1u);  // int(1 / total * total) + 1, as doubles round it
  EXPECT_EQ(words.frequency("four"), 2u);
  EXPECT_EQ(words.frequency("5"), 6u);
  EXPECT_EQ(words.frequency("a"), 3u);  // replaced; what it had stays in the total
  EXPECT_EQ(words.total, before + 5 + 7 + 1 + 2 + 6 + 3);
  EXPECT_GE(funasr_files::read_common_words("a 99999999\n", "dict.txt").total, 99999999);
  for (const char* wrong : {"", "\n\n", "a\n", "a b\n", " 5\n", "a 5x\n", "a -1\n"})
    EXPECT_NE(test::refusal([&] { (void)funasr_files::read_common_words(wrong, "dict.txt"); }), "") << wrong;
}

}  // namespace ct_punc_test
