// steno/pipelines/transcriber.hpp - any model from a file, recordings of any length, one kind of result.
//
//   const transcriber t("model.gguf");  context c;
//   result r = t.transcribe(pcm, {}, c);                      // a recording in memory
//   any_recording r(t, {});                                   // one that comes in, of any length
//   while (...) r.push(samples, c, [](segment s) { ... });  r.finish(c, ...);
//
// Closed classes: what they do is transcribe() and recording<Model> (transcribe.hpp, recording.hpp) of the model that
// the file names; the bodies are in open_model.hpp and compiled once with steno::pipelines. Live: any_session.hpp.
// Tested in tests/pipelines/transcriber_test.cpp and recording_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/core/stop_token.hpp>
#include <steno/pipelines/closed.hpp>
#include <steno/pipelines/interfaces.hpp>
#include <steno/pipelines/model_summary.hpp>
#include <steno/pipelines/result.hpp>
#include <steno/pipelines/transcribe_options.hpp>
#include <steno/streaming/session.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines {
namespace detail {
/// The model that a file holds. Throws steno::error. Defined in open_model.hpp.
template <class Bodies>
opened_model open_model(gguf_file file, const executor& run, std::vector<std::byte> image,
                        const core::stop_token& stop);
template <class Bodies>
bool opens(std::string_view architecture);
#if defined(STENO_LINK_PIPELINES)
extern template opened_model open_model<bodies>(gguf_file, const executor&, std::vector<std::byte>,
                                                const core::stop_token&);
extern template bool opens<bodies>(std::string_view);
#endif

}  // namespace detail

/// Whether files whose `general.architecture` this is hold a model that transcribes.
template <class Bodies = detail::bodies>
bool transcribes(std::string_view architecture) {
  return detail::opens<Bodies>(architecture);
}
}  // namespace pipelines

/// A loaded model. It may be moved; const and shared by any number of threads, each with its own context.
class transcriber {
 public:
  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error, and steno::core::cancelled
  /// once `stop` is requested.
  template <class Bodies = pipelines::detail::bodies>
  explicit transcriber(const std::string& path, const executor& run = {}, const core::stop_token& stop = {})
      : transcriber(gguf_file(path), run, {}, stop) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  template <class Bodies = pipelines::detail::bodies>
  explicit transcriber(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {},
                       const core::stop_token& stop = {})
      : model_(pipelines::detail::open_model<Bodies>(std::move(file), run, std::move(image), stop)) {}
  /// A model that is there already: transcriber_of(model) (transcriber_of.hpp), of any recogniser, your own too.
  STENO_ON_CALL explicit transcriber(pipelines::detail::opened_model model) : model_(std::move(model)) {}

  std::string_view model_name() const { return model_->architecture(); }  ///< its architecture: "whisper", ...
  /// Samples per second that transcribe() expects.
  int sample_rate() const { return model_->sample_rate(); }
  /// Codes or names that can be chosen; empty where none can.
  std::vector<std::string> languages() const { return model_->languages(); }
  /// "auto", or one that the model knows by code or name; any for a model that has no languages().
  bool supports_language(const std::string& language) const {
    return language == "auto" || model_->supports_language(language);
  }
  /// Hotwords and language model of `o` in the model's units, for transcribe_options::guides: a long list is split into
  /// units once for many recordings. The language model must outlive it. Throws steno::error for phrases
  /// that the model cannot write.
  search::guides guides(const transcribe_options& o) const { return model_->guides(o); }
  /// Whether an option has an effect, by its name in transcribe_options or decoding_options. `vad`: with a voice
  /// activity detector.
  bool supports(std::string_view option, bool vad = false) const { return model_->supports(option, vad); }
  /// Whether the model streams by itself; any_session takes others, too, and recognises segments with them.
  bool streams() const { return model_->streams(); }
  /// Seconds after which a word is in a result of the model's own stream, at the latest, without the time to compute:
  /// its usual chunk and what it looks ahead. 0 where the model does not stream, or does not say.
  double stream_delay() const { return model_->stream_delay(); }
  /// Whether clips that wait are recognised together, faster than one after the other (`parallel_clips`,
  /// any_recording::recognise_waiting()); others take a thread for each.
  bool recognises_together() const { return model_->recognises_together(); }
  /// Whether an option has an effect in any_session, by its name in session_options. `by_segments`: with a detector or
  /// a second model, so that a model that streams by itself recognises segments, too.
  bool supports_live(std::string_view option, bool by_segments = false) const {
    return model_->supports_live(option, by_segments);
  }
  /// Whether the model finds its own way through a recording, of which it must have seen everything before it begins.
  bool needs_preview() const { return model_->needs_preview(); }
  /// Facts about the model, for people.
  pipelines::model_summary summary() const { return model_->summary(); }

  /// A whole recording: mono samples in [-1, 1] at sample_rate(). Throws steno::error for options that the model does
  /// not support.
  result transcribe(std::span<const float> pcm, const transcribe_options& o, context& c) const {
    return model_->transcribe(pcm, o, c);
  }

 private:
  friend class any_recording;
  friend class any_session;
  pipelines::detail::opened_model model_;
};

/// recording (recording.hpp) by a transcriber, which must outlive it, as must the detector in the options. It may be
/// moved; one thread at a time.
class any_recording {
 public:
  /// Throws steno::error for options that the model does not support.
  any_recording(const transcriber& t, const transcribe_options& o) : recording_(t.model_->start_recording(o)) {}

  /// Whether preview() is of use.
  bool needs_preview() const { return recording_->needs_preview(); }
  /// All of the recording once, before it is pushed; does nothing for models that need not.
  void preview(std::span<const float> pcm, context& c) { recording_->preview(pcm, c); }
  /// More mono samples in [-1, 1] at the model's rate; sink(segment) for every segment that is complete.
  void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) { recording_->push(pcm, c, sink); }
  /// No samples follow. Clips that are fewer than options.parallel_clips wait for finish() or recognise_waiting().
  void close(context& c, core::sink_ref<segment> sink) { recording_->close(c, sink); }
  /// Of clips that wait since close() for others.
  double waiting_seconds() const { return recording_->waiting_seconds(); }
  /// Recognises clips that wait in closed recordings of one transcriber with equal options, and with `rest` the last
  /// ones, too (recording::recognise_waiting()).
  STENO_ON_CALL static void recognise_waiting(std::span<any_recording* const> closed, bool rest, context& c) {
    std::vector<pipelines::detail::recording_interface*> all;
    for (any_recording* const r : closed) all.push_back(r->recording_.get());
    if (!all.empty()) all.front()->recognise_waiting(all, rest, c);
  }
  /// The rest. Returns the result without its segments.
  result finish(context& c, core::sink_ref<segment> sink) { return recording_->finish(c, sink); }
  double done() const { return recording_->done(); }                ///< seconds of audio that are done
  double needed_from() const { return recording_->needed_from(); }  ///< seconds before which no segment is to come

 private:
  std::unique_ptr<pipelines::detail::recording_interface> recording_;
};

}  // namespace STENO_ABI
}  // namespace steno

#if !defined(STENO_LINK_PIPELINES)
#include <steno/pipelines/open_model.hpp>
#endif
