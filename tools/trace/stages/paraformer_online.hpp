// tools/trace/stages/paraformer_online.hpp - what the recorded cases of Paraformer-online call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string paraformer_online(std::string_view path) {
  constexpr stage_name blocks[] = {{"piece.#.encoders0.#.", "piece#_encoders0_#_"},
                                   {"piece.#.encoders.#.", "piece#_encoders_#_"}};
  if (const std::string part = recorded_stage(path, blocks, sanm_parts); !part.empty()) return part;
  constexpr stage_name layers[] = {{"piece.#.decoder.decoders.#.", "piece#_decoder_decoders_#_"}};
  std::string part = recorded_stage(path, layers, sanm_decoder_parts);
  if (part.ends_with("_ffn_inner_norm")) part.replace(part.size() - 14, 14, "feed_forward_norm");
  if (!part.empty()) return part;
  constexpr stage_name others[] = {
      {"piece.#.frontend.fbank", "piece#_frontend_fbank"},
      {"piece.#.frontend.lfr", "piece#_frontend_lfr"},
      {"piece.#.frontend.cmvn", "piece#_frontend_cmvn"},
      {"piece.#.feats_before_scaling", "piece#_feats_before_scaling"},
      {"piece.#.tail_cached_feats", "piece#_tail_cached_feats"},
      {"piece.#.posenc", "piece#_posenc"},
      {"piece.#.encoder_layer0_in", "piece#_encoder_layer0_in"},
      {"piece.#.after_norm", "piece#_encoder_out"},
      {"piece.#.cif_conv1d", "piece#_cif_conv1d"},
      {"piece.#.cif_output", "piece#_cif_output"},
      {"piece.#.alphas_raw", "piece#_alphas_raw"},
      {"piece.#.acoustic_embeds", "piece#_acoustic_embeds"},
      {"piece.#.decoder.decoders.#.out", "piece#_decoder_decoders_#_out"},
      {"piece.#.decoder.decoders3", "piece#_decoder_decoders3"},
      {"piece.#.decoder.decoders3.0.feed_forward.norm", "piece#_decoder_norm"},
      {"piece.#.decoder.after_norm", "piece#_decoder_after_norm"},
      {"piece.#.logits", "piece#_logits"},
      {"piece.#.log_probs", "piece#_log_probs"},
  };
  return recorded_stage(path, others);
}

}  // namespace steno::stages
