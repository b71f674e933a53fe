// steno/decoders/quiet_splits.hpp - cuts a long recording near equal distances, each at the quietest place around.
//
// After `max_seconds`, in a window of `expand` seconds before and behind, the 100 ms with the smallest sum of |x|
// are found (the first of equals), and in them the smallest |x|: that sample begins the next part. Follows
// `split_audio_into_chunks` (qwen_asr/inference/utils.py). Tested in tests/decoders/quiet_splits_test.cpp and
// tests/parity/qwen3_text_test.cpp.
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Where a part that begins at sample `start` ends: within `around` samples of start + length. What lies further than
/// that behind has no say.
STENO_COLD inline extent quiet_end(std::span<const float> pcm, extent start, extent length, extent around,
                                   extent window) {
  const auto total = static_cast<extent>(pcm.size());
  const extent cut = start + length, left = std::max(start, cut - around), right = std::min(total, cut + around);
  extent boundary = cut;
  if (right - left > window) {
    std::vector<double> sums(1, 0.0);
    const auto size = [&](extent i) { return std::fabs(pcm[static_cast<std::size_t>(left + i)]); };
    for (extent i = 0; i < right - left; ++i) sums.push_back(sums.back() + static_cast<double>(size(i)));
    const auto sum = [&](extent i) {
      return sums[static_cast<std::size_t>(i + window)] - sums[static_cast<std::size_t>(i)];
    };
    extent best = 0;
    for (extent i = 1; i + window <= right - left; ++i)
      if (sum(i) < sum(best)) best = i;
    extent quietest = best;
    for (extent i = best; i < best + window; ++i)
      if (size(i) < size(quietest)) quietest = i;
    boundary = left + quietest;
  }
  return std::min(std::max(boundary, start + 1), total);
}

/// The samples at which parts begin, the first one 0. A recording of up to `max_seconds` is one part.
STENO_COLD inline std::vector<extent> quiet_splits(std::span<const float> pcm, int sample_rate, double max_seconds,
                                                   double expand = 5, double window_ms = 100) {
  const auto total = static_cast<extent>(pcm.size());
  std::vector<extent> starts = {0};
  if (static_cast<double>(total) / sample_rate <= max_seconds) return starts;
  const auto max_samples = static_cast<extent>(max_seconds * sample_rate),
             around = static_cast<extent>(expand * sample_rate);
  const auto window = std::max<extent>(4, static_cast<extent>(window_ms / 1000 * sample_rate));
  for (extent start = 0; total - start > max_samples; starts.push_back(start))
    start = quiet_end(pcm, start, max_samples, around, window);
  return starts;
}

}  // namespace STENO_ABI
}  // namespace steno
