// steno/pipelines/cut_recording.hpp - a recording while it comes in, cut into clips: the loop behind recording<Model>.
//
// Tested in tests/pipelines/recording_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/clip_model.hpp>
#include <steno/pipelines/long_audio.hpp>
#include <steno/pipelines/transcribe_options.hpp>
#include <steno/search/guide.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {
namespace detail {

/// Model and detector must outlive it. It may be moved; one thread at a time.
class cut_recording {
 public:
  /// For options that the model supports. `own_guides`: what they favour, unless o.guides says it.
  STENO_COLD cut_recording(const clip_model& m, const transcribe_options& o,
                           std::unique_ptr<const search::guides> own_guides, const clip_options& clips)
      : model_(m),
        options_(o),
        own_guides_(std::move(own_guides)),
        guides_(o.guides != nullptr ? o.guides : own_guides_.get()),
        cutter_(m.sample_rate, clips) {
    head_.model = m.architecture;
    if (o.vad != nullptr) voices_.emplace(*o.vad, o.vad_settings);
  }

  const transcribe_options& options() const noexcept { return options_; }
  const search::guides& guides() const noexcept { return *guides_; }
  int sample_rate() const noexcept { return model_.sample_rate; }

  STENO_ON_CALL STENO_COLD void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) {
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
  STENO_ON_CALL void close(context& c, core::sink_ref<segment> sink) {
    if (closed_) return;
    closed_ = true;
    if (voices_) voices_->finish(c, [this](const segmentation::voice_change& v) { cutter_.voice(v); });
    cutter_.finish();
    advance(c, sink);
  }
  STENO_ON_CALL double waiting_seconds() const noexcept {
    std::size_t count = 0;
    for (const waiting_clip& w : waiting_) count += waits(w) ? w.pcm.size() : 0;
    return static_cast<double>(count) / model_.sample_rate;
  }
  STENO_ON_CALL static void recognise_waiting(std::span<cut_recording* const> closed, bool rest, context& c) {
    std::vector<waiting_clip*> batch;
    for (cut_recording* const r : closed)
      for (waiting_clip& w : r->waiting_) {
        if (!waits(w)) continue;
        batch.push_back(&w);
        if (static_cast<int>(batch.size()) >= r->options_.parallel_clips) r->recognise_with_others(batch, c);
      }
    if (rest && !batch.empty()) closed.front()->recognise_with_others(batch, c);
  }
  STENO_ON_CALL STENO_COLD result finish(context& c, core::sink_ref<segment> sink) {
    close(c, sink);
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
  double done() const noexcept { return done_; }
  STENO_ON_CALL double needed_from() const noexcept {
    const extent next = cutter_.earliest();
    const extent first = waiting_.empty() ? next : std::min(next, waiting_.front().clip.begin);
    return static_cast<double>(first) / model_.sample_rate;
  }

 private:
  static constexpr extent block = 8000;  // samples

  struct waiting_clip {
    std::vector<float> pcm;
    audio_clip clip;
    std::vector<segment> segments = {};
    std::exception_ptr failure = {};
    bool done = false, alone = false;  ///< recognised; not with clips of others again
  };
  static bool waits(const waiting_clip& w) noexcept { return !w.done && !w.alone; }

  STENO_ON_CALL std::vector<segment> recognise(std::span<const float> pcm, context& c) const {
    return model_.recognise(model_.self, pcm, options_, *guides_, c);
  }
  STENO_ON_CALL STENO_COLD void advance(context& c, core::sink_ref<segment> sink) {
    while (auto clip = cutter_.next()) {
      c.check_stop();
      const auto pcm = filled(cutter_.clip(*clip), clip->begin);
      if (options_.parallel_clips <= 1) {
        emit(recognise(pcm, c), *clip, sink);
        done_ = static_cast<double>(clip->end) / model_.sample_rate;
        continue;
      }
      waiting_.push_back({{pcm.begin(), pcm.end()}, std::move(*clip)});
      if (static_cast<int>(waiting_.size()) == options_.parallel_clips) recognise_batch(c, sink);
    }
  }
  STENO_ON_CALL void recognise_clips(std::span<waiting_clip* const> clips, context& c) {
    if (model_.recognise_together != nullptr)
      recognise_together(clips, c);
    else
      recognise_apart(clips, c);
    for (waiting_clip* const w : clips) w->done = true;
  }
  STENO_ON_CALL void recognise_with_others(std::vector<waiting_clip*>& clips, context& c) {
    try {
      recognise_clips(clips, c);
    } catch (...) {  // whose fault it is will be seen when each is recognised alone
      for (waiting_clip* const w : clips) w->alone = true;
    }
    clips.clear();
  }
  /// Recognises what waits in this recording, and emits it.
  STENO_ON_CALL STENO_COLD void recognise_batch(context& c, core::sink_ref<segment> sink) {
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
  STENO_ON_CALL void recognise_together(std::span<waiting_clip* const> batch, context& c) {
    std::vector<std::span<const float>> clips;
    for (const waiting_clip* const w : batch) clips.emplace_back(w->pcm);
    std::vector<segment> found = model_.recognise_together(model_.self, clips, options_, *guides_, c);
    for (std::size_t i = 0; i < found.size(); ++i) batch[i]->segments.push_back(std::move(found[i]));
  }
  // Each clip on one thread, with scratch memory of its own; the weights are shared.
  STENO_ON_CALL STENO_COLD void recognise_apart(std::span<waiting_clip* const> batch, context& c) {
    while (scratch_.size() < static_cast<std::size_t>(c.run.width())) scratch_.emplace_back();
    for (context& s : scratch_) s.stop = c.stop;
    auto work = [&](extent i, int worker) noexcept {
      waiting_clip& w = *batch[static_cast<std::size_t>(i)];
      try {
        w.segments = recognise(w.pcm, scratch_[static_cast<std::size_t>(worker)]);
      } catch (...) {
        w.failure = std::current_exception();
      }
    };
    c.run.run(static_cast<extent>(batch.size()), work);
  }

  // The end of a recording that was cut, filled up where the model wants that.
  STENO_ON_CALL std::span<const float> filled(std::span<const float> clip, extent begin) {
    const auto least = static_cast<std::size_t>(model_.min_seconds * model_.sample_rate);
    if (options_.vad != nullptr || begin == 0 || clip.size() >= least) return clip;
    filled_.assign(clip.begin(), clip.end());
    filled_.resize(least);
    return filled_;
  }
  // From seconds of the clip to those of the recording. A word is in the piece that holds its middle.
  STENO_ON_CALL void to_recording(segment& s, const audio_clip& clip) const {
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
      const audio_range in = clip.part((w.start + w.end) / 2 * rate);
      const double first = static_cast<double>(in.begin) / rate, last = static_cast<double>(in.end) / rate;
      w.start = std::clamp(clip.place(w.start * rate, false) / rate, first, last);
      w.end = std::clamp(clip.place(w.end * rate, true) / rate, w.start, last);
    }
  }
  STENO_ON_CALL STENO_COLD void emit(std::vector<segment> segments, const audio_clip& clip,
                                     core::sink_ref<segment> sink) {
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

  clip_model model_;
  transcribe_options options_;
  std::unique_ptr<const search::guides> own_guides_;  // stay where they are when the recording moves
  const search::guides* guides_;
  clip_cutter cutter_;
  std::optional<vad_stream> voices_;
  result head_;
  std::vector<waiting_clip> waiting_;
  std::vector<context> scratch_;
  std::vector<float> filled_;
  std::size_t emitted_ = 0;
  std::optional<segment> only_;  // what the result takes from a segment, as long as there is one
  double done_ = 0;
  bool closed_ = false;
};

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
