// steno/search/ctc_greedy.hpp - best label per frame, runs collapsed, blanks dropped.
//
// Graves et al. 2006; `argmax`, `unique_consecutive`, drop blank in FunASR. Scores may be logits or log-probabilities
// [frames, labels]; of equal scores the lowest label wins. Tested in tests/search/ctc_greedy_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// A label and the frames [start, end) it stands for.
struct ctc_token {
  int id = 0;        ///< the label
  extent start = 0;  ///< its first frame
  extent end = 0;    ///< behind its last one
};

/// The label with the highest score of one row.
STENO_ON_CALL inline int best_label(const float* row, extent labels) noexcept {
  if (labels < 1) return 0;
  const float highest = Eigen::Map<const Eigen::ArrayXf>(row, labels).maxCoeff();
  const float* const found = std::find(row, row + labels, highest);
  return found == row + labels ? 0 : static_cast<int>(found - row);
}

/// Appends nothing to `out` for silence; `out` is cleared first and keeps its memory.
STENO_ON_CALL inline void ctc_greedy(const view<const float>& scores, int blank, std::vector<ctc_token>& out) {
  out.clear();
  int previous = -1;
  for (extent t = 0; t < scores.rows(); ++t) {
    const int id = best_label(scores.data() + t * scores.outerStride(), scores.cols());
    if (id == previous) {
      if (id != blank) out.back().end = t + 1;
    } else if (id != blank) {
      out.push_back({id, t, t + 1});
    }
    previous = id;
  }
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
