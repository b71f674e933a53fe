// steno/search/cif_times.hpp - when each token of a CIF model was spoken.
//
// Peaks are looked for in one curve (values of at least 1 - 1e-4); where they are not one more than the tokens, another
// curve is scaled to sum to that number and integrated, in float, with the threshold 1 - 1e-4. A peak's place is 1.5
// values earlier. A token lasts from its peak to the next, up to 12 values; the last one ends half way to the clip's
// end when more than 5 values remain, otherwise at the end. FunASR `ts_prediction_lfr6_standard` and `cif_wo_hidden`
// (funasr/utils/timestamp_tools.py).
//
// BiCifParaformer has three values a frame, and hands over the peaks and the weights of its second predictor.
// `Paraformer.inference` has one value a frame and hands its two vectors over in the other order than their names say,
// and so do we: peaks are looked for among the weights (as a rule there are none), and it is the running sums that are
// integrated. Tested in tests/search/cif_times_test.cpp, tests/parity/paraformer_test.cpp and
// bicif_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Seconds.
struct time_span {
  double start = 0;  ///< where it begins
  double end = 0;    ///< where it ends
};

/// A value of a running sum from which on it is a peak; it takes so much from the sum.
inline constexpr float cif_peak = 1.0f - 1e-4f;

/// The running sum of `weights` where a peak takes cif_peak from it; sums[t] is what it was before.
STENO_ON_CALL inline void cif_peaks(std::span<const float> weights, float* sums) {
  float sum = 0;
  for (std::size_t t = 0; t < weights.size(); ++t) {
    sum += weights[t];
    sums[t] = sum;
    if (sum >= cif_peak) sum -= cif_peak;
  }
}

/// Peaks are those of `peaks`, or where they are not one more than the tokens those of `weights`, scaled; both have a
/// value each `frame` seconds. Up to `tokens` spans: fewer when fewer peaks were found, even after scaling.
STENO_ON_CALL STENO_COLD inline std::vector<time_span> cif_times(std::span<const float> peaks,
                                                                 std::span<const float> weights, std::size_t tokens,
                                                                 double frame) {
  constexpr double shift = -1.5, border = 5, longest = 12;
  std::vector<double> places;
  const auto frames = static_cast<double>(weights.size());
  for (std::size_t t = 0; t < peaks.size(); ++t)
    if (peaks[t] >= cif_peak) places.push_back(static_cast<double>(t) + shift);
  if (tokens != 0 && places.size() != tokens + 1) {
    places.clear();
    float total = 0, sum = 0;
    for (const float f : weights) total += f;
    if (!(total > 0)) return {};
    const float divisor = total / static_cast<float>(tokens + 1);
    for (std::size_t t = 0; t < weights.size(); ++t) {
      sum += weights[t] / divisor;
      if (sum < cif_peak) continue;
      places.push_back(static_cast<double>(t) + shift);
      sum -= cif_peak;
    }
  }
  std::vector<time_span> spans;
  for (std::size_t i = 0; i + 1 < places.size() && i < tokens; ++i)
    spans.push_back({places[i] * frame, std::min(places[i + 1], places[i] + longest) * frame});
  // The last peak's token was cut before it got its end when it was longer; then it keeps that.
  if (spans.empty() || places.size() > tokens + 1) return spans;
  const bool cut = places.back() - places[places.size() - 2] > longest;
  if (!cut) spans.back().end = (frames - places.back() > border ? (frames + places.back()) * 0.5 : frames) * frame;
  return spans;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
