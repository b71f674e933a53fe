// tools/convert/nemo/sortformer.cpp - Sortformer from a .nemo file; see sortformer.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/sortformer.hpp"

#include <steno/error.hpp>
#include <steno/models/sortformer.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <type_traits>
#include <utility>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

bool is_sortformer(const checkpoint_settings& config) {
  return config.text("target", "").find("Sortformer") != std::string::npos;
}

sortformer_settings read_sortformer_settings(const checkpoint_settings& f) {
  sortformer_settings s;
  read_fastconformer(f, s);
  if (!s.windows.empty()) f.require("encoder.att_context_style", "regular");
  const std::string modules = "sortformer_modules.", transformer = "transformer_encoder.";
  f.require(modules + "subsampling_factor", "8");
  f.require(transformer + "hidden_act", "relu");
  f.require(transformer + "pre_ln", "false");
  f.require(transformer + "mask_future", "false");
  s.speakers = f.number(modules + "num_spks", 4, 1, 64);
  s.hidden = f.number(modules + "tf_d_model", 192, 1, limits::width);
  f.require(modules + "fc_d_model", std::to_string(s.width));
  f.require(transformer + "hidden_size", std::to_string(s.hidden));
  s.layers = f.number(transformer + "num_layers", 18, 1, limits::layers);
  s.inner = f.number(transformer + "inner_size", 768, 1, limits::width);
  s.attention_heads = f.number(transformer + "num_attention_heads", 1, 1, 1024);
  if (s.hidden % s.attention_heads != 0 || s.hidden == s.width)
    fail({.where = f.source,
          .what = "transformer_encoder.hidden_size",
          .expected = "a width that num_attention_heads divides, not the encoder's",
          .found = std::to_string(s.hidden)});
  s.streams = f.flag("streaming_mode", false);
  nn::speaker_cache_options::each(s.streaming, [&]<class T>(const std::string& name, T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = f.flag(name, value);  // of the model, not of its modules
    else if constexpr (std::is_same_v<T, extent>)
      value = f.number(modules + name, static_cast<std::uint32_t>(value), 0, limits::width);
    else
      value = static_cast<T>(f.real(modules + name, static_cast<double>(value), 0, 1000));
  });
  if (s.streams) nemo::check_speaker_cache(s.streaming, s.speakers, f.source);
  return s;
}

void walk_sortformer(const gguf_file& keys, tensor_taker& taker) { walk_model<nemo::sortformer_any>(keys, taker); }

void promise_transformer(checkpoint_tensors& from, const sortformer_settings& s) {
  const auto d = static_cast<extent>(s.hidden);
  from.sizes.push_back({"sortformer_modules.encoder_proj.weight", d, static_cast<extent>(s.width)});
  from.sizes.push_back({"transformer_encoder.*.dense_in.weight", static_cast<extent>(s.inner), d});
  from.sizes.push_back({"sortformer_modules.single_hidden_to_spks.weight", static_cast<extent>(s.speakers), d});
  from.counts.push_back({"transformer_encoder", static_cast<extent>(s.layers)});
}

void set_sortformer_keys(weights::gguf_writer& file, const sortformer_settings& s) {
  const std::string name = "sortformer";
  const auto set = [&](const std::string& key, auto value) { file.set(name + "." + key, value); };
  file.set("general.architecture", name);
  file.set("general.name", name + "-" + std::to_string(s.width) + "-" + std::to_string(s.blocks) + "l");
  set_fastconformer_keys(file, name, s);
  set("transformer_encoder.attention_heads", s.attention_heads);
  set("streaming_mode", std::uint32_t{s.streams});
  nn::speaker_cache_options::each(s.streaming, [&]<class T>(const std::string& key, const T& value) {
    if constexpr (std::is_floating_point_v<T>)
      set("streaming." + key, value);
    else
      set("streaming." + key, static_cast<std::uint32_t>(value));
  });
}

imported_model import_sortformer(const std::shared_ptr<nemo_archive>& archive) {
  sortformer_settings s = read_sortformer_settings(archive->config);
  imported_model model;
  model.where = archive->where;
  model.source = archive;
  model.notes = s.notes;
  check_settings(archive->config, model.notes);
  checkpoint_tensors from = open_tensors(archive, s);
  set_sortformer_keys(model.file, s);
  from.ignored.insert(from.ignored.end(), {{".hidden_to_spks.weight", "no forward pass reads it"},
                                           {".hidden_to_spks.bias", "no forward pass reads it"}});
  promise_transformer(from, s);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
