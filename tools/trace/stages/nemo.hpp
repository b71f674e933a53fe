// tools/trace/stages/nemo.hpp - what the recorded cases of Parakeet, Canary and Sortformer call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// "encoder.layers.0.self_attn" is layer0_self_attn there.
inline std::string nemo(std::string_view path) {
  constexpr stage_name all[] = {
      {"logmel", "logmel"},
      {"input_features", "input_features"},
      {"pre_encode", "pre_encode"},
      {"encoder.subsampling_out", "subsampling_out"},
      {"encoder.pos_enc_x", "pos_enc_x"},
      {"encoder.pos_emb", "pos_emb"},
      {"encoder.layers.#.feed_forward1", "layer#_feed_forward1"},
      {"encoder.layers.#.self_attn", "layer#_self_attn"},
      {"encoder.layers.#.conv", "layer#_conv"},
      {"encoder.layers.#.feed_forward2", "layer#_feed_forward2"},
      {"encoder.layers.#.out", "layer#_out"},
      {"encoder.encoder_out", "encoder_out"},
      {"joint_enc_proj", "joint_enc_proj"},
      {"logits", "logits"},
      {"log_probs", "log_probs"},
      {"encoder_proj", "encoder_proj"},
      {"encoder_states", "encoder_states"},
      {"transf_decoder.embedding", "dec_embedding"},
      {"transf_decoder.#.first_sub_layer", "dec_layer#_self"},
      {"transf_decoder.#.second_sub_layer", "dec_layer#_cross"},
      {"transf_decoder.#.third_sub_layer", "dec_layer#_ff"},
      {"transf_decoder.#.out", "dec_layer#_out"},
      {"transf_decoder.final_layer_norm", "dec_out"},
      {"transformer.#.out", "transformer_layer#"},
      {"transformer.out", "transformer_out"},
      {"model_probs", "model_probs"},
      {"speaker_probs", "speaker_probs"},
      {"spkcache", "spkcache"},
      {"spkcache_preds", "spkcache_preds"},
      {"fifo", "fifo"},
      {"fifo_preds", "fifo_preds"},
      {"mean_sil_emb", "mean_sil_emb"},
  };
  return recorded_stage(path, all);
}

/// "chunk.3.encoder.layers.0.self_attn" is chunk3_layer0_self_attn.
inline std::string sortformer(std::string_view path) {
  std::string before;
  if (path.starts_with("chunk.")) {
    const std::size_t end = path.find('.', 6);
    before.append("chunk").append(path.substr(6, end - 6)).append("_");
    path.remove_prefix(end + 1);
  }
  const std::string name = nemo(path);
  return name.empty() ? name : before.append(name);
}

}  // namespace steno::stages
