// tools/convert/type_mix.cpp - see type_mix.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "type_mix.hpp"

#include <algorithm>
#include <charconv>
#include <map>

namespace steno {
inline namespace STENO_ABI {

namespace {

struct ending {
  std::string_view text;
  matrix_role role;
};
// Ends of names, as the checkpoints have them.
constexpr ending in_layers[] = {
    {".linear_v.weight", matrix_role::value},      // WeNet, NeMo, FunASR's transformers
    {".linear_k_v.weight", matrix_role::value},    // SAN-M's attention to the encoder's rows
    {".linear_q_k_v.weight", matrix_role::value},  // SAN-M
    {".v_proj.weight", matrix_role::value},        // Qwen3 and its audio tower
    {".value.weight", matrix_role::value},         // Whisper
    {".value_net.weight", matrix_role::value},     // NeMo's transformers
    {".w_2.weight", matrix_role::down},            // WeNet, FunASR
    {".linear2.weight", matrix_role::down},        // FastConformer
    {".down_proj.weight", matrix_role::down},      // Qwen3
    {".fc2.weight", matrix_role::down},            // Qwen3's audio tower
    {".mlp.2.weight", matrix_role::down},          // Whisper
    {".dense_out.weight", matrix_role::down},      // NeMo's transformers
};
constexpr std::string_view outputs[] = {"ctc.ctc_lo.weight",       "output_layer.weight", "lm_head.weight",
                                        "decoder_layers.0.weight", "joint_net.2.weight",  "out_linear2.linear.weight",
                                        "hidden_to_spks.weight"};
// Makes the scores where there is no other matrix for them.
constexpr std::string_view embeddings[] = {"token_embedding.weight", "embed_tokens.weight"};

bool ends_so(std::string_view name, std::span<const std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view e) { return name.ends_with(e); });
}

}  // namespace

matrix_place place_of(std::string_view name) {
  matrix_place place;
  if (name == "decoder.weight" || ends_so(name, outputs)) place.role = matrix_role::output;  // CT-Transformer's marks
  for (const ending& e : in_layers) {
    if (!name.ends_with(e.text)) continue;
    // The last number in front of the ending.
    for (std::string_view path = name.substr(0, name.size() - e.text.size()); !path.empty();) {
      const std::size_t dot = path.rfind('.');
      if (dot == std::string_view::npos) break;
      const std::string_view part = path.substr(dot + 1);
      path = path.substr(0, dot);
      std::size_t n = 0;
      const auto [end, bad] = std::from_chars(part.data(), part.data() + part.size(), n);
      if (bad != std::errc{} || end != part.data() + part.size()) continue;
      return {e.role, path, n};
    }
  }
  return place;
}

std::vector<dtype> mixed_types(std::span<const imported_tensor> tensors, dtype base) {
  std::map<std::string_view, std::size_t> lengths;  // of the lists of layers
  bool has_output = false;
  for (const imported_tensor& t : tensors) {
    const matrix_place p = place_of(t.name);
    if (!t.product) continue;
    if (!p.layers.empty()) lengths[p.layers] = std::max(lengths[p.layers], p.layer + 1);
    has_output = has_output || t.name.ends_with("lm_head.weight");
  }
  std::vector<dtype> types;
  for (const imported_tensor& t : tensors) {
    const matrix_place p = place_of(t.name);
    const bool more = p.role == matrix_role::output || (!has_output && ends_so(t.name, embeddings)) ||
                      (!p.layers.empty() && uses_more_bits(p.layer, lengths[p.layers]));
    types.push_back(!t.product ? dtype::f32 : more ? dtype::q6_k : base);
  }
  return types;
}

}  // namespace STENO_ABI
}  // namespace steno
