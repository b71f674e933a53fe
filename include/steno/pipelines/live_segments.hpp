// steno/pipelines/live_segments.hpp - live recognition by segments: the loop behind segment_session<Model>, which says
// what it does.
//
// Tested in tests/pipelines/segment_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/clip_model.hpp>
#include <steno/pipelines/interfaces.hpp>
#include <steno/pipelines/long_audio.hpp>
#include <steno/pipelines/result.hpp>
#include <steno/streaming/session.hpp>
#include <steno/text/agreement.hpp>
#include <steno/text/words_in_text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// A session's options as those of recordings; `vad` finds the segments. Throws steno::error.
STENO_ON_CALL STENO_COLD inline transcribe_options as_recording(const session_options& o, const any_vad* vad) {
  if (o.partial_seconds && !(*o.partial_seconds >= 0 && *o.partial_seconds <= 3600))
    fail({.what = "partial_seconds", .expected = "0 to 3600"});
  transcribe_options own;
  own.language = o.language;
  own.max_clip_seconds = o.max_utterance_seconds;
  own.limit_seconds = o.limit_seconds;
  own.vad = vad;
  own.look_ahead = o.look_ahead;
  own.beam = o.beam;
  own.hotwords = o.hotwords;
  own.language_model = o.language_model;
  own.lm_weight = o.lm_weight;
  own.hotword_score = o.hotword_score;
  return own;
}
[[noreturn]] STENO_COLD inline void refuse_live(std::string_view option, std::string_view architecture) {
  fail({.what = "option " + std::string(option),
        .expected = "one that the model honours while it recognises segments",
        .found = std::string(architecture)});
}

/// How segments are recognised.
struct segment_settings {
  transcribe_options recording;                 ///< as clips of a recording; its detector finds them
  std::unique_ptr<const any_vad> own_detector;  ///< which may be this one
  std::unique_ptr<search::guides> guides;       ///< what they favour
  segmentation::cut_policy cut;                 ///< of longer ones than the model takes
};

/// Model, detector and `partials` must outlive it. It may be moved; one thread at a time.
class live_segments {
 public:
  /// For options that the model honours. Throws steno::error for `partials` that does not stream or has another sample
  /// rate.
  STENO_COLD live_segments(const clip_model& m, const session_options& o, const session_parts& parts,
                           segment_settings s)
      : model_(m),
        detector_(std::move(s.own_detector)),
        options_(std::move(s.recording)),
        guides_(std::move(s.guides)),
        voices_(*options_.vad, parts.vad_settings),
        cut_(m.sample_rate, s.cut),
        partials_(parts.partials),
        partial_options_(parts.partial_options),
        block_(std::max<extent>(m.sample_rate / 100, 1)),
        step_(static_cast<extent>(o.partial_seconds.value_or(0.5) * m.sample_rate)),
        endpoints_(o.endpoints.value_or(true)),
        continuous_(o.continuous) {
    if (partials_ == nullptr) return;
    if (!partials_->streams())
      fail({.what = "model of partial results",
            .expected = "one that streams",
            .found = std::string(partials_->architecture())});
    if (partials_->sample_rate() != m.sample_rate)
      fail({.what = "sample rate of the model of partial results",
            .expected = std::to_string(m.sample_rate) + " Hz, as the model's",
            .found = std::to_string(partials_->sample_rate())});
  }

  STENO_ON_CALL void push(std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) {
    while (!pcm.empty() && !over_) {
      // To the next multiple of a block, so that what is decided when does not depend on the portions.
      const auto part = pcm.first(std::min(pcm.size(), static_cast<std::size_t>(block_ - end() % block_)));
      held_.insert(held_.end(), part.begin(), part.end());
      pcm = pcm.subspan(part.size());
      if (end() % block_ == 0) advance(c, sink);
    }
  }
  STENO_ON_CALL void finish(context& c, core::sink_ref<session_event> sink) {
    if (over_) return;
    listen(c);
    voices_.finish(c, [this](const segmentation::voice_change& v) { changes_.push_back(v); });
    follow(true, c, sink);
    if (over_) return;
    if (open_ >= 0) settle(speaking_ ? end() : spoken_, endpoint_kind::none, c, sink);
    if (!last_) emit_end(sink);
    over_ = true;
  }
  bool over() const noexcept { return over_; }

 private:
  extent end() const noexcept { return first_ + static_cast<extent>(held_.size()); }
  extent place(std::int64_t ms) const noexcept { return static_cast<extent>(ms * model_.sample_rate / 1000); }
  double seconds(extent at) const noexcept { return static_cast<double>(at) / model_.sample_rate; }
  std::span<const float> samples(extent from, extent to) const noexcept {
    return std::span<const float>(held_).subspan(static_cast<std::size_t>(from - first_),
                                                 static_cast<std::size_t>(to - from));
  }
  // The end of a segment is found no later than this behind it: a cut before would be one too many.
  extent slack() const noexcept { return model_.sample_rate; }

