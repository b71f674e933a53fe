// steno/pipelines/recording.hpp - a recording of any length while it comes in, by any recogniser.
//
//   recording r(model, {.vad = &vad});           // model: a type; any_recording (transcriber.hpp): from any file
//   while (...) r.push(samples, context, [](segment s) { ... });
//   result head = r.finish(context, ...);
//   recording<M>::recognise_waiting(recordings, true, context);  // clips of several that are closed, together
//
// Samples are cut into clips (cut_recording.hpp) unless the model finds its own way through a recording. Memory does
// not grow with the length. Tested in tests/pipelines/recording_test.cpp and recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/models/recogniser.hpp>
#include <steno/pipelines/clip_model.hpp>
#include <steno/pipelines/cut_recording.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/transcribe_options.hpp>

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines::detail {
/// A recording by a model that finds its own way through it; nothing of others.
template <class Model>
struct whole_recording {
  explicit operator bool() const noexcept { return false; }
};
template <class Model>
requires recognises_whole<Model>
struct whole_recording<Model> {
  explicit operator bool() const noexcept { return body.has_value(); }
  // Segments without text are emitted, too, since the original writes them.
  auto to(core::sink_ref<segment>& sink) {
    return [this, &sink](segment s) {
      done = body->done();
      if (head.language.empty()) head.language = s.language;
      sink(std::move(s));
    };
  }

  std::optional<typename family<Model>::whole_recording> body = {};
  result head = {};
  extent pushed = 0;  ///< samples
  double done = 0;    ///< seconds
};
}  // namespace pipelines::detail

/// Push the samples in portions of any size, then finish(). Segments are emitted as soon as they are known, and not
/// kept; the portions make no difference to them. Where needs_preview(), the model must have seen all of a recording
/// before it begins: preview() it and push() it again, or push() alone, which keeps the samples until finish(). Model
/// and detector must outlive it. One thread at a time.
template <recogniser Model>
class recording {
 public:
  /// Throws steno::error for options that the model does not support.
  STENO_COLD recording(const Model& m, const transcribe_options& o) : cut_(begin(m, o)) {
    if constexpr (finds_its_way) {
      if (o.vad != nullptr) return;
      whole_.body.emplace(m, cut_.options(), cut_.guides());
      whole_.head.model = Model::architecture;
    }
  }

  /// Whether preview() is of use.
  bool needs_preview() const noexcept { return static_cast<bool>(whole_); }
  /// All of the recording once, before it is pushed; does nothing for models that need not.
  void preview(std::span<const float> pcm, context& c) {
    if constexpr (finds_its_way)
      if (whole_) whole_.body->preview(pcm, c);
  }

  /// More mono samples in [-1, 1] at the model's rate; sink(segment) for every segment that is complete.
  void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) {
    if constexpr (finds_its_way)
      if (whole_) {
        whole_.pushed += static_cast<extent>(pcm.size());
        return whole_.body->push(pcm, c, whole_.to(sink));
      }
    cut_.push(pcm, c, sink);
  }
  /// No samples follow. Clips that are fewer than options.parallel_clips wait: for finish(), or to be recognised
  /// together with those of other recordings (recognise_waiting()).
  void close(context& c, core::sink_ref<segment> sink) {
    if (!whole_) cut_.close(c, sink);
  }
  /// Of clips that wait since close() for others.
  double waiting_seconds() const noexcept { return cut_.waiting_seconds(); }
  /// Recognises clips that wait in closed recordings of one model with equal options, options.parallel_clips at a time
  /// in the order given, and with `rest` the last ones, too. Each recording emits its own in finish(), and they are
  /// what it would have found alone. Clips that cannot be recognised so are left to their own finish(), which throws
  /// what is wrong.
  static void recognise_waiting(std::span<recording* const> closed, bool rest, context& c) {
    std::vector<pipelines::detail::cut_recording*> all;
    for (recording* const r : closed) all.push_back(&r->cut_);
    pipelines::detail::cut_recording::recognise_waiting(all, rest, c);
  }
  /// The rest. Returns the result without its segments: model, duration, language and, for one segment, what it says
  /// beside its text.
  result finish(context& c, core::sink_ref<segment> sink) {
    if constexpr (finds_its_way)
      if (whole_) {
        whole_.body->finish(c, whole_.to(sink), whole_.head);
        whole_.done = static_cast<double>(whole_.pushed) / cut_.sample_rate();
        whole_.head.duration = whole_.done;
        return std::move(whole_.head);
      }
    return cut_.finish(c, sink);
  }
  /// Seconds of audio that are done.
  double done() const noexcept {
    if constexpr (finds_its_way)
      if (whole_) return whole_.done;
    return cut_.done();
  }
  /// Seconds before which no segment that is still to be emitted begins.
  double needed_from() const noexcept { return whole_ ? done() : cut_.needed_from(); }

 private:
  static constexpr bool finds_its_way = pipelines::recognises_whole<Model>;

  STENO_COLD static pipelines::detail::cut_recording begin(const Model& m, const transcribe_options& o) {
    pipelines::require_supported(m, o);
    std::unique_ptr<const search::guides> own;
    if (o.guides == nullptr) own = std::make_unique<const search::guides>(pipelines::guides_of(m, o));
    return {pipelines::detail::clip_model_of(m), o, std::move(own), pipelines::clips_of(m, o)};
  }

  pipelines::detail::cut_recording cut_;
  STENO_NO_UNIQUE_ADDRESS pipelines::detail::whole_recording<Model> whole_;
};

}  // namespace STENO_ABI
}  // namespace steno
