// FunASR folders: which files are taken, and what is refused with which words.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "funasr/folder.hpp"
#include "support/golden.hpp"

namespace funasr_test {

namespace fs = std::filesystem;
using steno::test::error_of;
using steno::test::fixture;
using steno::test::read_text;
using steno::test::write_text;

// A copy of fixtures/sense_voice that a test may damage.
class funasr_folder : public testing::Test {
 protected:
  void SetUp() override { fs::copy(fixture("sense_voice"), root_); }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = read_text(root_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write_text(root_ / file, text.replace(at, from.size(), to));
  }
  std::string refusal() {
    return error_of([&] { steno::convert(root_, directory_.path() / "x.gguf"); });
  }
  void expect_refusal(const std::string& part) {
    const std::string message = refusal();
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_FALSE(fs::exists(directory_.path() / "x.gguf"));
  }
  std::vector<std::string> notes() { return steno::open_checkpoint(root_).notes; }
  bool has_cmvn() {
    const auto c = steno::open_checkpoint(root_);
    return c.file.find("cmvn.shift").has_value();
  }

  steno::test::temporary_directory directory_;
  fs::path root_ = directory_.path() / "folder";
};

TEST_F(funasr_folder, without_configuration_json_files_are_found) {
  fs::remove(root_ / "configuration.json");
  EXPECT_TRUE(has_cmvn());
  EXPECT_EQ(steno::open_checkpoint(root_).file.bytes().size(),
            steno::open_checkpoint(fixture("sense_voice")).file.bytes().size());
}

TEST_F(funasr_folder, configuration_json_decides_about_cmvn) {
  replace("configuration.json", ",\n  \"frontend_conf\": {\n   \"cmvn_file\": \"am.mvn\"\n  }", "");
  EXPECT_FALSE(has_cmvn()) << "config.yaml says null, and am.mvn is only taken when there is no configuration.json";
  EXPECT_NE(notes().at(0).find("features are not normalised, for configuration.json does not name the am.mvn"),
            std::string::npos);
  replace("config.yaml", "cmvn_file: null", "cmvn_file: /elsewhere/training/am.mvn");
  EXPECT_TRUE(has_cmvn()) << "a path of the machine that trained: the file in the folder is meant";
  EXPECT_EQ(notes(), std::vector<std::string>());
}

// As in FunASR features are not normalised then; published models would give another text, so a note says so.
TEST_F(funasr_folder, without_am_mvn_a_note_says_so) {
  fs::remove(root_ / "configuration.json");
  fs::remove(root_ / "am.mvn");
  EXPECT_FALSE(has_cmvn());
  const std::vector<std::string> all = notes();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(all[0].find("features are not normalised, for there is no am.mvn; FunASR does the same"),
            std::string::npos);
  EXPECT_TRUE(steno::convert(root_, directory_.path() / "x.gguf", {.cmvn = fixture("sense_voice") / "am.mvn"}).empty());
}

TEST_F(funasr_folder, the_query_of_a_config) {
  const auto query = [&] {
    const steno::opened_checkpoint opened = steno::open_checkpoint(root_);
    const steno::gguf_file& f = opened.file;
    return *f.text("sense_voice.language") + (f.number("sense_voice.use_itn") == 1 ? " withitn" : " woitn");
  };
  EXPECT_EQ(query(), "auto woitn") << "the defaults of generate()";
  replace("config.yaml", "model: SenseVoiceSmall\n", "model: SenseVoiceSmall\nuse_itn: true\nlanguage: zh\n");
  EXPECT_EQ(query(), "zh withitn");
  replace("config.yaml", "use_itn: true\n", "use_itn: true\ntext_norm: woitn\n");
  EXPECT_EQ(query(), "zh woitn") << "text_norm wins";
  replace("config.yaml", "language: zh", "language: xx");
  EXPECT_EQ(query(), "auto woitn") << "a language that the model does not know";
  replace("config.yaml", "language: xx", "language: zh");
  replace("config.yaml", "text_norm: woitn", "text_norm: other");
  expect_refusal("text_norm: expected withitn or woitn, found \"other\"");
}

TEST_F(funasr_folder, another_checkpoint_of_the_same_folder) {
  fs::rename(root_ / "model.pt", root_ / "model.pt.ep10");
  EXPECT_GT(steno::open_checkpoint(root_ / "model.pt.ep10").file.size(), 0u);
  expect_refusal("names a file that is not there: found \"model.pt\"");
}

TEST_F(funasr_folder, missing_files) {
  fs::remove(root_ / "tiny.bpe.model");
  expect_refusal("configuration.json: names a file that is not there: found \"tiny.bpe.model\"");
  fs::remove(root_ / "configuration.json");
  expect_refusal("the tokenizer is missing: expected a file *.bpe.model");
  fs::remove(root_ / "model.pt");
  expect_refusal("folder: the weights are missing: expected model.pt");
  fs::remove(root_ / "config.yaml");
  expect_refusal(
      "folder: not a checkpoint folder: expected a GGUF file, a FunASR folder (config.yaml or configuration.json)");
  expect_refusal("found \"am.mvn\"");
}

TEST_F(funasr_folder, names_do_not_leave_the_folder) {
  std::vector<std::string> names = {"../secret", "/etc/passwd", "a/../../secret", ""};
#if defined(_WIN32)  // of another disk, and below its current folder
  names.insert(names.end(), {"C:\\\\secret", "C:secret", "\\\\secret", "\\\\\\\\server\\\\secret"});
#endif
  for (const std::string& name : names) {
    fs::remove_all(root_);
    SetUp();
    replace("configuration.json", "\"am.mvn\"", std::string("\"").append(name).append("\""));
    expect_refusal("names a file outside of the folder");
  }
}

TEST_F(funasr_folder, other_models_are_named) {
  replace("config.yaml", "model: SenseVoiceSmall", "model: UniASR");
  expect_refusal("config.yaml: model \"UniASR\" is not supported yet: expected ");
  replace("config.yaml", "model: UniASR", "models: 1");
  expect_refusal("config.yaml: names no model");
}

TEST_F(funasr_folder, settings_that_compute_something_else) {
  const std::pair<const char*, const char*> changes[] = {
      {"sanm_shfit: 0", "sanm_shfit: 5"},           {"normalize_before: true", "normalize_before: false"},
      {"input_layer: pe", "input_layer: conv2d"},   {"layer_type: sanm", "layer_type: selfattn"},
      {"frontend: WavFrontend", "frontend: Other"}, {"encoder: SenseVoiceEncoderSmall", "encoder: Other"},
      {"tokenizer: Sentence", "tokenizer: Char"}};
  for (const auto& [from, to] : changes) {
    fs::remove_all(root_);
    SetUp();
    replace("config.yaml", from, to);
    expect_refusal("is not supported: expected ");
  }
}

TEST_F(funasr_folder, settings_out_of_range) {
  replace("config.yaml", "num_blocks: 2", "num_blocks: 2000000000");
  expect_refusal("config.yaml: encoder_conf.num_blocks: expected a number from 1 to 1024, found \"2000000000\"");
  replace("config.yaml", "num_blocks: 2000000000", "num_blocks: -1");
  expect_refusal("found \"-1\"");
  replace("config.yaml", "num_blocks: -1", "num_blocks: 2");
  replace("config.yaml", "attention_heads: 2", "attention_heads: 3");
  expect_refusal("expected a divisor of output_size 32, found 3");
}

TEST_F(funasr_folder, tensors_are_reported_by_name) {
  replace("config.yaml", "tp_blocks: 1", "tp_blocks: 0");
  expect_refusal("\"encoder.tp_encoders.0.feed_forward.w_1.bias\" is not part of the model");
  expect_refusal("and 5 more");
  replace("config.yaml", "tp_blocks: 0", "tp_blocks: 2");
  expect_refusal("\"encoder.tp_encoders.1.norm1.weight\" is missing");
  replace("config.yaml", "tp_blocks: 2", "tp_blocks: 1");
  replace("config.yaml", "kernel_size: 3", "kernel_size: 5");
  expect_refusal("\"encoder.encoders0.0.self_attn.fsmn_block.weight\" is [32 x 1 x 3], not [32 x 1 x 5]");
}

TEST_F(funasr_folder, vocabulary_of_another_size) {
  std::string text = read_text(root_ / "tiny.bpe.model");
  write_text(root_ / "tiny.bpe.model", text + "\x0a\x03\x0a\x01z");
  expect_refusal("\"ctc.ctc_lo.weight\" is [9 x 32], not [10 x 32]");
}

TEST_F(funasr_folder, git_lfs_pointers_instead_of_files) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 936000000\n";
  for (const char* name : {"model.pt", "am.mvn", "tiny.bpe.model", "config.yaml"}) {
    fs::remove_all(root_);
    SetUp();
    write_text(root_ / name, pointer);
    expect_refusal(std::string(name) + ": a git-LFS pointer, not the file itself (run git lfs pull)");
  }
}

