// tools/trace/stages/paraformer.hpp - what the recorded cases of Paraformer and its kinds call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Those that hotwords bring have a number of tokens or of hotwords as rows. Empty for stages that no recording has.
inline std::string paraformer(std::string_view path) {
  constexpr stage_name blocks[] = {{"encoder.encoders0.#.", "enc#_"}, {"encoder.encoders.#.", "encoders_#_"}};
  if (const std::string part = recorded_stage(path, blocks, sanm_parts); !part.empty()) return part;
  constexpr stage_name layers[] = {{"decoder.decoders.#.", "dec#_"}};
  if (const std::string part = recorded_stage(path, layers, sanm_decoder_parts); !part.empty()) return part;
  constexpr stage_name others[] = {
      {"fbank", "fbank"},
      {"lfr", "lfr"},
      {"cmvn", "cmvn"},
      {"encoder.posenc", "posenc"},
      {"encoder.after_norm", "encoder_out"},
      {"predictor.cif_conv1d", "cif_conv1d"},
      {"predictor.cif_output", "cif_output"},
      {"alphas_with_tail", "alphas_with_tail"},
      {"cif_peaks", "cif_peaks"},
      {"acoustic_embeds", "acoustic_embeds"},
      {"decoder.decoders.#.out", "decoders_#_out"},
      {"decoder.decoders3", "decoders3_out"},
      {"decoder.decoders3.0.feed_forward.norm", "norm"},
      {"decoder.after_norm", "decoder_after_norm"},
      {"logits", "logits"},
      {"log_probs", "log_probs"},
      // BiCif, SeACo
      {"predictor.upsample_cnn", "upsample_cnn"},
      {"predictor.upsample_blstm", "upsample_blstm"},
      {"predictor.cif_output2", "cif_output2"},
      {"predictor.us_alphas", "us_alphas"},
      {"predictor.us_peaks", "us_peaks"},
      // SeACo
      {"selected", "selected"},
      {"asf.attention", "asf_attention"},
      {"asf.scores", "asf_scores"},
      {"cif_pass.decoders.#.out", "cif_pass_layer#_out"},
      {"cif_pass.decoders3", "cif_pass_decoders3_out"},
      {"cif_attended", "cif_attended"},
      {"dec_attended", "dec_attended"},
      {"merged", "merged"},
      {"dha_logits", "dha_logits"},
      // contextual
      {"hotword_embeds", "hotword_embeds"},
      {"decoder.last_decoder.memory", "last_decoder_self_attn"},
      {"decoder.last_decoder.src_attn", "last_decoder_src_attn"},
      {"decoder.bias_decoder", "bias_decoder_out"},
      {"decoder.bias_output", "bias_output"},
  };
  return recorded_stage(path, others);
}

}  // namespace steno::stages
