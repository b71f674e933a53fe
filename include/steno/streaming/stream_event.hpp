// steno/streaming/stream_event.hpp - what every stream of a recogniser gives its sink.
//
// Tested through tests/streaming.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <span>

namespace steno {
inline namespace STENO_ABI {
namespace streaming {

/// partial: the utterance goes on; final: its result is settled.
enum class stream_event_kind { partial, final };

/// What streams of all families have in common of a result. Spans live as long as the call.
struct stream_event {
  stream_event_kind kind = stream_event_kind::partial;  ///< partial or final
  bool endpoint = false;                                ///< a final result at an endpoint, not at the end
  std::span<const int> ids = {};                        ///< of the best hypothesis
  std::span<const extent> times = {};  ///< frames since the start of the utterance, for models that know them
  extent stable = 0;                   ///< so many ids will not change, nor will their text
  double score = 0;                    ///< of the best hypothesis, a logarithm of a probability
  extent offset_ms = 0;                ///< where the utterance began
  extent decoded_ms = 0;               ///< audio decoded so far
};

}  // namespace streaming
}  // namespace STENO_ABI
}  // namespace steno
