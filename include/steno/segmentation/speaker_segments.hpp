// steno/segmentation/speaker_segments.hpp - when somebody speaks, from a speaker's probabilities.
//
// In steps of 10 ms: speech begins above `onset` and ends below `offset`; each span grows by the paddings; spans that
// touch become one; short spans go, then short gaps. `ts_vad_post_processing`, `binarization`, `filtering`
// (vad_utils.py), `merge_float_intervals` (speaker_utils.py). As there, speech that goes on to the end ends a step
// before it, times are floats until they are rounded to hundredths, and of spans that touch one after the other the
// last one's end counts, even when an earlier one ends later. Tested in tests/segmentation/speaker_segments_test.cpp
// and tests/parity/sortformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/core/view.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace segmentation {

/// Names and defaults of `PostProcessingParams`; thresholds of probabilities, and seconds.
struct speaker_segment_options {
  double onset = 0.5;           ///< speech begins above
  double offset = 0.5;          ///< speech ends below
  double pad_onset = 0;         ///< a span begins so much earlier
  double pad_offset = 0;        ///< a span ends so much later
  double min_duration_on = 0;   ///< shorter spans go
  double min_duration_off = 0;  ///< shorter gaps go

  /// Calls v(name, value) for each of them; `o` may be const.
  STENO_ON_CALL static void each(auto& o, auto&& v) {
    v("onset", o.onset);
    v("offset", o.offset);
    v("pad_onset", o.pad_onset);
    v("pad_offset", o.pad_offset);
    v("min_duration_on", o.min_duration_on);
    v("min_duration_off", o.min_duration_off);
  }
};

/// Seconds, in whole hundredths.
struct speaker_span {
  double start = 0;  ///< where it begins
  double end = 0;    ///< where it ends
  bool operator==(const speaker_span&) const = default;
};

namespace detail {

struct float_span {
  float start = 0, end = 0;
};

STENO_ON_CALL STENO_COLD inline std::vector<float_span> joined(std::vector<float_span> all) {
  if (all.size() < 2) return all;
  // Not a stable sort, as torch's is none: which of several spans that begin at 0 (paddings do not reach before it) is
  // the last one is what this leaves there, and torch with it.
  core::sort_as_gnu(std::span(all), [](const float_span& a, const float_span& b) { return a.start < b.start; });
  std::vector<float_span> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || !(all[i - 1].end >= all[i].start))
      out.push_back(all[i]);
    else
      out.back().end = all[i].end;
  }
  return out;
}

STENO_ON_CALL STENO_COLD inline double hundredths(float seconds) {
  return std::nearbyint(static_cast<double>(seconds) * 100) / 100;
}

// What is left of spans when short ones and short gaps are gone, in hundredths.
STENO_ON_CALL STENO_COLD inline std::vector<speaker_span> tidied(std::vector<float_span> all,
                                                                 const speaker_segment_options& o) {
  all = joined(std::move(all));
  if (o.min_duration_on > 0)
    std::erase_if(all, [least = static_cast<float>(o.min_duration_on)](const float_span& s) {
      return !(s.end - s.start >= least);
    });
  if (o.min_duration_off > 0) {
    const auto least = static_cast<float>(o.min_duration_off);
    std::vector<float_span> filled = all;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (!(all[i].start - all[i - 1].end >= least)) filled.push_back({all[i - 1].end, all[i].start});
    all = joined(std::move(filled));
  }
  // What is left of a span must have a length, and those that overlap are one.
  std::vector<speaker_span> out;
  for (const float_span& s : all) {
    const speaker_span now{hundredths(s.start), hundredths(s.end)};
    if (!(now.start < now.end)) continue;
    if (!out.empty() && now.start < out.back().end)
      out.back().end = std::max(out.back().end, now.end);
    else
      out.push_back(now);
  }
  return out;
}

}  // namespace detail

/// One speaker's spans, from his probabilities as they come. A span is settled when nothing that follows can touch it,
/// or at the end, as in the original. That makes a difference only where a threshold to end above the one to begin lets
/// several spans begin at 0: which of them the original's sort leaves last depends on how many follow.
class speaker_segmenter {
 public:
  /// A probability stands for `steps` times 10 ms. `live`: spans are settled before the end.
  STENO_ON_CALL explicit speaker_segmenter(extent steps, const speaker_segment_options& o = {}, bool live = true)
      : options_(o), steps_(steps), live_(live) {}

  /// The next probability.
  STENO_ON_CALL void push(float p) {
    const auto onset = static_cast<float>(options_.onset), offset = static_cast<float>(options_.offset);
    for (extent k = 0; k < steps_; ++k, ++count_) {
      if (speech_ ? !(p < offset) : !(p > onset)) continue;
      const double now = time(count_);
      if (!speech_)
        settle(now);
      else if (now + options_.pad_offset > padded(start_))
        close(now);
      start_ = now;
      speech_ = !speech_;
    }
    if (!speech_) settle(time(count_));
  }
  /// No more follow.
  STENO_ON_CALL void finish() {
    if (speech_) close(time(count_ - 1));
    speech_ = false;
    flush();
    finished_ = true;
  }
  /// The next settled span; nothing when there is none.
  STENO_ON_CALL std::optional<speaker_span> next() {
    if (settled_.empty()) return std::nullopt;
    const speaker_span s = settled_.front();
    settled_.pop_front();
    return s;
  }
  /// No span that is still to be settled begins before so many seconds; nothing when none is to come.
  STENO_ON_CALL std::optional<double> next_start() const {
    if (finished_) return std::nullopt;
    double from = padded(speech_ ? start_ : time(count_));
    if (!open_.empty()) from = std::min(from, static_cast<double>(open_.front().start));
    return detail::hundredths(static_cast<float>(from));
  }

 private:
  static double time(extent step) { return static_cast<double>(step) * 0.01; }
  double padded(double start) const { return std::max(0.0, start - options_.pad_onset); }
  STENO_ON_CALL void close(double end) {
    open_.push_back({static_cast<float>(padded(start_)), static_cast<float>(end + options_.pad_offset)});
  }
  // Nothing begins before `now`, but for the padding.
  STENO_ON_CALL void settle(double now) {
    if (!live_ || open_.empty()) return;
    const auto least = static_cast<float>(padded(now)), gap = static_cast<float>(options_.min_duration_off);
    float last = open_.front().end;
    for (const detail::float_span& s : open_) last = std::max(last, s.end);
    if (!(last >= least) && (options_.min_duration_off <= 0 || least - last >= gap)) flush();
  }
  STENO_ON_CALL STENO_COLD void flush() {
    for (const speaker_span& s : detail::tidied(std::exchange(open_, {}), options_)) settled_.push_back(s);
  }

  speaker_segment_options options_;
  extent steps_, count_ = 0;
  bool live_, speech_ = false, finished_ = false;
  double start_ = 0;
  std::vector<detail::float_span> open_;  // those that what follows may touch
  std::deque<speaker_span> settled_;
};

/// When the speaker of `column` speaks: `activities` [rows, speakers] are probabilities, a row lasts `steps` times 10
/// ms. Spans in order, without overlaps.
STENO_ON_CALL STENO_COLD inline std::vector<speaker_span> speaker_segments(const view<const float>& activities,
                                                                           extent column, extent steps,
                                                                           const speaker_segment_options& o = {}) {
  speaker_segmenter one(steps, o, false);
  for (extent r = 0; r < activities.rows(); ++r) one.push(activities.data()[r * activities.outerStride() + column]);
  one.finish();
  std::vector<speaker_span> out;
  while (const auto s = one.next()) out.push_back(*s);
  return out;
}

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
