// tools/trace/stages/sense_voice.hpp - what the recorded cases of SenseVoice call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string sense_voice(std::string_view path) {
  constexpr stage_name blocks[] = {{"encoder.encoders0.#.", "enc#_"},
                                   {"encoder.encoders.#.", "encoders_#_"},
                                   {"encoder.tp_encoders.#.", "tp_encoders_#_"}};
  const std::string part = recorded_stage(path, blocks, sanm_parts);
  constexpr stage_name others[] = {
      {"fbank", "fbank"},
      {"lfr", "lfr"},
      {"cmvn", "cmvn"},
      {"query_embeds", "query_embeds"},
      {"encoder.posenc", "posenc"},
      {"encoder.after_norm", "after_norm"},
      {"encoder.tp_norm", "tp_norm"},
      {"ctc_logits", "ctc_logits"},
      {"ctc_log_probs", "ctc_log_probs"},
  };
  return part.empty() ? recorded_stage(path, others) : part;
}

}  // namespace steno::stages
