// steno/pipelines/long_audio.hpp - where to cut a long recording for models that take one clip at a time.
//
// Without a voice activity detector clips end where a cut_policy says (segmentation/quiet_splits.hpp). With one, clips
// are its segments: cut by the rule that makes none longer where they are too long. Neighbours are merged where that is
// wanted, with the pause between them; or, for a model whose window is of one length, they share clips without it.
// Recordings come in portions of any size, and what is needed of them is kept: memory does not grow with their length.
// Tested in tests/pipelines/long_audio_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/extents.hpp>
#include <steno/segmentation/quiet_splits.hpp>
#include <steno/segmentation/voice_segments.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// Samples [begin, end).
struct audio_range {
  extent begin = 0;  ///< the first sample
  extent end = 0;    ///< behind the last one
};

/// What is recognised at once: a piece of the recording, or several, put one behind the other.
struct audio_clip : audio_range {
  std::vector<audio_range> parts = {};  ///< of several pieces each, in order, all between begin and end; else empty

  /// Samples of the clip.
  STENO_ON_CALL extent count() const noexcept {
    extent all = parts.empty() ? end - begin : 0;
    for (const audio_range& p : parts) all += p.end - p.begin;
    return all;
  }
  /// Where sample `at` of the clip lies in the recording, in samples: of two pieces that meet there in the second, or
  /// with `before` in the first one.
  STENO_ON_CALL double place(double at, bool before) const noexcept {
    if (parts.empty()) return static_cast<double>(begin) + at;
    std::size_t i = 0;
    for (; i + 1 < parts.size(); ++i) {
      const auto length = static_cast<double>(parts[i].end - parts[i].begin);
      if (at < length || (before && at <= length)) break;
      at -= length;
    }
    return std::min(static_cast<double>(parts[i].begin) + at, static_cast<double>(parts[i].end));
  }
  /// The piece that holds sample `at` of the clip.
  STENO_ON_CALL audio_range part(double at) const noexcept {
    for (const audio_range& p : parts) {
      if (at < static_cast<double>(p.end - p.begin)) return p;
      at -= static_cast<double>(p.end - p.begin);
    }
    return parts.empty() ? audio_range{begin, end} : parts.back();
  }
};

/// How a recording is cut.
struct clip_options {
  segmentation::cut_policy cut = {};  ///< of what is longer; of `around` up to half of `max_seconds` counts
  bool voices = false;                ///< clips are a detector's segments, which voice() brings
  double merge_seconds = 0;           ///< seconds; neighbouring segments are joined up to this length
  /// Segments share clips of up to `cut.max_seconds`, without what is between them; unless they are merged. One that
  /// begins longer after the last than a clip may be begins a new clip.
  bool share = false;
};

/// Cuts one recording, as it comes, into clips. Not shared.
class clip_cutter {
 public:
  /// For a recording of so many samples a second.
  STENO_COLD clip_cutter(int sample_rate, const clip_options& o)
      : rate_(sample_rate),
        cut_(sample_rate, o.cut),
        merge_(static_cast<extent>(o.merge_seconds * sample_rate)),
        voices_(o.voices),
        share_(o.voices && o.share && merge_ == 0) {
    if (voices_) cut_.rule = segmentation::cut_rule::within;
    cut_.around = std::min(cut_.around, cut_.max / 2);
  }

  /// The next samples.
  STENO_ON_CALL STENO_COLD void push(std::span<const float> pcm) {
    forget();
    held_.insert(held_.end(), pcm.begin(), pcm.end());
    if (!voices_) cut_longer(cut_.enough());  // as soon as what follows has no say
  }
  /// What the detector found in the samples so far.
  STENO_ON_CALL STENO_COLD void voice(const segmentation::voice_change& v) {
    if (v.start_ms >= 0) open_ = std::clamp(place(v.start_ms), first_, end());
    if (v.end_ms < 0 || open_ < 0) return;
    add({open_, std::clamp(place(v.end_ms), open_, end())});
    open_ = -1;
  }
  /// How far the detector is done with them: its settled_ms(). Samples are kept from there on.
  void settled(std::int64_t ms) { next_ = std::clamp(place(ms), next_, end()); }
  /// No samples follow; the detector has emitted its last.
  STENO_ON_CALL STENO_COLD void finish() {
    if (!voices_) {
      cut_longer(cut_.max);
      if (next_ < end()) ready({next_, end()});
    }
    close_group();
    next_ = end();
  }

