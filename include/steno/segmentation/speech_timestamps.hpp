// steno/segmentation/speech_timestamps.hpp - from probabilities of speech, a window each, to segments of speech.
//
// Speech begins with a window of at least `threshold`, and ends where windows below `neg_threshold` have come for
// min_silence, without one of `threshold` between them. What is too short goes; what is too long is cut at its longest
// pause; both ends get `pad`, or half of the gap where two segments are close. Follows `get_speech_timestamps` of
// Silero VAD (src/silero_vad/utils_vad.py) and makes its segments while the windows come: a start is emitted as soon
// as the segment is known to stay, an end as soon as the next start cannot change it. With min_speech 0 the starts and
// ends are those of its `VADIterator`. Tested in tests/segmentation/speech_timestamps_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace steno {
inline namespace STENO_ABI {
namespace segmentation {

/// Times in milliseconds, which count as 0 below that; meanings and defaults are the original's.
struct speech_timestamp_options {
  double threshold = 0.5;     ///< from here on a window is speech
  double neg_threshold = -1;  ///< below it is silence; itself below 0: threshold - 0.15, at least 0.01
  int min_speech = 250;       ///< min_speech_duration_ms; a segment that is not longer goes
  int min_silence = 100;      ///< min_silence_duration_ms; a pause that ends a segment
  int pad = 30;               ///< speech_pad_ms; added before and after
  std::optional<std::int64_t> max_speech = {};  ///< max_speech_duration_s; a longer segment is cut; otherwise none is
  int min_silence_at_max_speech = 98;           ///< a pause in which a segment that is too long may be cut
  bool longest_silence = true;  ///< use_max_poss_sil_at_max_speech: cut in the longest of them, or the last
};

/// A beginning or an end of speech.
struct speech_edge {
  bool begins = false;      ///< or it ends
  std::int64_t sample = 0;  ///< where
  bool operator==(const speech_edge&) const = default;
};

/// The windows of one stream, one after the other. A plain value.
class speech_timestamps {
 public:
  /// At the start of a stream of windows of `window` samples, `rate` a second.
  explicit speech_timestamps(const speech_timestamp_options& o = {}, int rate = 16000, int window = 512)
      : window_(window),
        min_speech_(samples(o.min_speech, rate)),
        min_silence_(samples(o.min_silence, rate)),
        pad_(samples(o.pad, rate)),
        max_speech_(o.max_speech ? samples(*o.max_speech, rate) - window - 2 * pad_
                                 : std::numeric_limits<std::int64_t>::max()),
        cut_silence_(samples(o.min_silence_at_max_speech, rate)),
        threshold_(o.threshold),
        neg_threshold_(o.neg_threshold >= 0 ? o.neg_threshold : std::max(o.threshold - 0.15, 0.01)),
        longest_(o.longest_silence) {}

  /// The next whole window; sink(speech_edge) in order of time, begin and end in turn.
  template <class Sink>
  void window(float probability, Sink&& sink) {
    decide(static_cast<double>(probability), sink);
    announce(count_ * window_, sink);
    release(open_ ? start_ : count_ * window_, sink);
  }
  /// A last window that samples do not fill, before finish().
  template <class Sink>
  void last_window(float probability, Sink&& sink) {
    decide(static_cast<double>(probability), sink);
  }
  /// The audio ended after `length` samples: what is open ends, too.
  template <class Sink>
  void finish(std::int64_t length, Sink&& sink) {
    if (open_ && length - start_ > min_speech_) close(length, sink);
    open_ = false;
    if (held_) emit_end(std::min(length, held_end_ + pad_), sink);
  }

  /// Samples before it belong to segments that were emitted whole, or to none.
  std::int64_t settled() const noexcept {
    if (emitted_start_ >= 0) return emitted_start_;
    return std::max(free_from_, (open_ ? start_ : count_ * window_) - pad_);
  }

 private:
  static std::int64_t samples(std::int64_t ms, int rate) noexcept {
    return std::max<std::int64_t>(ms, 0) * rate / 1000;
  }

  // One window, in the original's order. 0 stands for "none" there, too: no pause can begin at 0.
  template <class Sink>
  void decide(double probability, Sink& sink) {
    const std::int64_t now = count_++ * window_;
    const bool speech = probability >= threshold_;
    if (speech && pause_ != 0) {
      if (now - pause_ > cut_silence_ && now - pause_ > best_length_) best_ = pause_, best_length_ = now - pause_;
      pause_ = 0;
      if (next_ < last_pause_) next_ = now;
    }
    if (speech && !open_) {
      begin(now);
      return;
    }
    if (open_ && now - start_ > max_speech_ && !cut(now, sink)) return;
    if (!(probability < neg_threshold_) || !open_) return;
    if (pause_ == 0) pause_ = now;
    if (!longest_ && now - pause_ > cut_silence_) last_pause_ = pause_;
    if (now - pause_ < min_silence_) return;
    if (pause_ - start_ > min_speech_)
      close(pause_, sink);
    else
      open_ = false;
    forget();
  }

  // Ends a segment that is too long. False: the window is done with.
  template <class Sink>
  bool cut(std::int64_t now, Sink& sink) {
    std::int64_t end = now, next = -1;  // the next segment begins there, or with another window of speech
    bool goes_on = false;
    if (longest_ && best_length_ != 0) {
      end = best_;
      next = best_ + best_length_;
      goes_on = true;
    } else if (last_pause_ != 0) {
      end = last_pause_;
      next = next_ < last_pause_ ? -1 : next_;
      goes_on = true;
    }
    close(end, sink);
    forget();
    if (next >= 0) begin(next);
    return goes_on;
  }

  void begin(std::int64_t at) noexcept {
    open_ = true;
    announced_ = false;
    start_ = at;
  }
  void forget() noexcept { pause_ = last_pause_ = next_ = best_ = best_length_ = 0; }

  // The open segment will stay: whatever comes, it ends behind `known` or where the pause began.
  template <class Sink>
  void announce(std::int64_t known, Sink& sink) {
    if (open_ && !announced_ && (pause_ != 0 ? pause_ : known) - start_ > min_speech_) emit_start(sink);
  }
  template <class Sink>
  void close(std::int64_t end, Sink& sink) {
    if (!announced_) emit_start(sink);
    open_ = announced_ = false;
    held_ = true;
    held_end_ = end;
  }
  // An end that waits, when the next segment can only begin at `next` or later.
  template <class Sink>
  void release(std::int64_t next, Sink& sink) {
    if (held_ && next - held_end_ >= 2 * pad_) emit_end(held_end_ + pad_, sink);
  }

  template <class Sink>
  void emit_start(Sink& sink) {
    std::int64_t before = pad_;
    if (held_) {
      const std::int64_t gap = start_ - held_end_;
      before = std::min(gap / 2, pad_);
      emit_end(held_end_ + before, sink);
    }
    announced_ = true;
    emitted_start_ = std::max<std::int64_t>(0, start_ - before);
    sink(speech_edge{true, emitted_start_});
  }
  template <class Sink>
  void emit_end(std::int64_t at, Sink& sink) {
    held_ = false;
    emitted_start_ = -1;
    free_from_ = at;
    sink(speech_edge{false, at});
  }

  std::int64_t window_, min_speech_, min_silence_, pad_, max_speech_, cut_silence_;  // samples
  double threshold_, neg_threshold_;
  bool longest_;
  std::int64_t count_ = 0;                     // windows
  bool open_ = false, announced_ = false;      // a segment may be going on; its start was emitted
  std::int64_t start_ = 0, pause_ = 0;         // of that segment, and of the pause in it
  std::int64_t best_ = 0, best_length_ = 0;    // its longest pause
  std::int64_t last_pause_ = 0, next_ = 0;     // its last one, and where speech went on
  bool held_ = false;                          // the segment before has ended, its end was not emitted
  std::int64_t held_end_ = 0, free_from_ = 0;  // there; the last end that was emitted
  std::int64_t emitted_start_ = -1;            // of the segment whose end is to come
};

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
