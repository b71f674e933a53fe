// One Whisper in the three formats that people hold becomes the same packaged file, byte for byte.
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
#include "support/golden.hpp"
#include "torch/tensors.hpp"
#include "whisper/whisper.hpp"

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

namespace {

struct named_tensor {
  std::vector<extent> shape;
  std::vector<float> values;
};

// What Hugging Face calls a tensor of openai's.
std::string huggingface_name(std::string name) {
  const auto put = [&](std::string_view from, std::string_view to) {
    const std::size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, from.size(), to);
  };
  if (name == "decoder.token_embedding.weight") return "model.decoder.embed_tokens.weight";
  if (name.ends_with("positional_embedding")) return "model." + name.substr(0, 7) + ".embed_positions.weight";
  put("encoder.ln_post", "encoder.layer_norm");
  put("decoder.ln.", "decoder.layer_norm.");
  put("cross_attn_ln", "encoder_attn_layer_norm");
  put("cross_attn.", "encoder_attn.");
  put(".attn_ln", ".self_attn_layer_norm");
  put(".attn.", ".self_attn.");
  put("mlp_ln", "final_layer_norm");
  put("mlp.0", "fc1");
  put("mlp.2", "fc2");
  put("blocks", "layers");
  put(".query", ".q_proj");
  put(".key", ".k_proj");
  put(".value", ".v_proj");
  put("attn.out", "attn.out_proj");
  return "model." + name;
}

template <class T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_halves(std::string& to, const std::vector<float>& values) {
  for (const float v : values) put(to, core::float_to_half(v));
}

void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }
std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_safetensors(const fs::path& file, const std::map<std::string, named_tensor>& tensors) {
  json header;
  std::string data;
  for (const auto& [name, t] : tensors) {
    const std::size_t begin = data.size();
    put_halves(data, t.values);
    header[huggingface_name(name)] = {{"dtype", "F16"}, {"shape", t.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  std::string all;
  put(all, static_cast<std::uint64_t>(text.size()));
  write(file, all + text + data);
}

// As whisper.cpp's own converter: vectors and positions are floats, the biases of convolutions [d, 1].
void write_ggml(const fs::path& file, const std::map<std::string, named_tensor>& tensors, const json& dims,
                const std::vector<std::string>& tokens) {
  std::string all = "lmgg";
  for (const char* key : {"n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx",
                          "n_text_state", "n_text_head", "n_text_layer", "n_mels"})
    put(all, dims[key].get<std::int32_t>());
  put(all, std::int32_t{1});
  put(all, dims["n_mels"].get<std::int32_t>());
  put(all, std::int32_t{201});
  all.append(static_cast<std::size_t>(dims["n_mels"].get<int>()) * 201 * 4, '\0');
  put(all, static_cast<std::int32_t>(tokens.size()));
  for (const std::string& t : tokens) {
    put(all, static_cast<std::uint32_t>(t.size()));
    all += t;
  }
  for (const auto& [name, t] : tensors) {
    std::vector<extent> shape = t.shape;
    if (name.ends_with("conv1.bias") || name.ends_with("conv2.bias")) shape.push_back(1);
    const bool floats = t.shape.size() < 2 || name.ends_with("positional_embedding");
    put(all, static_cast<std::int32_t>(shape.size()));
    put(all, static_cast<std::int32_t>(name.size()));
    put(all, std::int32_t{floats ? 0 : 1});
    for (std::size_t i = shape.size(); i-- > 0;) put(all, static_cast<std::int32_t>(shape[i]));
    all += name;
    if (!floats) {
      put_halves(all, t.values);
      continue;
    }
    for (const float v : t.values) put(all, v);
  }
  write(file, all);
}

json settings_of(const json& dims) {
  return {{"model_type", "whisper"},
          {"num_mel_bins", dims["n_mels"]},
          {"vocab_size", dims["n_vocab"]},
          {"d_model", dims["n_audio_state"]},
          {"max_source_positions", dims["n_audio_ctx"]},
          {"encoder_attention_heads", dims["n_audio_head"]},
          {"encoder_layers", dims["n_audio_layer"]},
          {"max_target_positions", dims["n_text_ctx"]},
          {"decoder_attention_heads", dims["n_text_head"]},
          {"decoder_layers", dims["n_text_layer"]}};
}

/// Tensors of one layer on each side, all of one number.
std::map<std::string, named_tensor> small_tensors(extent size, extent vocabulary, extent rows, extent context) {
  std::map<std::string, named_tensor> all;
  const auto put = [&](const std::string& name, std::vector<extent> shape) {
    std::size_t count = 1;
    for (const extent n : shape) count *= static_cast<std::size_t>(n);
    all[name] = {std::move(shape), std::vector<float>(count, 0.25f)};
  };
  const auto linear = [&](const std::string& name, extent out, extent in) {
    put(name + ".weight", {out, in});
    if (!name.ends_with("key")) put(name + ".bias", {out});
  };
  const auto norm = [&](const std::string& name) {
    put(name + ".weight", {size});
    put(name + ".bias", {size});
  };
  put("encoder.conv1.weight", {size, 80, 3});
  put("encoder.conv1.bias", {size});
  put("encoder.conv2.weight", {size, size, 3});
  put("encoder.conv2.bias", {size});
  put("encoder.positional_embedding", {rows, size});
  put("decoder.positional_embedding", {context, size});
  put("decoder.token_embedding.weight", {vocabulary, size});
  norm("encoder.ln_post");
  norm("decoder.ln");
  for (const std::string& block : {std::string("encoder.blocks.0"), std::string("decoder.blocks.0")}) {
    for (const char* attention : {".attn", ".cross_attn"}) {
      if (block.starts_with("encoder") && std::string_view(attention) == ".cross_attn") continue;
      for (const char* part : {".query", ".key", ".value", ".out"})
        linear(std::string(block).append(attention).append(part), size, size);
      norm(std::string(block).append(attention).append("_ln"));
    }
    linear(block + ".mlp.0", 4 * size, size);
    linear(block + ".mlp.2", size, 4 * size);
    norm(block + ".mlp_ln");
  }
  return all;
}

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

}  // namespace

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
    vocabulary[whisper_files::byte_letters(tokens.back())] = tokens.size() - 1;
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
  json dims{{"n_mels", 80},     {"n_vocab", vocabulary}, {"n_audio_state", 32},
            {"n_audio_ctx", 8}, {"n_audio_head", 2},     {"n_audio_layer", 1},
            {"n_text_ctx", 16}, {"n_text_head", 2},      {"n_text_layer", 1}};
  const test::temporary_directory dir;
  const fs::path hf = dir.path();
  write_safetensors(hf / "model.safetensors", small_tensors(32, vocabulary, 8, 16));
  write(hf / "config.json", settings_of(dims).dump());
  json letters, added;
  for (int i = 0; i < text; ++i) letters[std::string(1, static_cast<char>('a' + i))] = i;
  const char* const names[] = {"<|endoftext|>", "<|startoftranscript|>", "<|en|>",        "<|zh|>",
                               "<|translate|>", "<|transcribe|>",        "<|startoflm|>", "<|startofprev|>",
                               "<|nospeech|>",  "<|notimestamps|>",      "<|0.00|>"};
  for (int i = 0; i < 11; ++i) added[names[i]] = text + i;
  added["<|30.00|>"] = vocabulary - 1;
  write(hf / "vocab.json", letters.dump());
  write(hf / "added_tokens.json", added.dump());

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
