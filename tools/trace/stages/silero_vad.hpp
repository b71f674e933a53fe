// tools/trace/stages/silero_vad.hpp - what stages of Silero VAD are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages without a name.
inline std::string silero_vad(std::string_view path) {
  constexpr stage_name all[] = {
      {"stft", "stft"},
      {"encoder.#.reparam_conv", "encoder#"},
      {"decoder.rnn", "rnn"},
      {"decoder.probability", "probability"},
  };
  return recorded_stage(path, all);
}

}  // namespace steno::stages
