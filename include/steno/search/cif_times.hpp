// steno/search/cif_times.hpp - when each token of a CIF model was spoken.
//
// The original hands its two vectors over in the other order than their names say, and so do we: peaks are looked for
// among the alphas (values of at least 1 - 1e-4; as a rule there are none), and where they are not one more than the
// tokens, it is `fires` that is scaled to sum to that number and integrated, in float, with the threshold 1 - 1e-4. A
// peak's place is 1.5 frames earlier. A token lasts from its peak to the next, up to 12 frames; the last one ends
// half way to the clip's end when more than 5 frames remain, otherwise at the end. FunASR `ts_prediction_lfr6_standard`
// and `cif_wo_hidden` (funasr/utils/timestamp_tools.py, upsample_rate 1) as `Paraformer.inference` calls them. Tested
// in tests/search/cif_times_test.cpp and tests/parity/paraformer_test.cpp.
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

/// alphas and fires of all frames, tail included; `frame` seconds per frame. Up to `tokens` spans: fewer when fewer
/// peaks were found, even after scaling.
STENO_COLD inline std::vector<time_span> cif_times(std::span<const float> alphas, std::span<const float> fires,
                                                   std::size_t tokens, double frame) {
  constexpr float peak = 1.0f - 1e-4f;
  constexpr double shift = -1.5, border = 5, longest = 12;
  std::vector<double> places;
  const auto frames = static_cast<double>(fires.size());
  for (std::size_t t = 0; t < alphas.size(); ++t)
    if (alphas[t] >= peak) places.push_back(static_cast<double>(t) + shift);
  if (tokens != 0 && places.size() != tokens + 1) {
    places.clear();
    float total = 0, sum = 0;
    for (const float f : fires) total += f;
    if (!(total > 0)) return {};
    const float divisor = total / static_cast<float>(tokens + 1);
    for (std::size_t t = 0; t < fires.size(); ++t) {
      sum += fires[t] / divisor;
      if (sum < peak) continue;
      places.push_back(static_cast<double>(t) + shift);
      sum -= peak;
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
