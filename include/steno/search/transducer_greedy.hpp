// steno/search/transducer_greedy.hpp - the best label of each step of a transducer, with or without durations.
//
//   RNN-T: at a frame labels are taken until blank comes, or max_symbols of them; then the next frame.
//   TDT:   each step also chooses a duration, and the time goes on by it, for blank as well; duration 0 stays, and when
//          a frame has had max_symbols steps, one frame is added to whatever the last duration was.
//
// Graves 2012; Xu et al. 2023 (TDT). NeMo `GreedyRNNTInfer` and `GreedyTDTInfer` (rnnt_greedy_decoding.py), the sample
// loop. Scores of a step are [labels, blank, durations]; of equal ones the first wins. A search goes on where the last
// rows ended. Tested in tests/search/transducer_greedy_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/search/ctc_greedy.hpp>

#include <span>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How transducer_greedy() takes labels.
struct transducer_rules {
  int blank = 0;                        ///< its label, which is the last one
  std::span<const int> durations = {};  ///< empty: RNN-T
  extent max_symbols = 10;              ///< after so many steps at a frame the time goes on
};

/// One evaluation of the joint network.
struct transducer_step {
  extent frame = 0;     ///< at which it was evaluated
  int label = 0;        ///< or blank
  extent duration = 0;  ///< TDT; RNN-T: 1 for blank, else 0
};

/// Walks over frames `from` .. `frames` - 1. `joint(frame)` gives the scores behind the labels so far; `accept(step,
/// scores)` is called for every step, blank or not, and adds its label. Returns the frame to go on with, which is
/// `frames` or behind it.
template <class Joint, class Accept>
extent transducer_greedy(const transducer_rules& rules, extent from, extent frames, Joint&& joint, Accept&& accept) {
  extent t = from;
  while (t < frames) {
    extent symbols = 0, skip = 0;
    while (skip == 0 && symbols < rules.max_symbols) {
      const float* const scores = joint(t);
      transducer_step step{.frame = t, .label = best_label(scores, rules.blank + 1)};
      if (rules.durations.empty())
        step.duration = step.label == rules.blank ? 1 : 0;
      else
        step.duration = rules.durations[static_cast<std::size_t>(
            best_label(scores + rules.blank + 1, static_cast<extent>(rules.durations.size())))];
      accept(static_cast<const transducer_step&>(step), scores);
      skip = step.duration;
      ++symbols;
      if (!rules.durations.empty()) t += skip;
    }
    if (rules.durations.empty() || symbols == rules.max_symbols) ++t;
  }
  return t;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
