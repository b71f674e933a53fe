// tools/convert/whisper/mlx.cpp - a folder of mlx-examples: config.json with openai's dims, and the weights.
//
// Weights: model.safetensors, weights.safetensors or weights.npz, in this order. They have openai's names, but for
// mlp1 and mlp2; kernels of convolutions are [out, taps, in]; the encoder's positions are not stored but computed:
//   p[t] = [sin(t w), cos(t w)], w[i] = 10000 ^ (-i / (D / 2 - 1))
// in floats, rounded to the weights' format. Follows convert.py and mlx_whisper (ml-explore/mlx-examples). Tested in
// tests/convert/mlx_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/half.hpp>
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "content.hpp"
#include "folder_entries.hpp"
#include "foreign_files.hpp"
#include "json_settings.hpp"
#include "json_text.hpp"
#include "npz.hpp"
#include "safetensors.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;

namespace {

struct mlx_weights {
  std::unique_ptr<safetensors_file> tensors;
  std::unique_ptr<weights::mapped_file> file;
};

std::vector<stored_tensor> open_mlx_weights(const fs::path& file, mlx_weights& keep) {
  if (file.extension() == ".npz") {
    keep.file = std::make_unique<weights::mapped_file>(file.string());
    return npz_tensors(keep.file->bytes(), file.string());
  }
  keep.tensors = std::make_unique<safetensors_file>(file);
  return keep.tensors->tensors();
}

// [out, taps, in] to [out, in, taps].
stored_tensor with_taps_last(const stored_tensor& t) {
  stored_tensor turned{.name = t.name, .shape = {t.shape[0], t.shape[2], t.shape[1]}, .stored = t.stored};
  turned.read = [read = t.read, out = static_cast<std::size_t>(t.shape[0]), taps = static_cast<std::size_t>(t.shape[1]),
                 in = static_cast<std::size_t>(t.shape[2])](std::span<float> to) {
    std::vector<float> from(to.size());
    read(from);
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t k = 0; k < taps; ++k)
        for (std::size_t i = 0; i < in; ++i) to[(o * in + i) * taps + k] = from[(o * taps + k) * in + i];
  };
  return turned;
}

stored_tensor sinusoids(const settings& s, bool halves) {
  stored_tensor t{.name = "encoder.positional_embedding",
                  .shape = {static_cast<extent>(s.audio_context), static_cast<extent>(s.width)}};
  t.read = [rows = s.audio_context, half = s.width / 2, halves](std::span<float> to) {
    const float step = static_cast<float>(std::log(10000.0) / (half - 1.0));
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < half; ++i) {
        const float angle = static_cast<float>(r) * std::exp(-step * static_cast<float>(i));
        const auto put = [&](std::size_t at, float v) {
          to[r * 2 * half + at] = halves ? core::half_to_float(core::float_to_half(v)) : v;
        };
        put(i, std::sin(angle));
        put(half + i, std::cos(angle));
      }
  };
  return t;
}

}  // namespace

bool is_mlx(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!fs::is_directory(path) && name != "config.json" && path.extension() != ".npz" &&
      path.extension() != ".safetensors")
    return false;
  const fs::path config = folder_of(path) / "config.json";
  if (!fs::is_regular_file(config)) return false;
  const nlohmann::json j = read_json(config);
  return j.is_object() && j.contains("n_mels") && j.contains("n_audio_state");
}

imported_model import_mlx(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const fs::path folder = folder_of(path), config = folder / "config.json";
  const checkpoint_settings f = json_settings(config.string(), read_json_object(config));
  const auto dim = [&](const char* key) {
    if (!f.has(key)) fail({.where = f.source, .what = key, .expected = "a size"});
    return f.number(key, 0, 1, 1u << 24);
  };
  const settings s{.mels = dim("n_mels"),
                   .vocabulary = dim("n_vocab"),
                   .width = dim("n_audio_state"),
                   .audio_context = dim("n_audio_ctx"),
                   .audio_heads = dim("n_audio_head"),
                   .audio_layers = dim("n_audio_layer"),
                   .text_context = dim("n_text_ctx"),
                   .text_heads = dim("n_text_head"),
                   .text_layers = dim("n_text_layer")};
  f.require("n_text_state", static_cast<double>(s.width));
  f.require("model_type", "whisper");
  if (f.maps.contains("quantization"))
    fail({.where = f.source,
          .what = "quantization: MLX's packed weights are not read",
          .hint = "take the same model without -4bit or -8bit in its name; steno-convert --type q8_0 makes it small"});
  std::vector<std::string> notes;
  constexpr std::string_view all[] = {""};
  f.check_all_read(all, {}, notes);

  fs::path file = path;
  if (fs::is_directory(path) || path.filename() == "config.json") {
    file.clear();
    for (const char* name : {"model.safetensors", "weights.safetensors", "weights.npz"})
      if (file.empty() && fs::is_regular_file(folder / name)) file = folder / name;
    if (file.empty()) fail(without_weights(folder, "model.safetensors, weights.safetensors or weights.npz"));
  }
  const auto keep = std::make_shared<mlx_weights>();
  settings own = s;
  std::vector<stored_tensor> tensors;
  bool halves = false;
  for (stored_tensor& t : open_mlx_weights(file, *keep)) {
    if (t.name == "alignment_heads") {
      std::vector<float> pairs(t.count());
      t.read(pairs);
      if (t.shape.size() != 2 || t.shape[1] != 2)
        fail({.where = file.string(), .what = "alignment_heads is not a list of [layer, head]"});
      for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        if (!(pairs[i] >= 0 && pairs[i] <= 65535 && pairs[i + 1] >= 0 && pairs[i + 1] <= 65535))
          fail({.where = file.string(), .what = "alignment_heads holds no numbers of layers and heads"});
        own.alignment_heads.emplace_back(static_cast<std::uint32_t>(pairs[i]),
                                         static_cast<std::uint32_t>(pairs[i + 1]));
      }
      continue;
    }
    for (const auto& [from, to] : {std::pair(".mlp1.", ".mlp.0."), std::pair(".mlp2.", ".mlp.2.")})
      if (const std::size_t at = t.name.find(from); at != std::string::npos) t.name.replace(at, 6, to);
    const bool kernel = t.name == "encoder.conv1.weight" || t.name == "encoder.conv2.weight";
    if (t.name == "decoder.token_embedding.weight") halves = t.stored == dtype::f16;
    tensors.push_back(kernel && t.shape.size() == 3 ? with_taps_last(t) : std::move(t));
  }
  if (s.width < 4 || s.width % 2 != 0 || s.width > 1 << 14 || s.audio_context > 1 << 16)
    fail({.where = f.source, .what = "n_audio_state and n_audio_ctx are out of range"});
  const auto positions = [](const stored_tensor& t) { return t.name == "encoder.positional_embedding"; };
  if (std::none_of(tensors.begin(), tensors.end(), positions)) tensors.push_back(sinusoids(s, halves));
  std::vector<std::string> tokens = find_tokens(folder / "config.json", own, options.tokenizer, notes);
  imported_model model = package(file.string(), own, std::move(tokens), std::move(tensors), keep);
  model.takes_tokenizer = true;
  model.notes.insert(model.notes.begin(), notes.begin(), notes.end());
  return model;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
