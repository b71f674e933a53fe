// The models that options put beside the one that recognises.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "handles.hpp"

namespace steno::c {

struct beside {
  // For a model of this sample rate; `o` may be null. Throws steno::error where one of them has another.
  beside(const steno_options* o, int rate);

  std::optional<any_vad> own;  // of this call: a detector that was named
  const any_vad* vad = nullptr;
  const steno::diarizer* speakers = nullptr;
  const forced_aligner* aligner = nullptr;
  const punctuator* marks = nullptr;
};

}  // namespace steno::c
