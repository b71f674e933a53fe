// tools/convert/whisper/huggingface.cpp - a folder of WhisperForConditionalGeneration; see whisper.hpp.
#include "huggingface.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include "json_text.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

namespace fs = std::filesystem;
using nlohmann::json;

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

void read_alignment_heads(const fs::path& file, settings& s) {
  if (!fs::is_regular_file(file)) return;
  const json j = read_json_object(file);
  if (!j.contains("alignment_heads") || !j["alignment_heads"].is_array()) return;
  for (const json& pair : j["alignment_heads"]) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() || !pair[1].is_number_unsigned() ||
        pair[0].get<std::uint64_t>() > 1024 || pair[1].get<std::uint64_t>() > 1024)
      fail({.where = file.string(), .what = "alignment_heads is not a list of [layer, head]"});
    s.alignment_heads.emplace_back(pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>());
  }
}

}  // namespace

bool is_huggingface(const fs::path& path) {
  const auto type = huggingface::model_type(path);
  return type && *type == "whisper";
}

imported_model import_huggingface(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const fs::path folder = huggingface::folder_of(path), config = folder / "config.json";
  const json j = read_json_object(config);
  const auto size = [&](const char* key) {
    if (!j.contains(key) || !j[key].is_number_unsigned() || j[key].get<std::uint64_t>() > 1 << 24)
      fail({.where = config.string(), .what = steno::weights::quoted(key), .expected = "a size"});
    return j[key].get<std::uint32_t>();
  };
  settings s{.mels = size("num_mel_bins"),
             .vocabulary = size("vocab_size"),
             .width = size("d_model"),
             .audio_context = size("max_source_positions"),
             .audio_heads = size("encoder_attention_heads"),
             .audio_layers = size("encoder_layers"),
             .text_context = size("max_target_positions"),
             .text_heads = size("decoder_attention_heads"),
             .text_layers = size("decoder_layers")};
  for (const char* key : {"encoder_ffn_dim", "decoder_ffn_dim"})
    if (j.contains(key) && size(key) != 4 * s.width)
      fail({.where = config.string(),
            .what = steno::weights::quoted(key),
            .expected = "4 d_model = " + std::to_string(4 * s.width),
            .found = std::to_string(size(key))});
  read_alignment_heads(folder / "generation_config.json", s);
  if (text_tokens(s.vocabulary) == 0) read_special_tokens(folder, s);
  huggingface::weights w = huggingface::open_weights(path);
  std::vector<stored_tensor> tensors;
  for (stored_tensor& t : w.tensors) {
    if (t.name == "proj_out.weight") continue;  // the token embedding once more
    t.name = openai_name(std::move(t.name));
    tensors.push_back(std::move(t));
  }
  return package(w.where, s, find_tokens(folder / "vocab.json", s), std::move(tensors), w.source);
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
