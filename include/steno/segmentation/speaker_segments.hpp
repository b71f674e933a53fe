// steno/segmentation/speaker_segments.hpp - when somebody speaks, from a speaker's probabilities.
//
// In steps of 10 ms: speech begins above `onset` and ends below `offset`; each span grows by the paddings; spans that
// touch become one; short spans go, then short gaps. `ts_vad_post_processing`, `binarization`, `filtering`
// (vad_utils.py), `merge_float_intervals` (speaker_utils.py). As there, speech that goes on to the end ends a step
// before it, times are floats until they are rounded to hundredths, and of spans that touch one after the other the
// last one's end counts, even when an earlier one ends later. Tested in tests/segmentation/speaker_segments_test.cpp
// and tests/parity/sortformer_test.cpp.
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
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
  static void each(auto& o, auto&& v) {
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

STENO_COLD inline std::vector<float_span> joined(std::vector<float_span> all) {
  if (all.size() < 2) return all;
  // Not a stable sort, as torch's is none: which of several spans that begin at 0 (paddings do not reach before it) is
  // the last one is what this leaves there, and torch with it.
  std::sort(all.begin(), all.end(), [](const float_span& a, const float_span& b) { return a.start < b.start; });
  std::vector<float_span> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 0 || !(all[i - 1].end >= all[i].start))
      out.push_back(all[i]);
    else
      out.back().end = all[i].end;
  }
  return out;
}

// Each value of `column` stands for `steps` steps.
STENO_COLD inline std::vector<float_span> spans_of_speech(const view<const float>& activities, extent column,
                                                          extent steps, const speaker_segment_options& o) {
  constexpr double step = 0.01;
  const auto onset = static_cast<float>(o.onset), offset = static_cast<float>(o.offset);
  std::vector<float_span> all;
  bool speech = false;
  double start = 0;
  const auto close = [&](double end) {
    all.push_back({static_cast<float>(std::max(0.0, start - o.pad_onset)), static_cast<float>(end + o.pad_offset)});
  };
  const extent count = activities.rows() * steps;
  for (extent i = 0; i < count; ++i) {
    const float p = activities.data()[i / steps * activities.outerStride() + column];
    const double now = static_cast<double>(i) * step;
    if (speech ? !(p < offset) : !(p > onset)) continue;
    if (speech && now + o.pad_offset > std::max(0.0, start - o.pad_onset)) close(now);
    start = now;
    speech = !speech;
  }
  if (speech) close(static_cast<double>(count - 1) * step);
  return joined(std::move(all));
}

}  // namespace detail

/// When the speaker of `column` speaks: `activities` [rows, speakers] are probabilities, a row lasts `steps` times 10
/// ms. Spans in order, without overlaps.
STENO_COLD inline std::vector<speaker_span> speaker_segments(const view<const float>& activities, extent column,
                                                             extent steps, const speaker_segment_options& o = {}) {
  std::vector<detail::float_span> all = detail::spans_of_speech(activities, column, steps, o);
  if (o.min_duration_on > 0)
    std::erase_if(all, [least = static_cast<float>(o.min_duration_on)](const detail::float_span& s) {
      return !(s.end - s.start >= least);
    });
  if (o.min_duration_off > 0) {
    const auto least = static_cast<float>(o.min_duration_off);
    std::vector<detail::float_span> filled = all;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (!(all[i].start - all[i - 1].end >= least)) filled.push_back({all[i - 1].end, all[i].start});
    all = detail::joined(std::move(filled));
  }
  // Hundredths; what is left of a span must have a length, and those that overlap are one.
  std::vector<speaker_span> out;
  for (const detail::float_span& s : all) {
    const auto rounded = [](float v) { return std::nearbyint(static_cast<double>(v) * 100) / 100; };
    const speaker_span now{rounded(s.start), rounded(s.end)};
    if (!(now.start < now.end)) continue;
    if (!out.empty() && now.start < out.back().end)
      out.back().end = std::max(out.back().end, now.end);
    else
      out.push_back(now);
  }
  return out;
}

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
