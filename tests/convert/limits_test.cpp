// The limits of tools/convert/limits.hpp, at every reader of JSON and YAML: small files that would take gigabytes,
// minutes or the stack are refused in a moment, by name.
// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <steno/error.hpp>

#include <gtest/gtest.h>

#include <span>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "funasr/folder.hpp"
#include "json_text.hpp"
#include "qwen/qwen3_asr.hpp"
#include "support/golden.hpp"
#include "wenet/folder.hpp"
#include "whisper/whisper.hpp"
#include "yaml_settings.hpp"

namespace limits_test {

namespace fs = std::filesystem;
using namespace steno;
using test::error_of;
using test::write_text;

std::string repeated(std::string_view text, std::size_t n) {
  std::string all;
  all.reserve(text.size() * n);
  for (std::size_t i = 0; i < n; ++i) all += text;
  return all;
}
std::string nested(std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

void expect_part(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message.substr(0, 300);
  EXPECT_LT(message.size(), 2000u);
}

// Three shapes of a small text with a large meaning.
std::vector<std::pair<const char*, std::string>> yaml_bombs() {
  const std::string long_text(100000, 'x');
  std::string keys = "k: &k {", references = "s: " + long_text + "\n";
  for (int i = 0; i < 1000; ++i) keys.append(i == 0 ? "" : ", ").append("k").append(std::to_string(i)).append(": 1");
  keys += "}\n";
  for (int i = 0; i < 300; ++i) keys.append("l").append(std::to_string(i)).append(": *k\n");
  for (int i = 0; i < 300; ++i) references.append("r").append(std::to_string(i)).append(": ${s}\n");
  std::string long_keys = std::string(1000, 'k') + ":\n";
  for (int i = 0; i < 20000; ++i) long_keys.append("  a").append(std::to_string(i)).append(": 1\n");
  return {{"alias-scalar", "s: &s " + long_text + "\nl: [" + repeated("*s, ", 300) + "]\n"},
          {"alias-keys", keys},
          {"references", references},
          {"long-keys", long_keys},
          {"many", "l: [" + repeated("1,", 250000) + "]\n"},
          {"deep", "a: " + nested(200) + "\n"},
          {"deep-blocks", repeated("- ", 200) + "1\n"},
          {"itself", "a: &a [*a, *a]\n"}};
}

TEST(json_limits, depth_values_and_bytes) {
  EXPECT_NO_THROW((void)parse_json(nested(64), "x"));
  EXPECT_EQ(error_of([] { (void)parse_json(nested(65), "x.json"); }),
            "x.json: levels of nested JSON: expected up to 64, found 65");
  expect_part(error_of([] { (void)parse_json(nested(1000000), "x.json"); }), "levels of nested JSON");
  EXPECT_NO_THROW((void)parse_json("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]", "x"));
  expect_part(error_of([] { (void)parse_json("[" + repeated("0,", 2100000) + "0]", "x.json"); }),
              "x.json: values in JSON");
  expect_part(error_of([] { (void)parse_json(std::string(33u << 20, ' '), "x.json"); }), "x.json: bytes of JSON");
}

TEST(json_limits, what_is_no_json_is_named_by_its_byte) {
  EXPECT_EQ(error_of([] { (void)parse_json("{\"a\": x}", "x.json"); }), "x.json: not readable as JSON: byte 7");
  expect_part(error_of([] { (void)parse_json("[1e999]", "x.json"); }), "not readable as JSON");
  expect_part(error_of([] { (void)parse_json("", "x.json"); }), "not readable as JSON");
}

// Every file of a folder that is JSON, one after the other.
TEST(json_limits, every_reader_of_a_folder_keeps_them) {
  const test::temporary_directory d;
  const auto deep = [](const std::string& before) { return before + nested(1000000) + "}"; };
  const auto in = [&](const char* folder, const char* file, const std::string& text) {
    fs::create_directory(d.path() / folder);
    write_text(d.path() / folder / file, text);
    return d.path() / folder;
  };
  const auto refused = [](const fs::path& folder, const std::string& file) {
    expect_part(error_of([&] { (void)open_checkpoint(folder); }),
                (folder / file).string() + ": levels of nested JSON: expected up to 64, found 1000001");
  };
  refused(in("qwen", "config.json", deep(R"({"model_type": "qwen3_asr", "thinker_config": )")), "config.json");
  refused(in("whisper", "config.json", deep(R"({"model_type": "whisper", "x": )")), "config.json");
  refused(in("funasr", "configuration.json", deep(R"({"file_path_metas": )")), "configuration.json");
  const fs::path folder = in("files", "generation_config.json", deep(R"({"eos_token_id": )"));
  expect_part(error_of([&] { (void)qwen_files::read_ends(folder / "generation_config.json"); }),
              "levels of nested JSON");
  write_text(folder / "global_cmvn", deep(R"({"mean_stat": )"));
  expect_part(error_of([&] { (void)wenet_files::read_cmvn(folder / "global_cmvn", true); }), "levels of nested JSON");
  funasr_files::folder f;
  f.tokens = folder / "tokens.json";
  write_text(*f.tokens, nested(1000000));
  expect_part(error_of([&] { (void)f.read_tokens(); }), "levels of nested JSON");
  weights::gguf_writer file;
  for (const char* name : {"tokenizer.json", "vocab.json"}) {
    write_text(folder / name, deep(R"({"model": )"));
    if (std::string_view(name) == "vocab.json") write_text(folder / "merges.txt", "#version: 0.2\n");
    expect_part(error_of([&] { qwen_files::add_tokenizer(file, folder, 100); }),
                std::string(name) + ": levels of nested JSON");
  }
  whisper_files::settings s{.vocabulary = 100};
  write_text(folder / "added_tokens.json", deep(R"({"a": )"));
  fs::remove(folder / "vocab.json");
  fs::remove(folder / "tokenizer.json");
  expect_part(error_of([&] { whisper_files::read_special_tokens(folder, s); }), "added_tokens.json: levels of nested");
}

TEST(yaml_limits, small_texts_with_a_large_meaning) {
  for (const auto& [name, text] : yaml_bombs()) {
    SCOPED_TRACE(name);
    ASSERT_LT(text.size(), 1000000u);
    const std::string message = error_of([&, &text = text] { (void)read_yaml("x.yaml", text, "a config"); });
    expect_part(message, "x.yaml: ");
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  expect_part(error_of([] { (void)read_yaml("x.yaml", "a: " + std::string(5u << 20, 'x'), "a config"); }),
              "x.yaml: too large for a settings file: expected up to 4194304 bytes");
}

// The same at each family's own folder, for the shapes that took gigabytes.
TEST(yaml_limits, every_family_keeps_them) {
  const test::temporary_directory d;
  const auto bombs = yaml_bombs();
  for (const auto& [name, text] : std::span(bombs).first(4)) {
    SCOPED_TRACE(name);
    write_text(d.path() / "config.yaml", text);
    write_text(d.path() / "model.pt", "PK");
    expect_part(error_of([&] { (void)funasr_files::open_folder(d.path()); }), "config.yaml: ");
    write_text(d.path() / "train.yaml", text);
    write_text(d.path() / "units.txt", "a 0\n");
    write_text(d.path() / "final.pt", "PK");
    expect_part(error_of([&] { (void)wenet_files::open_folder(d.path()); }), "train.yaml: ");
  }
}

TEST(yaml_limits, aliases_of_a_real_config_are_read) {
  const checkpoint_settings y =
      read_yaml("x", "a: &a {x: 1, y: [1, 2]}\nb: *a\nc: &c text\nd: [*c, *c]\ne: ${c}\nf: &f\ng: *f\n", "a config");
  EXPECT_EQ(y.text("b.x", ""), "1");
  EXPECT_EQ(y.lists.at("b.y"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(y.lists.at("d"), (std::vector<std::string>{"text", "text"}));
  EXPECT_EQ(y.text("e", ""), "text");
  EXPECT_FALSE(y.has("g"));
}

TEST(yaml_limits, what_yaml_says_of_a_file_is_quoted) {
  const std::string message = error_of([] { (void)read_yaml("x.yaml", "a: 1\nb: *un\x1bknown\n", "a config"); });
  expect_part(message, "x.yaml: not readable as YAML: line 2: \"");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

// Names that a file gives, or that somebody packed with it, are text as any other.
TEST(names_of_files, are_quoted) {
  const test::temporary_directory d;
  const fs::path folder = d.path() / "model";
  fs::create_directory(folder);
  std::string message;
#if !defined(_WIN32)  // where no name has such characters
  write_text(folder / "a\x1b[31m", "x");
  message = error_of([&] { (void)open_checkpoint(folder); });
  expect_part(message, R"("a\x1b[31m")");
  fs::remove(folder / "a\x1b[31m");
#endif
  write_text(folder / "config.json", R"({"model_type": "whisper", "num_mel_bins": 80, "vocab_size": 51864, "d_model": 2,
        "max_source_positions": 4, "encoder_attention_heads": 1, "encoder_layers": 1, "max_target_positions": 8,
        "decoder_attention_heads": 1, "decoder_layers": 1})");
  write_text(folder / "model.safetensors.index.json", R"({"weight_map": {"a": "shard\u001b[2J"}})");
  message = error_of([&] { (void)open_checkpoint(folder); });
  expect_part(message, R"(model.safetensors.index.json: names a file that is not there: found "shard\x1b[2J")");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
}

TEST(layer_limits, of_a_qwen_folder) {
  const test::temporary_directory d;
  const auto said = [&](const char* tower, const char* decoder) {
    write_text(d.path() / "config.json",
               std::string(R"({"model_type": "qwen3_asr", "audio_config": {"num_mel_bins": 80, "d_model": 8,
        "encoder_attention_heads": 2, "encoder_ffn_dim": 8, "downsample_hidden_size": 4, "output_dim": 8,
        "encoder_layers": )") +
                   tower + R"(}, "text_config": {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8,
        "vocab_size": 9, "num_hidden_layers": )" +
                   decoder + "}}");
    return error_of([&] { (void)open_checkpoint(d.path()); });
  };
  expect_part(said("1025", "1"), R"(config.json: audio_config.encoder_layers: expected a number from 1 to 1024)");
  expect_part(said("1", "16777216"), R"(config.json: text_config.num_hidden_layers: expected a number from 1 to 1024)");
  expect_part(said("1", "1"), "the weights are missing");
}

}  // namespace limits_test
