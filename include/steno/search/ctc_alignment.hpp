// steno/search/ctc_alignment.hpp - when each label of a known sequence was spoken: the best CTC path through it.
//
// Viterbi over blank, l_1, blank, l_2, ..., blank. Follows FunASR `ctc_forced_align`
// (sense_voice/utils/ctc_alignment.py): of equal predecessors staying wins over one step, one step over two; of equal
// ends the label wins over the blank. torchaudio's `forced_align` (forced_align/cpu/compute.cpp), which Fun-ASR-Nano
// uses, stays where one step and two are equally good and both better. Tested in tests/search/ctc_alignment_test.cpp
// (against all paths) and on the golden timestamps.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/workspace.hpp>
#include <steno/search/ctc_greedy.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How ctc_alignment() takes the blank.
struct ctc_alignment_options {
  int blank = 0;  ///< its label
  /// SenseVoice sets the blank's log-probability to 0 in frames where the blank is the best label.
  bool free_blank = false;
  /// torchaudio: one step is taken where it is better than staying and than two steps, not where it equals these.
  bool strict_steps = false;
};

/// Aligns `labels` with log-probabilities [frames, classes]. `out` gets one entry per label with its frames [start,
/// end). Returns false (and leaves `out` empty) when there are too few frames for the labels.
STENO_ON_CALL inline bool ctc_alignment(const view<const float>& log_probs, std::span<const int> labels,
                                        const ctc_alignment_options& options, core::workspace& scratch,
                                        std::vector<ctc_token>& out) {
  out.clear();
  const extent frames = log_probs.rows(), states = 2 * static_cast<extent>(labels.size()) + 1;
  extent needed = static_cast<extent>(labels.size());  // a repeated label needs a blank in between
  for (std::size_t i = 1; i < labels.size(); ++i) needed += labels[i] == labels[i - 1];
  if (frames < needed) return false;
  if (labels.empty()) return true;

  constexpr float never = -std::numeric_limits<float>::infinity();
  core::workspace::frame frame(scratch);
  float* score = frame.take<float>(static_cast<std::size_t>(states));
  float* next = frame.take<float>(static_cast<std::size_t>(states));
  auto* back = frame.take<std::uint8_t>(static_cast<std::size_t>(states * frames));
  const auto label = [&](extent s) { return s % 2 == 0 ? options.blank : labels[static_cast<std::size_t>(s / 2)]; };

  for (extent t = 0; t < frames; ++t) {
    const float* row = log_probs.data() + t * log_probs.outerStride();
    const bool quiet = options.free_blank && best_label(row, log_probs.cols()) == options.blank;
    const float blank_score = quiet ? 0.0f : row[options.blank];
    std::uint8_t* from = back + t * states;
    for (extent s = 0; s < states; ++s) {
      float best = never;
      std::uint8_t step = 0;
      if (t == 0) {
        if (s < 2) best = 0;
      } else {
        best = score[s];
        const float one = s >= 1 ? score[s - 1] : never;
        const float two = s >= 2 && label(s) != label(s - 2) ? score[s - 2] : never;
        if (two > one && two > best)
          best = two, step = 2;
        else if (one > best && (one > two || !options.strict_steps))
          best = one, step = 1;
      }
      from[s] = step;
      next[s] = (s % 2 == 0 ? blank_score : row[label(s)]) + best;
    }
    std::swap(score, next);
  }

  extent s = score[states - 2] >= score[states - 1] ? states - 2 : states - 1;
  out.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) out[i] = {labels[i], frames, 0};
  for (extent t = frames; t-- > 0;) {
    if (s % 2 == 1) {
      ctc_token& token = out[static_cast<std::size_t>(s / 2)];
      token.start = t;
      if (token.end == 0) token.end = t + 1;
    }
    s -= back[t * states + s];
  }
  return true;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
