// steno/search/whisper_rules.hpp - which tokens Whisper may write next: suppressed ones, and the rules of times.
//
//   - blanks are not the first token; suppressed tokens never come
//   - times stand in pairs, except before the end of text; they do not decrease, and a segment is not empty
//   - the first token is a time, up to max_initial
//   - when all times together are more probable than every other token, a time comes
// Follows SuppressBlank, SuppressTokens and ApplyTimestampRules (whisper/decoding.py). Tested in
// tests/search/whisper_rules_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// The rules that hold for one text; const while it is written.
struct whisper_rules {
  std::vector<int> first_suppressed;  ///< tokens that are not the first one
  std::vector<int> suppressed;        ///< tokens that never come
  int eot = 0;                        ///< the end of text; lower ones are text
  int no_timestamps = 0;              ///< never comes where there are times
  int timestamp_begin = 0;            ///< the token of time 0; higher ones are times
  bool with_timestamps = true;        ///< false: only the suppressed ones are forbidden
  int max_initial = -1;               ///< of the first time, in steps of 0.02 s; negative: no limit

  /// Sets the logits of forbidden tokens to -infinity; `sampled` is what was written so far.
  STENO_ON_CALL void apply(std::span<const int> sampled, std::span<float> logits) const {
    constexpr float never = -std::numeric_limits<float>::infinity();
    const auto forbid = [&](int first, int last) {
      for (int i = std::max(first, 0); i < std::min(last, static_cast<int>(logits.size())); ++i)
        logits[static_cast<std::size_t>(i)] = never;
    };
    if (sampled.empty())
      for (const int id : first_suppressed) forbid(id, id + 1);
    for (const int id : suppressed) forbid(id, id + 1);
    if (!with_timestamps) return;

    const int end = static_cast<int>(logits.size()), n = static_cast<int>(sampled.size());
    const auto is_time = [&](int i) { return sampled[static_cast<std::size_t>(i)] >= timestamp_begin; };
    forbid(no_timestamps, no_timestamps + 1);
    const bool last = n >= 1 && is_time(n - 1), penultimate = n < 2 || is_time(n - 2);
    if (last) penultimate ? forbid(timestamp_begin, end) : forbid(0, eot);
    for (int i = n; i-- > 0;) {
      if (!is_time(i)) continue;
      // The second time of a pair may repeat the first; a new segment ends later than it begins.
      const int time = sampled[static_cast<std::size_t>(i)];
      forbid(timestamp_begin, last && !penultimate ? time : time + 1);
      break;
    }
    if (n == 0) {
      forbid(0, timestamp_begin);
      if (max_initial >= 0) forbid(timestamp_begin + max_initial + 1, end);
    }
    const auto times = logits.subspan(static_cast<std::size_t>(timestamp_begin));
    const float text = *std::max_element(logits.begin(), logits.begin() + timestamp_begin);
    const float top = times.empty() ? never : *std::max_element(times.begin(), times.end());
    if (!(top > never)) return;
    double sum = 0;
    for (const float v : times) sum += std::exp(static_cast<double>(v - top));
    if (static_cast<double>(top) + std::log(sum) > static_cast<double>(text)) forbid(0, timestamp_begin);
  }
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
