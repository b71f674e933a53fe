// tools/trace/stages/fsmn_vad.hpp - what the recorded cases of FSMN-VAD call its traced stages.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "../stage_names.hpp"

namespace steno::stages {

/// Empty for stages that the recordings have not.
inline std::string fsmn_vad(std::string_view path) {
  constexpr stage_name all[] = {
      {"fbank", "fbank"},
      {"lfr", "lfr"},
      {"cmvn", "feats"},
      {"in_linear1.linear", "in_linear1"},
      {"in_linear2.linear", "in_linear2_relu"},
      {"fsmn.#.linear.linear", "fsmn#_proj"},
      {"fsmn.#.memory", "fsmn#_memory"},
      {"fsmn.#.out", "fsmn#_out"},
      {"out_linear1.linear", "out_linear1"},
      {"out_linear2.linear", "logits"},
      {"scores", "scores"},
  };
  return recorded_stage(path, all);
}

}  // namespace steno::stages
