// tools/convert/nemo/sortformer_gguf.cpp - Sortformer from the GGUF files of qvac-parakeet.cpp; see sortformer.hpp and
// published_gguf.hpp.
//
// They say nothing of streams: a model without normalised features is one for streams, with NeMo's defaults.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <utility>

#include "gguf_import.hpp"
#include "limits.hpp"
#include "nemo/published_gguf.hpp"
#include "nemo/sortformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

constexpr std::string_view keys_at = "parakeet.sortformer.";

sortformer_settings settings_of(const gguf_file& file) {
  const auto number = [&](const char* key, std::uint32_t min, std::uint32_t max) {
    return whole_number(file, (std::string(keys_at) + key).c_str(), min, max);
  };
  sortformer_settings s;
  read_published_encoder(file, s);
  s.speakers = number("num_spks", 1, 64);
  (void)number("fc_d_model", s.width, s.width);
  s.hidden = number("tf_d_model", 1, limits::width);
  s.layers = number("tf_n_layers", 1, limits::layers);
  s.inner = number("tf_inner_size", 1, limits::width);
  s.attention_heads = number("tf_n_heads", 1, 1024);
  const auto key = [](const char* name) { return std::string(keys_at) + name; };
  require_published(file, key("tf_hidden_act"), file.text(key("tf_hidden_act")).value_or("relu"), "relu");
  if (published_flag(file, key("tf_pre_ln"), false))
    fail({.where = file.where(), .what = "key " + steno::weights::quoted(key("tf_pre_ln")), .expected = "false"});
  if (s.hidden % s.attention_heads != 0 || s.hidden == s.width)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key("tf_d_model")),
          .expected = "a width that tf_n_heads divides, not the encoder's",
          .found = std::to_string(s.hidden)});
  s.streams = s.frontend.normalise == frontends::normalisation::none;
  return s;
}

std::string sortformer_head_name(std::string name) {
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"sortformer_modules.encoder_proj.", "sortformer.encoder_proj."},
      {"sortformer_modules.", "sortformer.head."},
      {"transformer_encoder.layers.", "sortformer.transformer.blk."},
      {".layer_norm_", ".ln"},
      {".first_sub_layer.query_net.", ".attn.q."},
      {".first_sub_layer.key_net.", ".attn.k."},
      {".first_sub_layer.value_net.", ".attn.v."},
      {".first_sub_layer.out_projection.", ".attn.out."},
      {".second_sub_layer.dense_", ".ffn."}};
  for (const auto& [from, to] : parts)
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  return name;
}

}  // namespace

bool is_published_sortformer(const gguf_file& file) {
  return file.text("parakeet.model.type").value_or("") == "sortformer";
}

imported_model import_published_sortformer(const std::shared_ptr<gguf_file>& file) {
  sortformer_settings s = settings_of(*file);
  imported_model model;
  model.where = file->where();
  model.source = file;
  check_published_keys(*file, model.notes);
  checkpoint_tensors from = published_tensors(*file, s, sortformer_head_name);
  set_sortformer_keys(model.file, s);
  promise_transformer(from, s);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
