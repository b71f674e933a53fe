// steno/search/piece_times.hpp - from the frames of tokens to the milliseconds of word pieces, by WeNet's rule.
//
// A token's frame is its END; it begins 100 ms earlier. Where the distance to a neighbour is less than 100 ms, the
// border between them is the middle of both frames, in whole frames. Follows `AsrDecoder::UpdateResult`
// (runtime/core/decoder/asr_decoder.cc). Tested in tests/search/piece_times_test.cpp (golden tables).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// When a piece of a word was spoken, in milliseconds.
struct piece_time {
  extent start_ms = 0;  ///< of its beginning
  extent end_ms = 0;    ///< of its end
};

/// `frames` of tokens in order, `frame_ms` apart; `offset_ms` is added to everything.
STENO_ON_CALL inline std::vector<piece_time> piece_times(std::span<const extent> frames, extent frame_ms,
                                                         extent offset_ms = 0) {
  constexpr extent gap = 100;
  std::vector<piece_time> times;
  times.reserve(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const extent now = frames[i];
    const auto border = [&](extent a, extent b, extent otherwise) {
      return (b - a) * frame_ms < gap ? (a + b) / 2 * frame_ms : otherwise;
    };
    extent start = std::max<extent>(now * frame_ms - gap, 0), end = now * frame_ms;
    if (i > 0) start = border(frames[i - 1], now, start);
    if (i + 1 < frames.size()) end = border(now, frames[i + 1], end);
    times.push_back({offset_ms + start, offset_ms + end});
  }
  return times;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