  STENO_ON_CALL void advance(context& c, core::sink_ref<session_event>& sink) {
    c.check_stop();
    listen(c);
    follow(false, c, sink);
    if (over_) return;
    if (open_ >= 0 && end() - open_ > cut_.max + slack()) shorten(c, sink);
    if (open_ >= 0 && speaking_) show(c, sink);
    forget();
  }
  // Hands the detector what it has not had.
  STENO_ON_CALL void listen(context& c) {
    if (listened_ == end()) return;
    voices_.accept(samples(listened_, end()), c,
                   [this](const segmentation::voice_change& v) { changes_.push_back(v); });
    listened_ = end();
  }
  // What the detector found. `at_end`: nothing follows, so the last end of speech is the end of the session.
  STENO_ON_CALL void follow(bool at_end, context& c, core::sink_ref<session_event>& sink) {
    for (std::size_t i = 0; i < changes_.size() && !over_; ++i) {
      const segmentation::voice_change v = changes_[i];
      if (v.start_ms >= 0) begin(place(v.start_ms));
      if (v.end_ms < 0 || open_ < 0) continue;
      speaking_ = false;
      spoken_ = std::clamp(place(v.end_ms), open_, end());
      const bool last = at_end && i + 1 == changes_.size();
      if (!endpoints_) continue;
      settle(spoken_, last ? endpoint_kind::none : endpoint_kind::endpoint, c, sink);
    }
    changes_.clear();
  }
  STENO_ON_CALL void begin(extent at) {
    speaking_ = true;
    if (open_ < 0) open(std::clamp(at, first_, end()));
  }
  // An utterance from `at` on.
  STENO_ON_CALL void open(extent at) {
    open_ = at;
    next_ = step_;
    shown_ = false;
    kept_.clear();
    kept_words_.clear();
    before_.clear();
    tokens_.clear();
    by_partials_.clear();
    live_.reset();
    fed_ = at;
  }
  // It is longer than the model takes at once.
  STENO_ON_CALL void shorten(context& c, core::sink_ref<session_event>& sink) {
    if (!speaking_) return settle(spoken_, endpoint_kind::none, c, sink);
    const extent at = open_ + cut_.end(samples(open_, end()));
    recognise_final(at, endpoint_kind::none, c, sink);
    open(at);
  }
  // The utterance has ended at `to`.
  STENO_ON_CALL void settle(extent to, endpoint_kind kind, context& c, core::sink_ref<session_event>& sink) {
    while (to - open_ > cut_.max) {
      const extent at = open_ + cut_.end(samples(open_, to));
      recognise_final(at, endpoint_kind::none, c, sink);
      open(at);
    }
    recognise_final(to, kind, c, sink);
    settled_ = to;
    open_ = -1;
    speaking_ = false;
  }

