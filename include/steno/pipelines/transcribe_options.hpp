// steno/pipelines/transcribe_options.hpp - how a recording is transcribed; what a model does not support it refuses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/hotword.hpp>
#include <steno/core/text_ref.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/decoding_options.hpp>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace models {
class language_model;
}
namespace search {
struct guides;
}

namespace pipelines {
/// Reference to a callable f(double seconds_done, double seconds_total); called after each piece. Empty by default. One
/// that returns false cancels the call: it throws steno::core::cancelled.
class progress_ref {
 public:
  progress_ref() = default;  ///< takes calls and does nothing
  /// The callable must outlive it.
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, progress_ref> && std::is_invocable_v<F&, double, double>)
      progress_ref(F& f)
      : self_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* self, double done, double total) {
          if constexpr (std::is_same_v<std::invoke_result_t<F&, double, double>, bool>) {
            return (*static_cast<F*>(self))(done, total);
          } else {
            (*static_cast<F*>(self))(done, total);
            return true;
          }
        }) {}
  void operator()(double done, double total) const {
    if (call_ != nullptr && !call_(self_, done, total)) throw core::cancelled();
  }

 private:
  void* self_ = nullptr;
  bool (*call_)(void*, double, double) = nullptr;
};
}  // namespace pipelines

/// What is set and not supported by the model is refused by name.
struct transcribe_options {
  std::string language = "auto";  ///< a code or name that the model knows; "auto": the model finds it
  /// The language to be written, where it may be another than the spoken one; empty: that one.
  std::string target_language = {};
  std::optional<bool> punctuation =
      {};  ///< marks and capital letters, where the model writes with and without (Canary)
  /// Digits and punctuation, where the model can write with and without them; nothing: what is usual for the model.
  std::optional<bool> itn = {};
  /// Seconds; longer recordings and segments are cut at quiet places. 0: 30, and for Qwen3-ASR what its file says, or
  /// 1200 as the original.
  double max_clip_seconds = 0;
  double limit_seconds = 0;  ///< above 0 no clip is longer, whatever the model's own limit (a forced aligner's)
  /// Finds speech first, at the model's rate; null: everything is transcribed.
  const any_vad* vad = nullptr;
  steno::vad_settings vad_settings = {};  ///< of that detector
  /// Seconds; segments of the detector are joined up to this length, with the pauses between them. 0: each is a clip.
  /// Nothing: as 0, but for Whisper, whose window is 30 s: segments share windows, without the pauses.
  std::optional<double> merge_seconds = {};
  /// So many clips are transcribed at the same time, each on one thread, or by Qwen3-ASR together on all threads; the
  /// results are the same.
  int parallel_clips = 1;
  /// Rows of 80 ms looked ahead, one of those that the model was trained with; nothing: its usual one (Nemotron).
  std::optional<int> look_ahead = {};
  int beam = 0;  ///< width of the search, where the model has one; 0: its own default, 1: greedy
  std::vector<core::hotword> hotwords = {};  ///< phrases to favour; needs a search
  /// Bonus for each unit of a phrase, in logarithms of probability; nothing: what suits the model's search.
  std::optional<float> hotword_score = {};
  const steno::models::language_model* language_model = nullptr;  ///< of the search; must outlive the call; null: none
  std::optional<float> lm_weight = {};  ///< factor of its log-probabilities; 0: none; nothing: what suits the search
  /// What transcriber::guides() made of the four above for this model, so that many recordings share it; must outlive
  /// the call. Null: each recording makes its own.
  const search::guides* guides = nullptr;
  decoding_options decoding = {};         ///< for models that write token by token
  pipelines::progress_ref progress = {};  ///< of transcribe()
  /// Takes the text of the clip or window at hand so far, behind each token, from models that write token by token; a
  /// window that is decoded again begins again. Of one clip at a time (`parallel_clips` 1).
  core::text_ref writing = {};
};

}  // namespace STENO_ABI
}  // namespace steno
