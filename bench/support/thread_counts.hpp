// bench/support/thread_counts.hpp - how many threads a whole model is measured with: one and two, then twice as many
// until the processor has no more.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <thread>
#include <vector>

namespace steno_bench {

inline std::vector<int> thread_counts() {
  std::vector<int> counts{1, 2};
  for (unsigned n = 4; n <= std::thread::hardware_concurrency(); n *= 2) counts.push_back(static_cast<int>(n));
  return counts;
}

}  // namespace steno_bench
