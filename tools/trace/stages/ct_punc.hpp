// tools/trace/stages/ct_punc.hpp - what the recorded cases of CT-Transformer call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// The golden cases' name of a traced stage: "mini.0.encoder.encoders0.0.out" is mini0_enc0_out there. The passes of
/// several texts or pieces stand below "text" and "piece".
inline std::string ct_punc(std::string_view path) {
  for (const std::string_view front : {"text", "piece"}) {
    const std::size_t dot = path.find('.', front.size() + 1);
    if (!path.starts_with(front) || dot == path.npos) continue;
    const std::string rest = ct_punc(path.substr(dot + 1));
    if (rest.empty()) return rest;
    return std::string(front).append(path.substr(front.size() + 1, dot - front.size() - 1)).append("_").append(rest);
  }
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
