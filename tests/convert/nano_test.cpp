// Fun-ASR-Nano's folders as they are published: with the CTC decoder, without it, and with a part of it; its tokens;
// the multilingual model.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/fun_asr_nano.hpp>

#include "convert.hpp"
#include "convert/copied_folder.hpp"
#include "convert/fixtures.hpp"
#include "funasr/ctc_tokenizer.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace nano_test {

namespace fs = std::filesystem;
using namespace steno;

class nano_folder : public test::copied_folder {
 protected:
  gguf_file packed(const fs::path& from) {
    const fs::path to = directory_.path() / test::new_name("out.gguf");
    convert(from, to);
    return gguf_file(to.string());
  }
  static std::vector<std::string> notes(const fs::path& from) { return import_checkpoint(from).notes; }
  static bool holds_ctc(const gguf_file& f) {
    return f.find("ctc.ctc_lo.weight") && f.find("ctc_decoder.linear1.bias");
  }
};

TEST_F(nano_folder, a_decoder_that_is_named_and_not_there_is_noted) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"nano-hf", "nano-mlt"}) {
    const fs::path folder = shared / "golden/funasr" / name / "checkpoint";
    const auto said = notes(folder);
    ASSERT_EQ(said.size(), 1u) << name;
    EXPECT_NE(said[0].find("holds no CTC decoder, although config.yaml names one"), std::string::npos) << said[0];
    const gguf_file file = packed(folder);
    EXPECT_FALSE(holds_ctc(file));
    EXPECT_FALSE(file.has("fun_asr_nano.ctc.tokens"));
    EXPECT_EQ(file.number("fun_asr_nano.use_low_frame_rate"), std::string(name) == "nano-hf" ? 1 : 0);
  }
}

TEST_F(nano_folder, a_complete_decoder_comes_with_its_tokens) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path bare = shared / "golden/funasr/nano-ctc/checkpoint";
  EXPECT_TRUE(notes(bare).empty());
  const gguf_file file = packed(bare);
  EXPECT_TRUE(holds_ctc(file));
  EXPECT_EQ(file.strings("fun_asr_nano.ctc.tokens").size(), 281u);
  EXPECT_EQ(file.strings("fun_asr_nano.ctc.special_tokens").size(), 12u);
  EXPECT_EQ(file.number("fun_asr_nano.ctc.blank_id"), 292);

  // Without the table there is a decoder, and nothing to align.
  fs::path folder = clone(bare);
  fs::remove(folder / "multilingual.tiktoken");
  ASSERT_EQ(notes(folder).size(), 1u);
  EXPECT_NE(notes(folder)[0].find("multilingual.tiktoken"), std::string::npos);
  EXPECT_TRUE(holds_ctc(packed(folder)));
  // Where nothing names it, it is taken from beside config.yaml.
  folder = clone(bare);
  replace(folder / "configuration.json", "\"vocab_path\": \"multilingual.tiktoken\"", "\"vocab_path\": null");
  EXPECT_EQ(packed(folder).strings("fun_asr_nano.ctc.tokens").size(), 281u);
  // A table that has more tokens than the head has rows is another model's.
  folder = clone(bare);
  std::string table = test::read_text(folder / "multilingual.tiktoken");
  for (int i = 281; i < 294; ++i) table += "AAAA " + std::to_string(i) + "\n";
  test::write_text(folder / "multilingual.tiktoken", table);
  EXPECT_NE(test::refusal([&] { (void)import_checkpoint(folder); }).find("multilingual.tiktoken: line 294"),
            std::string::npos);
}

// As the original: all or nothing.
TEST_F(nano_folder, a_part_of_a_decoder_is_left_out_and_named) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path folder = clone(shared / "golden/funasr/nano-ctc/checkpoint");
  replace(folder / "config.yaml", "n_layer: 3", "n_layer: 4");
  auto said = notes(folder);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("the CTC decoder is incomplete and left out"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("ctc_decoder.blocks.3."), std::string::npos) << said[0];
  EXPECT_FALSE(holds_ctc(packed(folder)));
  replace(folder / "config.yaml", "n_layer: 4", "n_layer: 3");
  replace(folder / "config.yaml", "ctc_vocab_size: 293", "ctc_vocab_size: 294");
  said = notes(folder);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("\"ctc.ctc_lo.weight\" is [293 x 32], not [294 x 32]"), std::string::npos) << said[0];
  // More than config.yaml knows of is no part of the model.
  replace(folder / "config.yaml", "ctc_vocab_size: 294", "ctc_vocab_size: 293");
  replace(folder / "config.yaml", "n_layer: 3", "n_layer: 2");
  EXPECT_NE(test::refusal([&] { (void)import_checkpoint(folder); }).find("ctc_decoder.blocks.2."), std::string::npos);
  // Nobody asks for one.
  replace(folder / "config.yaml", "ctc_decoder: Transformer\n", "");
  said = notes(folder);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("54 tensors of a CTC decoder are left out"), std::string::npos) << said[0];
}

TEST_F(nano_folder, languages_are_those_of_the_kind_of_model) {
  STENO_REQUIRE_SHARED(shared);
  const auto of = [&](const char* name) {
    return load<funasr::fun_asr_nano_any>(packed(shared / "golden/funasr" / name / "checkpoint"));
  };
  const auto nano = of("nano-hf");
  EXPECT_EQ(nano.languages(), (std::vector<std::string>{"auto", "zh", "en", "ja"}));
  EXPECT_FALSE(nano.supports_language("ko"));
  EXPECT_TRUE(nano.supports_language("\xe5\xbe\xb7\xe8\xaf\xad"));  // the prompt takes any name in Chinese
  EXPECT_FALSE(nano.supports_language(""));
  EXPECT_FALSE(nano.supports_language("klingon"));
  const auto mlt = of("nano-mlt");
  EXPECT_EQ(mlt.languages().size(), 32u);
  EXPECT_TRUE(mlt.supports_language("ko"));
  EXPECT_EQ(mlt.audio_tokens(53), 53);
}

TEST(nano_ctc_tokens, special_ones_have_the_originals_order) {
  const auto all = funasr_files::ctc_special_tokens(8749, 10000);
  EXPECT_EQ(all.size(), 2u + 105 + 11 + 4 + 6 + 50);
  EXPECT_EQ(all[0], "<|endoftext|>");
  EXPECT_EQ(all[2], "<|en|>");
  EXPECT_EQ(all[106], "<|en/zh|>");
  EXPECT_EQ(all[107], "<|ASR|>");
  EXPECT_EQ(all.back(), "<|SPECIAL_TOKEN_50|>");
  EXPECT_EQ(funasr_files::ctc_special_tokens(2, 10000)[4], "<|ASR|>");
  EXPECT_EQ(funasr_files::ctc_special_tokens(8749, 3).size(), 3u);
}

}  // namespace nano_test
