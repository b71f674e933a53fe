// tools/trace/stages/u2.hpp - what the recorded cases of WeNet call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string u2(std::string_view path) {
  constexpr stage_name all[] = {
      {"fbank", "fbank"},
      {"cmvn", "cmvn"},
      {"encoder.embed.conv", "subsampling_conv"},
      {"encoder.subsampled", "subsampled"},
      {"encoder.pos_emb", "pos_emb"},
      {"encoder.encoders.#.feed_forward_macaron", "layer#_macaron"},
      {"encoder.encoders.#.self_attn", "layer#_attn"},
      {"encoder.encoders.#.conv_module", "layer#_conv"},
      {"encoder.encoders.#.feed_forward", "layer#_ff"},
      {"encoder.encoders.#.out", "layer#_out"},
      {"encoder.after_norm", "encoder_out"},
      {"ctc_logprobs", "ctc_logprobs"},
      {"attention_step", "attention_step"},
  };
  return recorded_stage(path, all);
}

}  // namespace steno::stages
