// steno/streaming/qwen3_session.hpp - Qwen3-ASR behind the options and events of all families.
//
// A row is 80 ms. Utterances are settled at quiet places after a minute at the latest, so that the cost of a step stays
// bounded, or earlier where the file says what the model understands; what was stable is never taken back. Tested
// in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/streaming/qwen3_stream.hpp>
#include <steno/streaming/session.hpp>
#include <steno/streaming/session_guides.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace streaming {

/// The session of a Qwen3-ASR.
template <qwen3::qwen3_sizes S>
class session_body<qwen3::qwen3_asr<S>> {
 public:
  using model_type = qwen3::qwen3_asr<S>;  ///< the model's type

  /// The model must outlive it. Throws steno::error for a chunk of more than 1200 seconds.
  session_body(const model_type& m, const session_options& o, context&)
      : guides_(session_guides(m, o)), stream_(m, options(m, o, *guides_)) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    if (!over_) stream_.push(pcm, c, [&](const qwen3::qwen3_stream_event& e) { sink(describe(e)); });
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (over_) return;
    bool emitted = false;
    stream_.finish(c, [&](const qwen3::qwen3_stream_event& e) {
      emitted = true;
      sink(describe(e));
    });
    over_ = true;
    if (emitted) return;
    qwen3::qwen3_stream_event nothing;  // there was no audio
    nothing.kind = stream_event_kind::final;
    sink(describe(nothing));
  }
  bool over() const noexcept { return over_; }  ///< after finish()
  /// Whether the model has a use for an option, by its name in session_options.
  static bool honours(const model_type&, std::string_view option) noexcept {
    return option == "chunk_size" || option == "max_utterance_seconds" || option == "hotwords" ||
           option == "hotword_score";
  }
  /// As stream_delay() has it.
  static double delay(const model_type&) noexcept { return qwen3::qwen3_stream_options().chunk; }

 private:
  static qwen3::qwen3_stream_options options(const model_type& m, const session_options& o,
                                             const search::guides& guides) {
    constexpr double row = 0.08, minute = 60;
    const double own = m.max_clip_seconds > 0 ? std::min(m.max_clip_seconds, minute) : minute;
    qwen3::qwen3_stream_options wanted{.max_utterance_seconds = utterance_limit(o, own), .commit = true};
    if (o.chunk_size && *o.chunk_size > 0) wanted.chunk = *o.chunk_size * row;
    // Hotwords are text that the model reads before the audio, too.
    qwen3::add_hotwords(wanted.prompt, o.hotwords);
    wanted.hotwords = &guides.hotwords;
    return wanted;
  }
  STENO_COLD static session_event describe(const qwen3::qwen3_stream_event& e) {
    session_event out;
    out.kind = e.kind;
    out.utterance.start = e.start;
    out.utterance.end = e.decoded_seconds;
    out.utterance.text = std::string(e.text);
    out.utterance.language = std::string(e.language);
    out.utterance.token_ids.assign(e.answer.begin(), e.answer.end());
    out.stable = std::string(e.stable);
    out.stop = nn::stop_name(e.stop);
    out.nbest.push_back({.text = out.utterance.text});
    return out;
  }

  std::unique_ptr<const search::guides> guides_;
  qwen3::qwen3_stream<model_type> stream_;
  bool over_ = false;
};

}  // namespace streaming
}  // namespace STENO_ABI
}  // namespace steno
