// steno/pipelines/any_session.hpp - live recognition by any model, chosen at run time.
//
//   transcriber t("model.gguf");                  // const: any number of sessions share it
//   context c;
//   any_session s(t, {}, c);
//   while (...) s.push(samples, c, [](session_event e) { ... });  s.finish(c, ...);
//
// A model that streams does so (streaming/session.hpp); any other recognises the segments of a detector, with partial
// results on the way (segment_session.hpp). Options and events are those of streaming/session.hpp. What may stand
// beside the model:
//
//   any_session s(t, {}, c, {.vad = &vad});                   // by the segments of this detector
//   any_session s(t, {}, c, {.final_model = &offline});       // two passes: t's partial results, offline's final ones
//   any_session s(t, diarizer, {}, {.split_on_speaker = true}, c);   // utterances and words have speakers
//
// Tested in tests/pipelines/any_session_test.cpp and segment_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/pipelines/attributed_session.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines {
/// What stands beside the model of any_session; all of it must outlive the session.
struct session_models {
  /// Finds speech, at the model's rate: its segments are recognised, also by a model that streams by itself. Null: such
  /// a model streams, and for others the energy VAD finds speech.
  const any_vad* vad = nullptr;
  steno::vad_settings vad_settings = {};  ///< of that detector
  /// Two passes, as FunASR's 2pass: the session's own model, which must stream, writes partial results, and this one
  /// recognises each segment of speech when it has ended. Nothing of the partial results stays.
  const transcriber* final_model = nullptr;
};
}  // namespace pipelines

/// One stream. It may be moved; one thread at a time, but sessions of one transcriber may be used by different threads
/// at once.
class any_session {
 public:
  /// The transcriber must outlive it. Throws steno::error for options that the model does not honour, and as the
  /// family's session does. With two models an option goes to each that has a use for it, and is refused where neither
  /// has.
  any_session(const transcriber& t, const session_options& o, context& c, const pipelines::session_models& m = {})
      : session_(start(t, o, m, c)) {}
  /// The same with speakers: final results wait until theirs are settled, and never change then. The diarizer must
  /// outlive the session, too. Throws steno::error for one that takes whole recordings.
  any_session(const transcriber& t, const diarizer& d, const session_options& o,
              const pipelines::speaker_session_options& s, context& c, const pipelines::session_models& m = {})
      : session_(std::make_unique<pipelines::detail::attributed_session>(start(t, o, m, c), t.sample_rate(), d, s)) {}

  /// Whether an option has an effect, by its name in session_options.
  static bool honours(const transcriber& t, std::string_view option, const pipelines::session_models& m = {}) {
    if (m.final_model == nullptr) return t.supports_live(option, m.vad != nullptr);
    return of_partials(t, option) || of_finals(*m.final_model, option);
  }

  /// More mono samples in [-1, 1] at the model's rate, any number of them; sink(session_event) for each result.
  /// Nothing happens once it is over.
  void push(std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) {
    session_->push(pcm, c, sink);
  }
  /// The end: recognises what is left and emits the last final result.
  void finish(context& c, core::sink_ref<session_event> sink) { session_->finish(c, sink); }
  /// After finish(), or an endpoint that does not continue.
  bool over() const { return session_->over(); }

 private:
  STENO_COLD static std::unique_ptr<pipelines::detail::session_interface> start(const transcriber& t,
                                                                                const session_options& o,
                                                                                const pipelines::session_models& m,
                                                                                context& c) {
    pipelines::detail::session_parts parts{.vad = m.vad, .vad_settings = m.vad_settings};
    if (m.final_model == nullptr) return t.model_->start_session(o, parts, c);
    for (const std::string_view name : o.names())
      if (!honours(t, name, m))
        fail({.what = "option " + std::string(name),
              .expected = "one that one of the models honours",
              .found = std::string(t.model_name()) + " and " + std::string(m.final_model->model_name())});
    parts.partials = t.model_.get();
    parts.partial_options = o.only([&](std::string_view name) { return of_partials(t, name); });
    parts.partial_options.continuous = true;
    parts.partial_options.limit_seconds = 0;
    return m.final_model->model_->start_session(
        o.only([&](std::string_view name) { return of_finals(*m.final_model, name); }), parts, c);
  }
  // Of two models: what ends an utterance is the detector's matter, and partial results are those of a stream.
  static bool of_partials(const transcriber& t, std::string_view option) {
    return option != "endpoints" && option != "max_utterance_seconds" && t.supports_live(option);
  }
  static bool of_finals(const transcriber& t, std::string_view option) {
    return option != "partial_seconds" && t.supports_live(option, true);
  }

  std::unique_ptr<pipelines::detail::session_interface> session_;
};

}  // namespace STENO_ABI
}  // namespace steno
