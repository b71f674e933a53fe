// steno/segmentation/voice_segments.hpp - from frames that are speech or not to segments of speech.
//
// A window over the last frames decides: speech begins when enough of them are speech, and pauses when few are. A
// segment starts before the window by a look-back (never before the last one's end), and ends when the pause has
// lasted, when it grows too long, or with the audio. Follows `WindowDetector` and `FsmnVADStreaming.DetectOneFrame`
// with their bookkeeping (funasr/models/fsmn_vad_streaming/model.py), frame by frame. Tested in
// tests/segmentation/voice_segments_test.cpp and tests/parity/fsmn_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace segmentation {

/// Times in milliseconds; names and defaults are the original's.
struct voice_segment_options {
  int frame = 10;                  ///< duration of one
  int window_size = 200;           ///< of the last frames, which decides
  int sil_to_speech = 150;         ///< so much of the window is speech: it begins
  int speech_to_sil = 150;         ///< no more than so much is: it pauses
  int max_end_silence = 800;       ///< a pause that ends the segment, with speech_to_sil
  int max_start_silence = 3000;    ///< only with single_utterance: then nothing comes
  int lookback_start = 200;        ///< before the window
  int lookahead_end = 100;         ///< kept of the pause
  int max_single_segment = 60000;  ///< a longer one is cut
  bool extend = true;              ///< use lookback_start and lookahead_end
  bool single_utterance = false;   ///< nothing after the first segment
};

/// What a frame changed; -1: nothing. Both may change at once: a segment begins and ends with the last frame.
struct voice_change {
  std::int64_t start_ms = -1;  ///< a segment begins there
  std::int64_t end_ms = -1;    ///< a segment ends there
  /// Whether anything changed.
  bool any() const noexcept { return start_ms >= 0 || end_ms >= 0; }
};

/// The frames of one stream, one after the other. Copyable.
class voice_segmenter {
 public:
  /// At the start of a stream.
  explicit voice_segmenter(const voice_segment_options& o = {})
      : o_(o),
        pause_(o.max_end_silence - o.speech_to_sil),
        window_(static_cast<std::size_t>(o.window_size / o.frame)) {}

  /// A pause of `ms` ends a segment from now on.
  void set_max_end_silence(int ms) noexcept { pause_ = std::max(ms - o_.speech_to_sil, 0); }
  /// Whether a segment is open.
  bool in_speech() const noexcept { return where_ == place::inside; }
  /// Frames before this one belong to segments that were emitted, or to none.
  std::int64_t settled_frames() const noexcept { return where_ == place::inside ? start_ : free_from_; }
  /// Frames that came.
  std::int64_t frames() const noexcept { return seen_; }
  /// How far before a frame the segment that it opens may start.
  std::int64_t latency_frames() const noexcept {
    return static_cast<std::int64_t>(window_.size()) + (o_.extend ? o_.lookback_start / o_.frame : 0);
  }

  /// The next frame; `last`: none follows, and an open segment ends.
  voice_change frame(bool speech, bool last = false) {
    const std::int64_t now = seen_++;
    voice_change change;
    if (where_ == place::over) return change;
    const turn t = turn_of(speech);
    silence_ = t == turn::stays_silent ? silence_ + 1 : 0;
    if (where_ == place::inside) {
      within(t, now, last, change);
    } else if (t == turn::to_speech) {
      begin(now, change);
    } else if (t == turn::stays_silent) {
      // Silence for too long, or the audio ends without a segment.
      if ((o_.single_utterance && silence_ * o_.frame > o_.max_start_silence) || (last && ended_ == 0))
        where_ = place::ended;
      else if (now >= latency_frames())
        free_from_ = std::max(free_from_, now - latency_frames());
    }
    if (last && where_ == place::inside) change.end_ms = end_ * o_.frame;  // begun by the last frame
    if (where_ == place::ended) reset();
    return change;
  }

  /// The audio ended without a frame that was called the last one: an open segment ends.
  voice_change finish() {
    voice_change change;
    if (where_ != place::inside) return change;
    close(seen_ - 1, change);
    reset();
    return change;
  }

 private:
  enum class place { outside, inside, ended, over };
  enum class turn { to_speech, to_silence, stays_speech, stays_silent };

  turn turn_of(bool speech) {
    sum_ += static_cast<int>(speech) - window_[at_];
    window_[at_] = static_cast<unsigned char>(speech);
    at_ = (at_ + 1) % window_.size();
    if (!speaking_ && sum_ >= o_.sil_to_speech / o_.frame) return speaking_ = true, turn::to_speech;
    if (speaking_ && sum_ <= o_.speech_to_sil / o_.frame) return speaking_ = false, turn::to_silence;
    return speaking_ ? turn::stays_speech : turn::stays_silent;
  }

  void begin(std::int64_t now, voice_change& change) {
    start_ = std::max(free_from_, now - latency_frames());
    where_ = place::inside;
    change.start_ms = start_ * o_.frame;
    for (std::int64_t t = start_; t <= now; ++t) keep(t);
  }

  void within(turn t, std::int64_t now, bool last, voice_change& change) {
    const bool too_long = (now - start_ + 1) * o_.frame > o_.max_single_segment;
    if (t == turn::to_speech)
      for (std::int64_t f = latest_ + 1; f < now; ++f) keep(f);
    if (t == turn::stays_silent && silence_ * o_.frame >= pause_) {
      int back = pause_ / o_.frame;
      if (o_.extend) back = std::max(0, back - o_.lookahead_end / o_.frame - 1);
      close(now - back, change);
    } else if (too_long || last) {
      close(now, change);
    } else if (t != turn::stays_silent || (o_.extend && silence_ <= o_.lookahead_end / o_.frame)) {
      keep(now);
    }
  }

  /// Frame t belongs to the segment. The counter goes on even when t lies before it, as in the original.
  void keep(std::int64_t t) noexcept {
    latest_ = t;
    take(t);
  }
  void take(std::int64_t t) noexcept {
    free_from_ = std::max(free_from_, t) + 1;
    end_ = t + 1;
  }
  void close(std::int64_t t, voice_change& change) noexcept {
    for (std::int64_t f = latest_ + 1; f < t; ++f) keep(f);
    take(t);
    change.end_ms = end_ * o_.frame;
    ++ended_;
    where_ = place::ended;
  }
  void reset() {
    if (o_.single_utterance) {
      where_ = place::over;
      return;
    }
    where_ = place::outside;
    std::fill(window_.begin(), window_.end(), static_cast<unsigned char>(0));
    sum_ = 0;
    at_ = 0;
    speaking_ = false;
    silence_ = 0;
    latest_ = 0;
  }

  voice_segment_options o_;
  int pause_;  // ms of silence that end a segment, after the window has turned
  std::vector<unsigned char> window_;
  std::size_t at_ = 0;
  int sum_ = 0, silence_ = 0, ended_ = 0;
  bool speaking_ = false;
  place where_ = place::outside;
  std::int64_t seen_ = 0, start_ = 0, end_ = 0, latest_ = 0, free_from_ = 0;
};

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
