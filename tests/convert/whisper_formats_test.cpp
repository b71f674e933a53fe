// One Whisper in the three formats that people hold becomes the same packaged file, byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/half.hpp>
#include <steno/tokenizers/whisper_tokens.hpp>
#include <steno/weights/gguf.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "convert/small_whisper.hpp"
#include "support/golden.hpp"
#include "torch/tensors.hpp"
#include "whisper/whisper.hpp"

namespace whisper_formats_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;
using namespace steno::test::small_whisper;

std::string decoded_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    held = held << 6 | static_cast<std::uint32_t>(digits.find(c));
    if ((bits += 6) < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xff);
  }
  return bytes;
}

TEST(whisper_formats, three_files_one_package) {
  STENO_REQUIRE_SHARED(shared);
  const fs::path golden = shared / "golden/whisper/multi", pt = golden / "checkpoint/openai/model.pt";
  const fs::path table = shared / "assets/whisper/multilingual.tiktoken";
  std::ifstream in(golden / "expected.json");
  const json dims = json::parse(in)["dims"];
  std::map<std::string, named_tensor> tensors;
  for (const stored_tensor& t : torch::stored_tensors(std::make_shared<torch::checkpoint>(pt))) {
    named_tensor& n = tensors[t.name];
    n.shape = t.shape;
    std::size_t count = 1;
    for (const extent e : t.shape) count *= static_cast<std::size_t>(e);
    n.values.resize(count);
    t.read(n.values);
  }
  std::vector<std::string> tokens;
  json vocabulary;
  std::ifstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    tokens.push_back(decoded_base64(line.substr(0, line.find(' '))));
    vocabulary[byte_letters(tokens.back())] = tokens.size() - 1;
  }
  const test::temporary_directory dir;
  const fs::path hf = dir.path() / "hf";
  fs::create_directories(hf);
  write_safetensors(hf / "model.safetensors", tensors);
  write(hf / "vocab.json", vocabulary.dump());
  write(hf / "config.json", settings_of(dims).dump());
  write_ggml(dir.path() / "ggml.bin", tensors, dims, tokens);

  for (const std::optional<dtype> type :
       {std::optional<dtype>(), std::optional(dtype::f32), std::optional(dtype::q8_0)}) {
    const auto packaged = [&](const fs::path& from, std::optional<fs::path> tokenizer) {
      const fs::path to = dir.path() / "out.gguf";
      convert(from, to, {.type = type, .tokenizer = std::move(tokenizer)});
      return read(to);
    };
    const std::string want = packaged(pt, table);
    EXPECT_GT(want.size(), 1000000u);
    EXPECT_TRUE(packaged(hf, {}) == want);
    EXPECT_TRUE(packaged(dir.path() / "ggml.bin", {}) == want);
    // The folder that holds the table may be named, too.
    EXPECT_TRUE(packaged(pt, table.parent_path()) == want);
  }
}

// A vocabulary that was cut down or made for the model: the special tokens' names tell where they are.
TEST(whisper_formats, a_vocabulary_of_ones_own) {
  constexpr int text = 20, languages = 2, vocabulary = text + 8 + languages + 1501;
  const test::temporary_directory dir;
  const fs::path hf = dir.path();
  test::write_small_whisper(hf);
  const json added = test::read_json(hf / "added_tokens.json");

  const auto opened_tokens = [&] {
    const opened_checkpoint opened = open_checkpoint(hf);
    const auto told = opened.file.number("whisper.multilingual");
    EXPECT_TRUE(told.has_value());
    return tokenizers::whisper_tokens(opened.file.strings("tokenizer.ggml.tokens"), vocabulary, told == 1);
  };
  const tokenizers::whisper_tokens t = opened_tokens();
  EXPECT_EQ(t.languages, 2);
  EXPECT_EQ(t.eot, text);
  EXPECT_EQ(t.timestamp_begin, vocabulary - 1501);
  EXPECT_EQ(t.start(1, true), (std::vector<int>{text + 1, text + 3, text + 4}));
  write(hf / "generation_config.json", R"({"is_multilingual": false})");
  EXPECT_FALSE(opened_tokens().multilingual);

  // Newer folders have them in tokenizer.json.
  json list = json::array();
  for (const auto& [name, id] : added.items()) list.push_back({{"id", id}, {"content", name}});
  fs::remove(hf / "added_tokens.json");
  EXPECT_THROW((void)open_checkpoint(hf), error);
  write(hf / "tokenizer.json", json{{"added_tokens", list}}.dump());
  EXPECT_EQ(opened_tokens().eot, text);

  // Names with other numbers are refused, whichever it is.
  for (const auto& [name, id] : added.items()) {
    if (name == "<|en|>" || name == "<|zh|>" || name == "<|startoflm|>" || name == "<|nospeech|>") continue;
    json bad = added;
    bad[name] = id.get<int>() + 1;
    write(hf / "added_tokens.json", bad.dump());
    EXPECT_THROW((void)open_checkpoint(hf), error) << name;
  }
  // Numbers that come round again when something is added to them.
  json round = added;
  round["<|endoftext|>"] = std::numeric_limits<std::uint64_t>::max();
  round["<|startoftranscript|>"] = 0;
  write(hf / "added_tokens.json", round.dump());
  EXPECT_THROW((void)open_checkpoint(hf), error);
}

TEST(whisper_formats, alignment_heads_of_published_sizes) {
  using whisper_files::published_alignment_heads;
  whisper_files::settings s{.vocabulary = 51865, .width = 512, .audio_layers = 6, .text_layers = 6};
  EXPECT_EQ(published_alignment_heads(s, "base.pt").size(), 8u);
  EXPECT_EQ(published_alignment_heads(s, "").front(), (std::pair<std::uint32_t, std::uint32_t>(3, 1)));
  s.vocabulary = 51864;
  EXPECT_EQ(published_alignment_heads(s, "").size(), 5u);
  s = {.vocabulary = 51865, .width = 1280, .audio_layers = 32, .text_layers = 32};
  EXPECT_EQ(published_alignment_heads(s, "large-v1.pt").size(), 9u);
  EXPECT_EQ(published_alignment_heads(s, "large-v2.pt").size(), 23u);
  s.text_layers = 2;  // distilled
  EXPECT_TRUE(published_alignment_heads(s, "").empty());
  s = {.vocabulary = 51866, .width = 1280, .audio_layers = 32, .text_layers = 4};
  EXPECT_EQ(published_alignment_heads(s, "").size(), 6u);
  // Every table names heads that its decoder has.
  for (const auto& [width, layers] :
       {std::pair(384u, 4u), std::pair(512u, 6u), std::pair(768u, 12u), std::pair(1024u, 24u), std::pair(1280u, 32u)})
    for (const std::uint32_t v : {51864u, 51865u, 51866u}) {
      s = {.vocabulary = v, .width = width, .audio_layers = layers, .text_layers = layers};
      for (const auto& [layer, head] : published_alignment_heads(s, "")) {
        EXPECT_LT(layer, layers);
        EXPECT_LT(head, width / 64);
      }
    }
}

}  // namespace whisper_formats_test