  /// The next complete clip, if there is one; clip() gives its samples until the next next() or push().
  STENO_ON_CALL std::optional<audio_clip> next() {
    // No segment that is still to come can join the group any more.
    const bool full = share_ ? next_ - group_.end > cut_.max : merge_ == 0 || next_ - group_.begin > merge_;
    if (group_.end > group_.begin && full) close_group();
    if (taken_ == ready_.size()) {
      ready_.clear();
      taken_ = 0;
      return std::nullopt;
    }
    return ready_[taken_++].clip;
  }
  /// The samples of what next() returned last.
  STENO_ON_CALL std::span<const float> clip(const audio_clip& c) const {
    return c.parts.empty() ? clip(static_cast<const audio_range&>(c)) : std::span<const float>(ready_[taken_ - 1].pcm);
  }
  /// Samples that are kept, until the next push().
  STENO_ON_CALL std::span<const float> clip(const audio_range& r) const {
    return std::span<const float>(held_).subspan(static_cast<std::size_t>(r.begin - first_),
                                                 static_cast<std::size_t>(r.end - r.begin));
  }
  /// The first sample that is kept.
  extent first() const noexcept { return first_; }
  /// No clip that is still to come begins before.
  STENO_ON_CALL extent earliest() const noexcept {
    extent from = first_;
    if (group_.end > group_.begin) from = std::min(from, group_.begin);
    if (taken_ < ready_.size()) from = std::min(from, ready_[taken_].clip.begin);
    return from;
  }
  /// Samples pushed so far.
  extent end() const noexcept { return first_ + static_cast<extent>(held_.size()); }

 private:
  extent place(std::int64_t ms) const noexcept { return static_cast<extent>(ms * rate_ / 1000); }

  STENO_ON_CALL void cut_longer(extent than) {
    while (end() - next_ > than) next_ = cut(next_, end());
  }
  // A clip from `begin` on, of what ends at `to`; where it ends.
  STENO_ON_CALL extent cut(extent begin, extent to) {
    const extent at = begin + cut_.end(clip(audio_range{begin, to}));
    ready({begin, at});
    return at;
  }
  STENO_ON_CALL void ready(const audio_range& r) { ready_.push_back({.clip = {r}}); }
  STENO_ON_CALL void add(audio_range segment) {
    if (share_) return add_shared(segment);
    if (group_.end > group_.begin && segment.end - group_.begin <= merge_) {
      group_.end = segment.end;
      return;
    }
    close_group();
    static_cast<audio_range&>(group_) = segment;
  }
  // A segment that fits into the open clip joins it; one that is longer than any clip begins with clips of its own.
  STENO_ON_CALL void add_shared(audio_range segment) {
    const auto length = static_cast<extent>(shared_.size());
    if (length + segment.end - segment.begin > cut_.max || segment.begin - group_.end > cut_.max) close_group();
    while (segment.end - segment.begin > cut_.max) segment.begin = cut(segment.begin, segment.end);
    if (segment.begin >= segment.end) return;
    const std::span<const float> pcm = clip(segment);
    shared_.insert(shared_.end(), pcm.begin(), pcm.end());
    if (group_.parts.empty()) group_.begin = segment.begin;
    group_.end = segment.end;
    group_.parts.push_back(segment);
  }
  STENO_ON_CALL STENO_COLD void close_group() {
    if (!group_.parts.empty()) {
      ready_.push_back({.clip = std::move(group_), .pcm = std::move(shared_)});
    } else {
      extent begin = group_.begin;
      while (group_.end - begin > cut_.max) begin = cut(begin, group_.end);
      if (begin < group_.end) ready({begin, group_.end});
    }
    group_ = {};
    shared_ = {};
  }
  /// Drops samples that nothing needs any more.
  STENO_ON_CALL STENO_COLD void forget() {
    extent from = next_;
    if (open_ >= 0) from = std::min(from, open_);
    if (group_.end > group_.begin && !share_) from = std::min(from, group_.begin);
    for (std::size_t i = taken_; i < ready_.size(); ++i)
      if (ready_[i].clip.parts.empty()) from = std::min(from, ready_[i].clip.begin);
    if (from - first_ < end() - from) return;  // moving them would cost more than they do
    held_.erase(held_.begin(), held_.begin() + (from - first_));
    first_ = from;
  }

  struct ready_clip {
    audio_clip clip;
    std::vector<float> pcm = {};  // of several pieces; one is among those that are held
  };

  int rate_;
  segmentation::part_cutter cut_;
  extent merge_;
  bool voices_, share_;
  std::vector<float> held_;  // samples first_ ..
  extent first_ = 0, open_ = -1;
  extent next_ = 0;            // no clip that is still to come begins before
  audio_clip group_;           // is open
  std::vector<float> shared_;  // its samples, where segments share it
  std::vector<ready_clip> ready_;
  std::size_t taken_ = 0;
};

/// Cuts `pcm` at quiet places into pieces of up to `max_seconds` seconds; together they cover everything, in order.
STENO_ON_CALL STENO_COLD inline std::vector<audio_range> split_at_pauses(std::span<const float> pcm, int sample_rate,
                                                                         double max_seconds) {
  clip_cutter cutter(sample_rate, {.cut = {.max_seconds = max_seconds}});
  cutter.push(pcm);
  cutter.finish();
  std::vector<audio_range> ranges;
  while (const auto r = cutter.next()) ranges.push_back(*r);
  return ranges;
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
