// steno/segmentation/ctc_endpoint.hpp - when an utterance is over, from the blank's probability.
//
// A frame is silent when p(blank) > threshold * scale. An endpoint is where one of three rules holds: enough trailing
// silence (rule 1: even if nothing was decoded, 5 s; rule 2: after something was decoded, 1 s), or a long utterance
// whatever else (rule 3: 20 s). Follows `CtcEndpoint` (runtime/core/decoder/ctc_endpoint.cc), which decides after every
// chunk. Tested in tests/segmentation/ctc_endpoint_test.cpp (golden tables).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace segmentation {

/// An endpoint is where all three hold.
struct endpoint_rule {
  bool after_words;         ///< only when something was decoded
  int trailing_silence_ms;  ///< at least
  int utterance_ms;         ///< at least
};

/// What is silent, and how much of it ends an utterance.
struct endpoint_options {
  int blank = 0;                 ///< its label
  float blank_threshold = 0.8f;  ///< a frame is silent when p(blank) is above it
  float blank_scale = 1.0f;      ///< what blank_threshold is multiplied by
  /// Any of them ends an utterance.
  endpoint_rule rules[3] = {{false, 5000, 0}, {true, 1000, 0}, {false, 0, 20000}};
};

/// Copyable; one per stream.
class ctc_endpoint {
 public:
  /// At the start of an utterance. A row of log-probabilities lasts `frame_ms` milliseconds.
  explicit ctc_endpoint(const endpoint_options& options = {}, int frame_ms = 40)
      : options_(options), frame_ms_(frame_ms) {}

  /// Begins the next utterance.
  void reset() noexcept { frames_ = silent_ = 0; }
  /// Takes a chunk of log-probabilities [frames, labels]; true when a rule holds after it.
  STENO_ON_CALL bool advance(const view<const float>& log_probs, bool decoded_something) {
    for (extent t = 0; t < log_probs.rows(); ++t) {
      const float blank = std::exp(log_probs(t, options_.blank));
      silent_ = blank > options_.blank_threshold * options_.blank_scale ? silent_ + 1 : 0;
      ++frames_;
    }
    for (const endpoint_rule& r : options_.rules)
      if ((decoded_something || !r.after_words) && silent_ms() >= r.trailing_silence_ms &&
          frames_ * frame_ms_ >= r.utterance_ms)
        return true;
    return false;
  }
  /// Silence at the end of what came, in milliseconds.
  extent silent_ms() const noexcept { return silent_ * frame_ms_; }

 private:
  endpoint_options options_;
  int frame_ms_;
  extent frames_ = 0, silent_ = 0;
};

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
