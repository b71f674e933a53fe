// tools/convert/whisper/openai.cpp - openai's .pt: a pickle of {"dims": .., "model_state_dict": ..}; see whisper.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "content.hpp"
#include "torch/tensors.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;

bool is_openai(const fs::path& path) {
  if (fs::is_directory(path) || !is_torch_file(path)) return false;
  try {
    return torch::checkpoint(path).integer("dims", "n_text_layer").has_value();
  } catch (const error&) {
    return false;  // not a checkpoint at all: another message says so
  }
}

imported_model import_openai(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const auto c = std::make_shared<torch::checkpoint>(path);
  const auto dim = [&](const char* key) {
    const auto n = c->integer("dims", key);
    if (!n || *n < 0 || *n > 1 << 24)
      fail({.where = path.string(),
            .what = std::string("dims.") + key,
            .expected = "a size",
            .found = n ? std::to_string(*n) : "nothing"});
    return static_cast<std::uint32_t>(*n);
  };
  settings s{.mels = dim("n_mels"),
             .vocabulary = dim("n_vocab"),
             .width = dim("n_audio_state"),
             .audio_context = dim("n_audio_ctx"),
             .audio_heads = dim("n_audio_head"),
             .audio_layers = dim("n_audio_layer"),
             .text_context = dim("n_text_ctx"),
             .text_heads = dim("n_text_head"),
             .text_layers = dim("n_text_layer")};
  if (dim("n_text_state") != s.width)
    fail({.where = path.string(), .what = "dims: n_text_state and n_audio_state differ"});
  constexpr std::string_view known[] = {"n_mels",     "n_vocab",      "n_audio_state", "n_audio_ctx",  "n_audio_head",
                                        "n_text_ctx", "n_text_state", "n_text_head",   "n_text_layer", "n_audio_layer"};
  for (const std::string& key : c->keys("dims"))
    if (std::find(std::begin(known), std::end(known), key) == std::end(known))
      fail({.where = path.string(),
            .what = steno::weights::quoted("dims." + key) + " is a setting that steno does not know",
            .hint = "it may change what the model computes"});
  std::vector<stored_tensor> tensors;
  for (stored_tensor& t : torch::stored_tensors(c))
    if (t.name != "decoder.mask" && t.name != "alignment_heads") tensors.push_back(std::move(t));  // buffers
  std::vector<std::string> notes;
  std::vector<std::string> tokens = find_tokens(path, s, options.tokenizer, notes);
  imported_model model = package(path.string(), s, std::move(tokens), std::move(tensors), c);
  model.takes_tokenizer = true;
  model.notes.insert(model.notes.begin(), notes.begin(), notes.end());
  return model;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
