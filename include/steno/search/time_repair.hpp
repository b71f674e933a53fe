// steno/search/time_repair.hpp - times that should not go back, repaired where they do.
//
// The longest non-decreasing subsequence stays (of equals the one found first); a run of one or two others takes the
// nearer neighbour's time, a longer one is spread evenly between its neighbours. Follows
// `Qwen3ForceAlignProcessor.fix_timestamp` (qwen_asr/inference/qwen3_forced_aligner.py). Tested in
// tests/parity/qwen3_aligner_test.cpp and tests/models/qwen3_aligner_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Milliseconds, cut to whole ones. The square of the number of times is looked at.
STENO_ON_CALL STENO_COLD inline std::vector<long> repair_times(const std::vector<double>& times) {
  const std::size_t n = times.size(), none = n;
  if (n == 0) return {};
  std::vector<std::size_t> length(n, 1), parent(n, none);
  for (std::size_t i = 1; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (times[j] <= times[i] && length[j] + 1 > length[i]) {
        length[i] = length[j] + 1;
        parent[i] = j;
      }
  std::vector<bool> stays(n, false);
  for (auto i = static_cast<std::size_t>(std::max_element(length.begin(), length.end()) - length.begin()); i != none;
       i = parent[i])
    stays[i] = true;
  std::vector<double> made = times;
  for (std::size_t i = 0; i < n;) {
    if (stays[i]) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < n && !stays[end]) ++end;
    // At least one time always stays, so a run has at least one neighbour.
    const bool left = i > 0, right = end < n;
    const double before = left ? made[i - 1] : made[end], after = right ? made[end] : before;
    const std::size_t count = end - i;
    const double step = (after - before) / static_cast<double>(count + 1);
    for (std::size_t k = i; k < end; ++k)
      made[k] = count > 2 ? (left && right ? before + step * static_cast<double>(k - i + 1) : before)
                          : (k - i + 1 <= end - k ? before : after);
    i = end;
  }
  std::vector<long> whole;
  for (const double t : made) whole.push_back(static_cast<long>(t));
  return whole;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
