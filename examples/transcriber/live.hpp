// Live recognition for stream and serve: a session with scratch memory of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_session.hpp>

#include <span>

namespace steno::app {

/// A call at a time; streams of one model may be used by different threads at once.
class live_stream {
 public:
  /// `run` may be shared by streams of one thread. Throws steno::error for options that the model does not honour or
  /// that make no sense to it.
  live_stream(const transcriber& model, const session_options& o, const pipelines::session_models& beside = {},
              const executor& run = {})
      : scratch_(run), session_(model, o, scratch_, beside) {}

  /// The same with speakers.
  live_stream(const transcriber& model, const diarizer& who, const session_options& o,
              const pipelines::speaker_session_options& s, const pipelines::session_models& beside, const executor& run)
      : scratch_(run), session_(model, who, o, s, scratch_, beside) {}

  void push(std::span<const float> pcm, core::sink_ref<session_event> sink) { session_.push(pcm, scratch_, sink); }
  void finish(core::sink_ref<session_event> sink) { session_.finish(scratch_, sink); }
  bool over() const { return session_.over(); }

 private:
  context scratch_;
  any_session session_;
};

}  // namespace steno::app
