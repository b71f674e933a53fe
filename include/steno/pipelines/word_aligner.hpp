// steno/pipelines/word_aligner.hpp - times of words by a forced aligner, for models that have none of their own.
//
//   word_aligner times(aligner);                   // beside a recording
//   times.push(pcm);  recording.push(pcm, c, [&](segment s) { times.align(s, c); ... });
//   times.forget(recording.needed_from());
//
// A segment's text is laid over its own samples, which are kept until then. Words with native times stay as they are;
// no times are given to what is longer than the aligner takes. Follows `Qwen3ASRModel.transcribe` with
// return_time_stamps. Tested in tests/pipelines/word_aligner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/pipelines/forced_aligner.hpp>
#include <steno/pipelines/sample_store.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// The aligner must outlive it. One thread at a time.
class word_aligner {
 public:
  /// Beside one recording.
  STENO_ON_CALL explicit word_aligner(const forced_aligner& m) : model_(&m) {}

  /// The recording's next samples, at the aligner's rate.
  void push(std::span<const float> pcm) { samples_.push(pcm); }
  /// What lies before so many seconds is not needed any more.
  void forget(double seconds) { samples_.drop_before(sample(seconds)); }

  /// Gives s.words times unless they have their own. Its samples must have been pushed.
  STENO_ON_CALL STENO_COLD void align(segment& s, context& c) {
    const bool native = !s.words.empty() && std::all_of(s.words.begin(), s.words.end(),
                                                        [](const word& w) { return w.how != timing::none; });
    const extent from = std::clamp(sample(s.start), samples_.begin(), samples_.end());
    const extent to = std::clamp(sample(s.end), from, samples_.end());
    if (native || s.text.empty() || from == to || to - from > sample(reach())) return;
    samples_.read(from, to, pcm_);
    s.words = model_->align(pcm_, s.text, s.language, static_cast<double>(from) / model_->sample_rate(), c);
  }

 private:
  extent sample(double seconds) const { return static_cast<extent>(std::nearbyint(seconds * model_->sample_rate())); }
  /// Seconds that it can take: the original's limit with the 5 s that a cut may lie behind it, and its classes.
  double reach() const { return std::min(model_->max_seconds() + 5, model_->reach_seconds()); }

  const forced_aligner* model_;
  pipelines::sample_store samples_;
  std::vector<float> pcm_;
};

}  // namespace STENO_ABI
}  // namespace steno
