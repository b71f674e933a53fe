// tools/trace/stages/ct_punc.hpp - what the recorded cases of CT-Transformer call its traced stages.
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string ct_punc(std::string_view path) {
  constexpr stage_name blocks[] = {{"mini.#.encoder.encoders0.#.", "mini#_enc#_"},
                                           {"mini.#.encoder.encoders.#.", "mini#_encoders_#_"}};
  if (const std::string part = recorded_stage(path, blocks, sanm_parts); !part.empty()) return part;
  constexpr stage_name others[] = {{"mini.#.embed", "mini#_embed"},
                                           {"mini.#.encoder.posenc", "mini#_posenc"},
                                           {"mini.#.encoder.after_norm", "mini#_encoder_out"},
                                           {"mini.#.logits", "mini#_logits"}};
  return recorded_stage(path, others);
}

}  // namespace steno::stages
