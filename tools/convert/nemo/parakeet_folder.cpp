// tools/convert/nemo/parakeet_folder.cpp - names of tensors, and the import; see parakeet_folder.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/parakeet_folder.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <string_view>
#include <utility>

#include "folder_entries.hpp"
#include "huggingface.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace fs = std::filesystem;

namespace {

// Biases of attention, feed-forward parts and convolutions, where not all of them are there or none is.
void check_biases(const checkpoint_tensors& from, const parakeet_folder_settings& s) {
  for (const stored_tensor& t : from.all) {
    const auto in = [&](std::string_view part) { return t.name.find(part) != std::string::npos; };
    const bool convolution = in(".conv.pointwise_conv") || in(".conv.depthwise_conv");
    const bool product = in(".feed_forward1.linear") || in(".feed_forward2.linear") ||
                         (in(".self_attn.") && in("_proj.") && !in(".relative_k_proj."));
    if (!t.name.starts_with("encoder.layers.") || (!convolution && !product)) continue;
    const bool wanted = convolution ? s.convolution_bias : s.bias;
    const std::string bias = t.name.substr(0, t.name.rfind('.')) + ".bias";
    if (t.name.ends_with(".weight") && wanted == (find(from, bias) != nullptr)) continue;
    if (t.name == bias && wanted) continue;
    fail({.where = from.where,
          .what = "tensor " + steno::weights::quoted(bias),
          .expected = std::string(wanted ? "one" : "none") + ", as attention_bias and convolution_bias say",
          .found = wanted ? "none" : "one"});
  }
}

}  // namespace

std::string transformers_name(std::string name) {
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"encoder.pre_encode.conv.", "encoder.subsampling.layers."},
      {"encoder.pre_encode.out.", "encoder.subsampling.linear."},
      {".self_attn.pos_bias_", ".self_attn.bias_"},
      {".self_attn.linear_pos.", ".self_attn.relative_k_proj."},
      {".self_attn.linear_out.", ".self_attn.o_proj."},
      {".self_attn.linear_q.", ".self_attn.q_proj."},
      {".self_attn.linear_k.", ".self_attn.k_proj."},
      {".self_attn.linear_v.", ".self_attn.v_proj."},
      {"decoder.decoder_layers.0.", "ctc_head."},
      {"decoder.prediction.embed.", "decoder.embedding."},
      {"decoder.prediction.dec_rnn.", "decoder."},
      {"joint.joint_net.2.", "joint.head."},
      {"joint.enc.", "encoder_projector."},
      {"joint.pred.", "decoder.decoder_projector."}};
  for (const auto& [from, to] : parts)
    if (const std::size_t i = name.find(from); i != std::string::npos) {
      name.replace(i, from.size(), to);
      break;
    }
  return name;
}

std::string nemotron_name(std::string name) {
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"encoder.pre_encode.conv.0.", "encoder.subsampling.conv_in."},
      {"encoder.pre_encode.conv.2.", "encoder.subsampling.layers.0.depthwise_conv."},
      {"encoder.pre_encode.conv.3.", "encoder.subsampling.layers.0.pointwise_conv."},
      {"encoder.pre_encode.conv.5.", "encoder.subsampling.layers.1.depthwise_conv."},
      {"encoder.pre_encode.conv.6.", "encoder.subsampling.layers.1.pointwise_conv."},
      {"prompt_kernel.0.", "prompt_projector.linear_1."},
      {"prompt_kernel.2.", "prompt_projector.linear_2."}};
  for (const auto& [from, to] : parts)
    if (name.starts_with(from)) return std::string(to) + name.substr(from.size());
  return transformers_name(std::move(name));
}

bool is_parakeet_folder(const fs::path& path) {
  const auto type = huggingface::model_type(path);
  return type && (type->starts_with("parakeet") || type->starts_with("nemotron3_5_asr") ||
                  type->starts_with("nemotron_asr_streaming"));
}

imported_model import_parakeet_folder(const fs::path& path, const import_options& options) {
  if (options.cmvn)
    fail(
        {.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "NeMo normalises each clip by itself"});
  const fs::path folder = folder_of(path);
  parakeet_folder_settings s = read_parakeet_folder(folder);
  imported_model model;
  const tokenizers::sentencepiece_vocabulary pieces =
      read_tokenizer_json(folder / "tokenizer.json", s.vocabulary, s.notes);
  model.notes = s.notes;
  huggingface::weights w = huggingface::open_weights(path);
  model.where = w.where;
  model.source = w.source;
  set_parakeet_keys(model.file, s, pieces);
  checkpoint_tensors from{.where = model.where, .all = std::move(w.tensors)};
  from.named = s.streaming ? nemotron_name : transformers_name;
  from.ignored = {{".num_batches_tracked", "a counter of training"},
                  {"encoder.encode_positions", "positions are computed"}};
  if (!s.bias_everywhere) check_biases(from, s);
  promise_encoder(from, s);
  promise_heads(from, s);
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