TEST_F(funasr_folder, damaged_settings) {
  write_text(root_ / "config.yaml", "model: [unclosed");
  expect_refusal("config.yaml: not readable as YAML");
  write_text(root_ / "config.yaml", "- a\n- b\n");
  expect_refusal("it holds no settings");
  write_text(root_ / "config.yaml", std::string(100000, '['));
  expect_refusal("config.yaml: not readable as YAML");
  std::string aliases = "a: &a\n";  // a small file whose aliases stand for a hundred million settings
  for (int i = 0; i < 10000; ++i) aliases.append("  k").append(std::to_string(i)).append(": [1]\n");
  for (int i = 0; i < 10000; ++i) aliases.append("b").append(std::to_string(i)).append(": *a\n");
  write_text(root_ / "config.yaml", aliases);
  expect_refusal("it holds more settings than any config does");
  write_text(root_ / "configuration.json", "{\"file_path_metas\": 5}");
  expect_refusal("configuration.json: file_path_metas is not an object");
  write_text(root_ / "configuration.json", std::string(100000, '['));
  expect_refusal("configuration.json: levels of nested JSON: expected up to 64, found 100000");
}

TEST_F(funasr_folder, damaged_weights) {
  const std::string whole = read_text(root_ / "model.pt");
  write_text(root_ / "model.pt", whole.substr(0, whole.size() / 2));
  expect_refusal("model.pt: ");
  fs::copy_file(fixture("calls_system.pt"), root_ / "model.pt", fs::copy_options::overwrite_existing);
  expect_refusal("model.pt: pickle names \"posix.system\", which is not data");
}

TEST_F(funasr_folder, two_tokenizers) {
  fs::remove(root_ / "configuration.json");
  fs::copy_file(root_ / "tiny.bpe.model", root_ / "second.bpe.model");
  expect_refusal("which file to take is not clear: expected one *bpe.model, found 2");
}

}  // namespace funasr_test
