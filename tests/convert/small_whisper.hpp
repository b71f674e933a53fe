// A Whisper in the formats that people hold, made by the tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/core/half.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace steno::test {
namespace small_whisper {

using nlohmann::json;
namespace fs = std::filesystem;

struct named_tensor {
  std::vector<extent> shape;
  std::vector<float> values;
};

// What Hugging Face calls a tensor of openai's.
inline std::string huggingface_name(std::string name) {
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
inline void put_halves(std::string& to, const std::vector<float>& values) {
  for (const float v : values) put(to, core::float_to_half(v));
}

inline void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }
inline std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_safetensors(const fs::path& file, const std::map<std::string, named_tensor>& tensors,
                              bool prefixed = true) {
  json header;
  std::string data;
  for (const auto& [name, t] : tensors) {
    const std::size_t begin = data.size();
    put_halves(data, t.values);
    const std::string full = huggingface_name(name);
    header[prefixed ? full : full.substr(6)] = {
        {"dtype", "F16"}, {"shape", t.shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  std::string all;
  put(all, static_cast<std::uint64_t>(text.size()));
  write(file, all + text + data);
}

// As whisper.cpp's own converter: vectors and positions are floats, the biases of convolutions [d, 1].
inline void write_ggml(const fs::path& file, const std::map<std::string, named_tensor>& tensors, const json& dims,
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

inline json settings_of(const json& dims) {
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
inline std::map<std::string, named_tensor> small_tensors(extent size, extent vocabulary, extent rows, extent context) {
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

}  // namespace small_whisper

/// A Hugging Face folder with a vocabulary of its own: 20 letters, then <|endoftext|> 20, <|startoftranscript|> 21,
/// <|en|> 22, <|zh|> 23, <|translate|> 24, <|transcribe|> 25, <|startoflm|> 26, <|startofprev|> 27, <|nospeech|> 28,
/// <|notimestamps|> 29 and times.
inline void write_small_whisper(const std::filesystem::path& folder) {
  using namespace small_whisper;
  constexpr int text = 20, languages = 2, vocabulary = text + 8 + languages + 1501;
  const json dims{{"n_mels", 80},     {"n_vocab", vocabulary}, {"n_audio_state", 32},
                  {"n_audio_ctx", 8}, {"n_audio_head", 2},     {"n_audio_layer", 1},
                  {"n_text_ctx", 16}, {"n_text_head", 2},      {"n_text_layer", 1}};
  fs::create_directories(folder);
  write_safetensors(folder / "model.safetensors", small_tensors(32, vocabulary, 8, 16));
  write(folder / "config.json", settings_of(dims).dump());
  json letters, added;
  for (int i = 0; i < text; ++i) letters[std::string(1, static_cast<char>('a' + i))] = i;
  const char* const names[] = {"<|endoftext|>", "<|startoftranscript|>", "<|en|>",        "<|zh|>",
                               "<|translate|>", "<|transcribe|>",        "<|startoflm|>", "<|startofprev|>",
                               "<|nospeech|>",  "<|notimestamps|>",      "<|0.00|>"};
  for (int i = 0; i < 11; ++i) added[names[i]] = text + i;
  added["<|30.00|>"] = vocabulary - 1;
  write(folder / "vocab.json", letters.dump());
  write(folder / "added_tokens.json", added.dump());
}

}  // namespace steno::test
