// tools/trace/stages/fun_asr_nano.hpp - what the recorded cases of Fun-ASR-Nano call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string fun_asr_nano(std::string_view path) {
  constexpr stage_name blocks[] = {{"audio_encoder.encoders0.#.", "enc#_"},
                                   {"audio_encoder.encoders.#.", "encoders_#_"},
                                   {"audio_encoder.tp_encoders.#.", "tp_encoders_#_"}};
  if (const std::string part = recorded_stage(path, blocks, sanm_parts); !part.empty()) return part;
  constexpr stage_name others[] = {
      {"fbank", "fbank"},
      {"lfr", "lfr"},
      {"cmvn", "cmvn"},
      {"audio_encoder.posenc", "posenc"},
      {"audio_encoder.after_norm", "after_norm"},
      {"audio_encoder.tp_norm", "encoder_out_tp_norm"},
      {"audio_adaptor.linear1", "adaptor_linear1"},
      {"audio_adaptor.linear2", "adaptor_linear2"},
      {"audio_adaptor.blocks.#.norm1", "adaptor_blk#_norm1"},
      {"audio_adaptor.blocks.#.self_attn.q", "adaptor_blk#_q"},
      {"audio_adaptor.blocks.#.self_attn.k", "adaptor_blk#_k"},
      {"audio_adaptor.blocks.#.self_attn.v", "adaptor_blk#_v"},
      {"audio_adaptor.blocks.#.self_attn", "adaptor_blk#_self_attn"},
      {"audio_adaptor.blocks.#.norm2", "adaptor_blk#_norm2"},
      {"audio_adaptor.blocks.#.feed_forward", "adaptor_blk#_ffn"},
      {"audio_adaptor.blocks.#.out", "adaptor_blocks_#_out"},
      {"audio_adaptor", "adaptor_out"},
      {"audio_embeds_used", "audio_embeds_used"},
      {"inputs_embeds", "inputs_embeds"},
      {"ctc_decoder", "ctc_decoder_out"},
      {"ctc_logits", "ctc_logits"},
      {"ctc_log_probs", "ctc_log_probs"},
  };
  return recorded_stage(path, others);
}

}  // namespace steno::stages
