// tools/convert/whisper/huggingface.cpp - a folder of WhisperForConditionalGeneration; see whisper.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "huggingface.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include "folder_entries.hpp"
#include "json_settings.hpp"
#include "json_text.hpp"
#include "whisper/generation.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;
namespace {

struct renamed {
  std::string_view from, to;
};
// Parts of names, in the order in which they are replaced; the longer ones first.
constexpr renamed parts[] = {
    {"encoder_attn_layer_norm", "cross_attn_ln"},
    {"self_attn_layer_norm", "attn_ln"},
    {"final_layer_norm", "mlp_ln"},
    {"encoder_attn", "cross_attn"},
    {"self_attn", "attn"},
    {"q_proj", "query"},
    {"k_proj", "key"},
    {"v_proj", "value"},
    {"out_proj", "out"},
    {"fc1", "mlp.0"},
    {"fc2", "mlp.2"},
    {"layers", "blocks"},
};

std::string openai_name(std::string name) {
  if (name.starts_with("model.")) name.erase(0, 6);
  if (name == "encoder.embed_positions.weight") return "encoder.positional_embedding";
  if (name == "decoder.embed_positions.weight") return "decoder.positional_embedding";
  if (name == "decoder.embed_tokens.weight") return "decoder.token_embedding.weight";
  const auto put = [&](std::string_view from, std::string_view to) {
    const std::size_t at = name.find(from);
    if (at != std::string::npos) name.replace(at, from.size(), to);
  };
  if (name.starts_with("encoder.layer_norm")) put("layer_norm", "ln_post");
  if (name.starts_with("decoder.layer_norm")) put("layer_norm", "ln");
  for (const renamed& r : parts) put(r.from, r.to);
  return name;
}

}  // namespace

bool is_huggingface(const fs::path& path) {
  const auto type = huggingface::model_type(path);
  return type && *type == "whisper";
}

imported_model import_huggingface(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const fs::path folder = folder_of(path), config = folder / "config.json";
  const checkpoint_settings f = json_settings(config.string(), read_json_object(config));
  settings s = read_sizes(f);
  read_special_tokens(folder, s);
  std::vector<std::string> notes;
  read_folder_settings(folder, f, s, notes);
  huggingface::weights w = huggingface::open_weights(path);
  std::vector<stored_tensor> tensors;
  for (stored_tensor& t : w.tensors) {
    if (t.name == "proj_out.weight") continue;  // the token embedding once more
    t.name = openai_name(std::move(t.name));
    tensors.push_back(std::move(t));
  }
  std::vector<std::string> tokens = find_tokens(folder / "vocab.json", s, options.tokenizer, notes);
  imported_model model = package(w.where, s, std::move(tokens), std::move(tensors), w.source);
  model.takes_tokenizer = true;
  model.notes.insert(model.notes.begin(), notes.begin(), notes.end());
  return model;
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