  // One segment of samples [open_, to).
  STENO_ON_CALL segment recognise(extent to, context& c) {
    guides_->earlier = tokens_;  // a text is much as it was a moment ago
    segment whole;
    bool any = false;
    const double offset = seconds(open_);
    for (segment& s : model_.recognise(model_.self, samples(open_, to), options_, *guides_, c)) {
      if (s.token_ids.empty()) continue;  // as recordings
      s.start += offset;
      s.end = std::min(s.end, static_cast<double>(to - open_) / model_.sample_rate) + offset;
      for (word& w : s.words) {
        w.start += offset;
        w.end += offset;
      }
      if (any)
        join(whole, std::move(s));
      else
        whole = std::move(s);
      any = true;
    }
    tokens_ = whole.token_ids;
    if (any) return whole;
    whole.start = offset;
    whole.end = seconds(to);
    return whole;
  }
  // Of a model that finds turns of speakers in a clip.
  STENO_ON_CALL STENO_COLD static void join(segment& whole, segment more) {
    append_text(whole.text, more.text);
    whole.end = std::max(whole.end, more.end);
    whole.token_ids.insert(whole.token_ids.end(), more.token_ids.begin(), more.token_ids.end());
    for (word& w : more.words) whole.words.push_back(std::move(w));
    if (whole.score && more.score)
      *whole.score += *more.score;
    else
      whole.score.reset();
    whole.alternatives.clear();
    whole.extra.clear();
  }
  // `s` with the beginning that stays; whether that changed it.
  STENO_ON_CALL STENO_COLD bool keep_beginning(segment& s) const {
    const std::size_t rest = text::behind_beginning(kept_, s.text);
    if (rest == kept_.size() && s.text.starts_with(kept_)) return false;
    std::vector<word> words;
    const auto places = text::words_in_text(s.text, s.words);
    if (!kept_words_.empty() && places.size() == s.words.size()) {  // else it has none that are known to be its own
      words = kept_words_;
      for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].begin >= rest) words.push_back(std::move(s.words[i]));
    }
    s.text = text::keep_beginning(kept_, s.text);
    s.words = std::move(words);
    s.token_ids.clear();
    s.score.reset();
    s.alternatives.clear();
    s.extra.clear();
    return true;
  }

  // A partial result, when it is time for one.
  STENO_ON_CALL void show(context& c, core::sink_ref<session_event>& sink) {
    if (partials_ != nullptr) return show_partials(c, sink);
    const extent length = end() - open_;
    if (step_ <= 0 || length < next_ || length > cut_.max) return;
    next_ = length + std::max(step_, length / 5);
    segment s = recognise(end(), c);
    keep_beginning(s);
    // What is behind the first half may come behind a cut, and be recognised again.
    if (length <= cut_.max / 2) agree(s);
    before_ = s.text;
    if (s.text.empty() && !shown_) return;
    s.start = seconds(open_);
    s.end = seconds(end());
    emit(streaming::stream_event_kind::partial, endpoint_kind::none, std::move(s), sink);
    shown_ = true;
  }
  STENO_ON_CALL STENO_COLD void agree(const segment& s) {
    const std::size_t agreed = text::agreed_beginning(before_, s.text);
    if (agreed <= kept_.size()) return;
    kept_ = s.text.substr(0, agreed);
    kept_words_.clear();
    const auto places = text::words_in_text(s.text, s.words);
    for (std::size_t i = 0; i < places.size() && places[i].end <= agreed; ++i) kept_words_.push_back(s.words[i]);
  }
  // The other model's, of the utterance alone.
  STENO_ON_CALL void show_partials(context& c, core::sink_ref<session_event>& sink) {
    if (live_ == nullptr) live_ = partials_->start_session(partial_options_, {}, c);
    if (fed_ == end()) return;
    const auto pcm = samples(fed_, end());
    fed_ = end();
    live_->push(pcm, c, [&](session_event e) {
      segment s = std::move(e.utterance);
      std::string all = by_partials_;
      append_text(all, s.text);
      if (e.final()) by_partials_ = all;
      if (all.empty()) return;
      s.text = std::move(all);
      s.end = std::min(s.end + seconds(open_), seconds(end()));
      s.start = seconds(open_);
      emit(streaming::stream_event_kind::partial, endpoint_kind::none, std::move(s), sink);
      shown_ = true;
    });
  }

  STENO_ON_CALL void recognise_final(extent to, endpoint_kind kind, context& c, core::sink_ref<session_event>& sink) {
    live_.reset();
    segment s = recognise(to, c);
    keep_beginning(s);
    if (s.text.empty() && !shown_) return;  // nothing was spoken
    emit(streaming::stream_event_kind::final, kind, std::move(s), sink);
  }
  STENO_ON_CALL STENO_COLD void emit(streaming::stream_event_kind kind, endpoint_kind endpoint, segment s,
                                     core::sink_ref<session_event>& sink) {
    session_event e;
    e.kind = kind;
    e.endpoint = endpoint;
    e.score = s.score;
    e.stop = s.stop_reason;
    if (e.final()) {
      e.stable = s.text;
      for (alternative& a : s.alternatives) e.nbest.push_back({std::move(a.text), a.score, {}});
    } else {
      e.stable = kept_;
      s.words.clear();
    }
    s.alternatives.clear();
    if (e.nbest.empty()) e.nbest.push_back({s.text, s.score, {}});
    e.utterance = std::move(s);
    last_ = e.final() && endpoint == endpoint_kind::none;
    if (endpoint != endpoint_kind::none && !continuous_) over_ = true;
    sink(std::move(e));
  }
  // The last event is a final one: that nothing follows what was settled.
  STENO_ON_CALL STENO_COLD void emit_end(core::sink_ref<session_event>& sink) {
    segment s;
    s.start = seconds(settled_);
    s.end = seconds(end());
    emit(streaming::stream_event_kind::final, endpoint_kind::none, std::move(s), sink);
  }

  // Drops samples that nothing needs any more.
  STENO_ON_CALL void forget() {
    const extent needed = open_ >= 0 ? open_ : std::clamp(place(voices_.settled_ms()), first_, end());
    if (needed - first_ < std::max(end() - needed, static_cast<extent>(model_.sample_rate))) return;
    held_.erase(held_.begin(), held_.begin() + (needed - first_));
    first_ = needed;
  }

  clip_model model_;
  std::unique_ptr<const any_vad> detector_;  // unless another one was given
  transcribe_options options_;
  std::unique_ptr<search::guides> guides_;  // stays where it is when the session moves
  vad_stream voices_;
  segmentation::part_cutter cut_;
  const loaded_model* partials_;
  session_options partial_options_;
  extent block_, step_;  // samples: between decisions; of the open utterance between partial results
  bool endpoints_, continuous_;
  std::vector<float> held_;  // samples first_ ..
  extent first_ = 0, listened_ = 0;
  std::vector<segmentation::voice_change> changes_;
  extent open_ = -1;    // where the utterance began
  extent spoken_ = 0;   // where speech ended in it
  extent settled_ = 0;  // where the last one ended
  extent next_ = 0;     // so long is it when it is recognised next
  bool speaking_ = false, shown_ = false, over_ = false;
  bool last_ = false;  // the last event was a final one without an endpoint
  std::string kept_;   // the beginning of its text that stays
  std::vector<word> kept_words_;
  std::string before_;                       // its text when it was recognised last
  std::vector<int> tokens_;                  // of that text
  std::unique_ptr<session_interface> live_;  // of the other model
  std::string by_partials_;                  // what that has settled of the utterance
  extent fed_ = 0;                           // how far that has the samples
};

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
