// steno/pipelines/recording.hpp - a recording of any length while it comes in, by any recogniser.
//
//   recording r(model, {.vad = &vad});           // model: a type; any_recording (transcriber.hpp): from any file
//   while (...) r.push(samples, context, [](segment s) { ... });
//   result head = r.finish(context, ...);
//   recording<M>::recognise_waiting(recordings, true, context);  // clips of several that are closed, together
//
// Samples are cut into clips (long_audio.hpp) unless the model finds its own way through a recording. Memory does not
// grow with the length. Tested in tests/pipelines/recording_test.cpp and recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sink_ref.hpp>
#include <steno/models/recogniser.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/long_audio.hpp>
#include <steno/pipelines/transcribe_options.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace pipelines::detail {
template <class Model>
struct whole_recording_of {
  using type = std::monostate;
};
template <class Model>
requires recognises_whole<Model>
struct whole_recording_of<Model> {
  using type = typename family<Model>::whole_recording;
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
  STENO_COLD recording(const Model& m, const transcribe_options& o) : model_(m), options_(o) {
    pipelines::require_supported(m, o);
    if (o.guides == nullptr) own_guides_ = std::make_unique<const search::guides>(pipelines::guides_of(m, o));
    guides_ = o.guides != nullptr ? o.guides : own_guides_.get();
    cutter_ = pipelines::clip_cutter(m.sample_rate, pipelines::clips_of(m, o));
    head_.model = Model::architecture;
    if (o.vad != nullptr)
      voices_.emplace(*o.vad, o.vad_settings);
    else if constexpr (pipelines::recognises_whole<Model>)
      whole_.emplace(m, options_, *guides_);
  }

  /// Whether preview() is of use.
  bool needs_preview() const noexcept { return whole_.has_value(); }
  /// All of the recording once, before it is pushed; does nothing for models that need not.
  void preview(std::span<const float> pcm, context& c) {
    if constexpr (pipelines::recognises_whole<Model>)
      if (whole_) whole_->preview(pcm, c);
  }

