// steno/segmentation/quiet_splits.hpp - where a long recording is cut: one policy, of which each family says its own.
//
//   within   a part ends in the middle of the quietest 0.2 s of the second half of `max_seconds`: none is longer
//   around   in a window of `around` seconds before and behind `max_seconds`, the 100 ms with the smallest sum of |x|
//            are found (the first of equals), and in them the smallest |x|: that sample begins the next part
//
// The second follows `split_audio_into_chunks` (qwen_asr/inference/utils.py). Tested in
// tests/segmentation/quiet_splits_test.cpp, tests/pipelines/long_audio_test.cpp and tests/parity/qwen3_text_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace segmentation {

/// How the end of a part is found; see above.
enum class cut_rule {
  within,  ///< in the second half of the longest part
  around   ///< before or behind the end of the longest part
};

/// How what is too long is cut into parts.
struct cut_policy {
  double max_seconds = 30;           ///< of a part
  cut_rule rule = cut_rule::within;  ///< where it ends
  double around = 0;                 ///< seconds; of cut_rule::around
  double window_ms = 100;            ///< ms; of cut_rule::around
  double min_seconds = 0;            ///< the last part is filled up with zeros to them
};

namespace detail {
/// The middle of the quietest 0.2 s of the second half of `pcm`; of equal ones the last.
STENO_ON_CALL STENO_COLD inline extent quietest_place(std::span<const float> pcm, int sample_rate) {
  const auto count = static_cast<extent>(pcm.size());
  const extent step = std::max<extent>(sample_rate / 100, 1), window = 20;  // energies of 10 ms, 20 of them together
  std::vector<double> energy;
  const extent from = count / 2;
  for (extent at = from; at + step <= count; at += step) {
    double e = 0;
    for (extent i = at; i < at + step; ++i)
      e +=
          static_cast<double>(pcm[static_cast<std::size_t>(i)]) * static_cast<double>(pcm[static_cast<std::size_t>(i)]);
    energy.push_back(e);
  }
  extent cut = count;
  double quietest = 0;
  for (extent k = 0; k + window <= static_cast<extent>(energy.size()); ++k) {
    double sum = 0;
    for (extent i = k; i < k + window; ++i) sum += energy[static_cast<std::size_t>(i)];
    if (k == 0 || sum <= quietest) {
      quietest = sum;
      cut = from + (k + window / 2) * step;
    }
  }
  return cut;
}
}  // namespace detail

/// Where a part that begins at sample `start` ends: within `around` samples of start + length. What lies further than
/// that behind has no say.
STENO_ON_CALL STENO_COLD inline extent quiet_end(std::span<const float> pcm, extent start, extent length, extent around,
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

/// A policy in samples.
struct part_cutter {
  int rate = 16000;                  ///< samples a second
  cut_rule rule = cut_rule::within;  ///< how the end of a part is found
  extent max = 1;                    ///< of a part
  extent around = 0;                 ///< before and behind `max`, for cut_rule::around
  extent window = 0;                 ///< of those in which |x| is summed up, for cut_rule::around

  /// For recordings of so many samples a second.
  part_cutter(int sample_rate, const cut_policy& p)
      : rate(sample_rate),
        rule(p.rule),
        max(std::max<extent>(static_cast<extent>(p.max_seconds * sample_rate), 1)),
        around(static_cast<extent>(p.around * sample_rate)),
        window(std::max<extent>(4, static_cast<extent>(p.window_ms / 1000 * sample_rate))) {}

  /// Of more samples than these, the ones behind them have no say in where the first part ends.
  extent enough() const noexcept { return rule == cut_rule::around ? max + around : max; }
  /// Where the first part of `pcm` ends, which has more than `max` samples.
  STENO_ON_CALL STENO_COLD extent end(std::span<const float> pcm) const {
    if (rule == cut_rule::around) return quiet_end(pcm, 0, max, around, window);
    return detail::quietest_place(pcm.first(static_cast<std::size_t>(max)), rate);
  }
};

/// The samples at which parts begin, the first one 0. A recording of up to `max_seconds` is one part.
STENO_ON_CALL STENO_COLD inline std::vector<extent> quiet_splits(std::span<const float> pcm, int sample_rate,
                                                                 const cut_policy& p) {
  const auto total = static_cast<extent>(pcm.size());
  std::vector<extent> starts = {0};
  if (static_cast<double>(total) / sample_rate <= p.max_seconds) return starts;
  const part_cutter cut(sample_rate, p);
  for (extent start = 0; total - start > cut.max; starts.push_back(start))
    start += cut.end(pcm.subspan(static_cast<std::size_t>(start)));
  return starts;
}

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
