// steno/pipelines/any_session.hpp - live recognition by any model that streams, chosen at run time.
//
//   transcriber t("model.gguf");                  // const: any number of sessions share it
//   context c;
//   any_session s(t, {}, c);
//   while (...) s.push(samples, c, [](session_event e) { ... });  s.finish(c, ...);
//
// Options and events are those of streaming/session.hpp. With a diarizer utterances and words have speakers, too:
//
//   any_session s(t, diarizer, {}, {.split_on_speaker = true}, c);
//
// Tested in tests/pipelines/any_session_test.cpp.
#pragma once
#include <steno/pipelines/attributed_session.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <memory>
#include <span>

namespace steno {
inline namespace STENO_ABI {

/// One stream. It may be moved; one thread at a time, but sessions of one transcriber may be used by different threads
/// at once.
class any_session {
 public:
  /// The transcriber must outlive it. Throws steno::error for models that do not stream, and as the family's session
  /// does.
  any_session(const transcriber& t, const session_options& o, context& c) : session_(t.model_->start_session(o, c)) {}
  /// The same with speakers: final results wait until theirs are settled, and never change then. The diarizer must
  /// outlive the session, too. Throws steno::error for one that takes whole recordings.
  any_session(const transcriber& t, const diarizer& d, const session_options& o,
              const pipelines::speaker_session_options& s, context& c)
      : session_(std::make_unique<pipelines::detail::attributed_session>(t.model_->start_session(o, c), t.sample_rate(),
                                                                         d, s)) {}

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
  std::unique_ptr<pipelines::detail::session_interface> session_;
};

}  // namespace STENO_ABI
}  // namespace steno