  /// More mono samples in [-1, 1] at the model's rate; sink(segment) for every segment that is complete.
  STENO_COLD void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) {
    if (push_whole(pcm, c, sink)) return;
    while (!pcm.empty()) {
      c.check_stop();
      // To the next multiple of a block, so that what is decided when does not depend on the portions.
      const auto into = static_cast<std::size_t>(cutter_.end() % block);
      const auto part = pcm.first(std::min(pcm.size(), static_cast<std::size_t>(block) - into));
      cutter_.push(part);
      if (voices_) {
        voices_->accept(part, c, [this](const segmentation::voice_change& v) { cutter_.voice(v); });
        cutter_.settled(voices_->settled_ms());
      }
      if (cutter_.end() % block == 0) advance(c, sink);
      pcm = pcm.subspan(part.size());
    }
  }
  /// No samples follow. Clips that are fewer than options.parallel_clips wait: for finish(), or to be recognised
  /// together with those of other recordings (recognise_waiting()).
  void close(context& c, core::sink_ref<segment> sink) {
    if (closed_) return;
    closed_ = true;
    if (whole_) return;
    if (voices_) voices_->finish(c, [this](const segmentation::voice_change& v) { cutter_.voice(v); });
    cutter_.finish();
    advance(c, sink);
  }
  /// Of clips that wait since close() for others.
  double waiting_seconds() const noexcept {
    std::size_t count = 0;
    for (const waiting_clip& w : waiting_) count += waits(w) ? w.pcm.size() : 0;
    return static_cast<double>(count) / model_.sample_rate;
  }
  /// Recognises clips that wait in closed recordings of one model with equal options, options.parallel_clips at a time
  /// in the order given, and with `rest` the last ones, too. Each recording emits its own in finish(), and they are
  /// what it would have found alone. Clips that cannot be recognised so are left to their own finish(), which throws
  /// what is wrong.
  static void recognise_waiting(std::span<recording* const> closed, bool rest, context& c) {
    std::vector<waiting_clip*> batch;
    for (recording* const r : closed)
      for (waiting_clip& w : r->waiting_) {
        if (!waits(w)) continue;
        batch.push_back(&w);
        if (static_cast<int>(batch.size()) >= r->options_.parallel_clips) r->recognise_with_others(batch, c);
      }
    if (rest && !batch.empty()) closed.front()->recognise_with_others(batch, c);
  }
  /// The rest. Returns the result without its segments: model, duration, language and, for one segment, what it says
  /// beside its text.
  STENO_COLD result finish(context& c, core::sink_ref<segment> sink) {
    close(c, sink);
    if (whole_) {
      if constexpr (pipelines::recognises_whole<Model>) whole_->finish(c, whole_sink(sink), head_);
      head_.duration = static_cast<double>(pushed_) / model_.sample_rate;
      done_ = head_.duration;
      return std::move(head_);
    }
    if (!waiting_.empty()) recognise_batch(c, sink);
    done_ = static_cast<double>(cutter_.end()) / model_.sample_rate;
    head_.duration = done_;
    if (only_) {
      head_.score = only_->score;
      head_.alternatives = std::move(only_->alternatives);
      head_.stop_reason = std::move(only_->stop_reason);
      head_.extra = std::move(only_->extra);
    }
    return std::move(head_);
  }
  /// Seconds of audio that are done.
  double done() const noexcept { return done_; }
  /// Seconds before which no segment that is still to be emitted begins.
  double needed_from() const noexcept {
    if (whole_) return done_;
    const extent next = cutter_.earliest();
    const extent first = waiting_.empty() ? next : std::min(next, waiting_.front().clip.begin);
    return static_cast<double>(first) / model_.sample_rate;
  }

 private:
  static constexpr extent block = 8000;  // samples

  struct waiting_clip {
    std::vector<float> pcm;
    pipelines::audio_clip clip;
    std::vector<segment> segments = {};
    std::exception_ptr failure = {};
    bool done = false, alone = false;  ///< recognised; not with clips of others again
  };
  static bool waits(const waiting_clip& w) noexcept { return !w.done && !w.alone; }

  // Segments of a whole recording; those without text are emitted too, since the original writes them.
  auto whole_sink(core::sink_ref<segment>& sink) {
    return [this, &sink](segment s) {
      if constexpr (pipelines::recognises_whole<Model>) done_ = whole_->done();
      if (head_.language.empty()) head_.language = s.language;
      sink(std::move(s));
    };
  }
  // False where the recording is cut.
  bool push_whole(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) {
    if constexpr (pipelines::recognises_whole<Model>) {
      if (!whole_) return false;
      pushed_ += static_cast<extent>(pcm.size());
      whole_->push(pcm, c, whole_sink(sink));
      return true;
    } else {
      return false;
    }
  }

  STENO_COLD void advance(context& c, core::sink_ref<segment> sink) {
    while (auto clip = cutter_.next()) {
      c.check_stop();
      const auto pcm = filled(cutter_.clip(*clip), clip->begin);
      if (options_.parallel_clips <= 1) {
        emit(pipelines::recognise_clip(model_, pcm, options_, *guides_, c), *clip, sink);
        done_ = static_cast<double>(clip->end) / model_.sample_rate;
        continue;
      }
      waiting_.push_back({{pcm.begin(), pcm.end()}, std::move(*clip)});
      if (static_cast<int>(waiting_.size()) == options_.parallel_clips) recognise_batch(c, sink);
    }
  }
  void recognise_clips(std::span<waiting_clip* const> clips, context& c) {
    if constexpr (pipelines::recognises_together<Model>)
      recognise_together(clips, c);
    else
      recognise_apart(clips, c);
    for (waiting_clip* const w : clips) w->done = true;
  }
  void recognise_with_others(std::vector<waiting_clip*>& clips, context& c) {
    try {
      recognise_clips(clips, c);
    } catch (...) {  // whose fault it is will be seen when each is recognised alone
      for (waiting_clip* const w : clips) w->alone = true;
    }
    clips.clear();
  }
  /// Recognises what waits in this recording, and emits it.
  STENO_COLD void recognise_batch(context& c, core::sink_ref<segment> sink) {
    std::vector<waiting_clip*> open;
    for (waiting_clip& w : waiting_)
      if (!w.done) open.push_back(&w);
    if (!open.empty()) recognise_clips(open, c);
    for (waiting_clip& w : waiting_) {
      if (w.failure) std::rethrow_exception(w.failure);
      emit(std::move(w.segments), w.clip, sink);
      done_ = static_cast<double>(w.clip.end) / model_.sample_rate;
    }
    waiting_.clear();
  }
  // Models that write token by token write all of them together, on all threads.
  void recognise_together(std::span<waiting_clip* const> batch, context& c) {
    std::vector<std::span<const float>> clips;
    std::size_t max_count = 0;
    for (const waiting_clip* const w : batch) max_count = std::max(max_count, clips.emplace_back(w->pcm).size());
    const auto own = pipelines::family<Model>::options(model_, options_, *guides_, max_count);
    std::vector<segment> found =
        pipelines::family<Model>::recognise_together(model_, std::span<const std::span<const float>>(clips), own, c);
    for (std::size_t i = 0; i < found.size(); ++i) batch[i]->segments.push_back(std::move(found[i]));
  }
  // Each clip on one thread, with scratch memory of its own; the weights are shared.
  STENO_COLD void recognise_apart(std::span<waiting_clip* const> batch, context& c) {
    while (scratch_.size() < static_cast<std::size_t>(c.run.width())) scratch_.emplace_back();
    for (context& s : scratch_) s.stop = c.stop;
    auto work = [&](extent i, int worker) noexcept {
      waiting_clip& w = *batch[static_cast<std::size_t>(i)];
      try {
        w.segments = pipelines::recognise_clip(model_, std::span<const float>(w.pcm), options_, *guides_,
                                               scratch_[static_cast<std::size_t>(worker)]);
      } catch (...) {
        w.failure = std::current_exception();
      }
    };
    c.run.run(static_cast<extent>(batch.size()), work);
  }

  // The end of a recording that was cut, filled up where the model wants that.
  std::span<const float> filled(std::span<const float> clip, extent begin) {
    const auto least = static_cast<std::size_t>(pipelines::family<Model>::clips.min_seconds * model_.sample_rate);
    if (options_.vad != nullptr || begin == 0 || clip.size() >= least) return clip;
    filled_.assign(clip.begin(), clip.end());
    filled_.resize(least);
    return filled_;
  }
  // From seconds of the clip to those of the recording. A word is in the piece that holds its middle.
  void to_recording(segment& s, const pipelines::audio_clip& clip) const {
    const double rate = model_.sample_rate;
    s.end = std::min(s.end, static_cast<double>(clip.count()) / rate);  // it may have been filled up
    if (clip.parts.empty()) {
      const double offset = static_cast<double>(clip.begin) / rate;
      s.start += offset;
      s.end += offset;
      for (word& w : s.words) {
        w.start += offset;
        w.end += offset;
      }
      return;
    }
    s.start = clip.place(s.start * rate, false) / rate;
    s.end = std::max(clip.place(s.end * rate, true) / rate, s.start);
    for (word& w : s.words) {
      const pipelines::audio_range in = clip.part((w.start + w.end) / 2 * rate);
      const double first = static_cast<double>(in.begin) / rate, last = static_cast<double>(in.end) / rate;
      w.start = std::clamp(clip.place(w.start * rate, false) / rate, first, last);
      w.end = std::clamp(clip.place(w.end * rate, true) / rate, w.start, last);
    }
  }
  STENO_COLD void emit(std::vector<segment> segments, const pipelines::audio_clip& clip, core::sink_ref<segment> sink) {
    for (segment& s : segments) {
      if (s.token_ids.empty()) continue;
      to_recording(s, clip);
      if (head_.language.empty()) head_.language = s.language;
      if (++emitted_ == 1)
        only_ = {.score = s.score, .alternatives = s.alternatives, .stop_reason = s.stop_reason, .extra = s.extra};
      else
        only_.reset();
      sink(std::move(s));
    }
  }

  const Model& model_;
  transcribe_options options_;
  std::unique_ptr<const search::guides> own_guides_;  // stay where they are when the recording moves
  const search::guides* guides_ = nullptr;
  pipelines::clip_cutter cutter_{16000, {}};
  std::optional<vad_stream> voices_;
  result head_;
  std::vector<waiting_clip> waiting_;
  std::vector<context> scratch_;
  std::vector<float> filled_;
  std::optional<typename pipelines::detail::whole_recording_of<Model>::type> whole_;
  extent pushed_ = 0;  // samples of what is recognised as a whole
  std::size_t emitted_ = 0;
  std::optional<segment> only_;  // what the result takes from a segment, as long as there is one
  double done_ = 0;
  bool closed_ = false;
};

}  // namespace STENO_ABI
}  // namespace steno
