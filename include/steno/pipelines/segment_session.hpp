// steno/pipelines/segment_session.hpp - live recognition by any recogniser, segment by segment of what a detector
// finds.
//
//   pipelines::segment_session s(model, {}, context);
//   s.push(pcm, context, sink);          // any number of samples, again and again
//   s.finish(context, sink);             // sink(session_event)
//
// A segment of speech is recognised when it has ended, as a recording's is (recording.hpp, with the same detector):
// that is its final result. While it is open, all of it so far is recognised after every max(partial_seconds, a fifth
// of its length), so that a segment costs no more than a fixed number of times what it costs once; that gives partial
// results. Words that two of them in a row have in common stay (text/agreement.hpp): should the final result have
// others, the words that stay do, what follows them is its own, and what the model gave for the whole (ids, score) is
// left out. Longer segments than the model takes are cut at quiet places. Silence costs the detector alone, and memory
// holds no more than the open segment.
//
// With `partials` another model, one that streams, writes the partial results; nothing of them stays, since the final
// ones are this model's. Options and events are those of streaming/session.hpp. What is decided when depends on the
// samples alone, not on how they come. Tested in tests/pipelines/segment_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/clip_model.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/interfaces.hpp>
#include <steno/pipelines/live_segments.hpp>
#include <steno/streaming/session.hpp>

#include <memory>
#include <span>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// One stream of a model, by segments. Model, detector and `partials` must outlive it. It may be moved; one thread at a
/// time, and any number of them share a model. Portions that bring no result allocate nothing once it is warm.
template <recogniser Model>
class segment_session {
 public:
  using model_type = Model;  ///< the model's type

  /// Throws steno::error for options that the model does not honour, by name, or that make no sense to it, for a
  /// detector of another sample rate, and for `partials` that does not stream or has another sample rate.
  segment_session(const Model& m, const session_options& o, context&, const detail::session_parts& parts = {})
      : live_(detail::clip_model_of(m), o, parts, settings(m, o, parts.vad)) {}

  /// More mono samples in [-1, 1] at the model's rate, any number of them. Nothing happens once it is over.
  void push(std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) { live_.push(pcm, c, sink); }
  /// The audio ends: recognises the rest and emits the last final result, unless it is over.
  void finish(context& c, core::sink_ref<session_event> sink) { live_.finish(c, sink); }
  /// After finish(), or an endpoint without `continuous`.
  bool over() const noexcept { return live_.over(); }
  /// Whether an option has an effect, by its name in session_options.
  static bool honours(const Model& m, std::string_view option) {
    if (option == "continuous" || option == "endpoints" || option == "max_utterance_seconds" ||
        option == "partial_seconds")
      return true;
    const bool of_recordings = option == "language" || option == "beam" || option == "hotwords" ||
                               option == "hotword_score" || option == "look_ahead" || option == "language_model" ||
                               option == "lm_weight";
    return of_recordings && supports_option(m, option, true);
  }

 private:
  STENO_COLD static any_vad energy_vad(int sample_rate) {
    return open_vad<typename detail::dependent<Model, detail::bodies>::type>("energy", {}, sample_rate);
  }
  STENO_COLD static detail::segment_settings settings(const Model& m, const session_options& o, const any_vad* vad) {
    for (const std::string_view name : o.names())
      if (!honours(m, name)) detail::refuse_live(name, Model::architecture);
    detail::segment_settings s;
    if (vad == nullptr) s.own_detector = std::make_unique<const any_vad>(energy_vad(m.sample_rate));
    s.recording = detail::as_recording(o, vad == nullptr ? s.own_detector.get() : vad);
    require_supported(m, s.recording);
    s.guides = std::make_unique<search::guides>(guides_of(m, s.recording));
    s.cut = clips_of(m, s.recording).cut;
    s.cut.rule = segmentation::cut_rule::within;  // as recordings with a detector
    return s;
  }

  detail::live_segments live_;
};

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
