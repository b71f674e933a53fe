// steno/streaming/stream_event.hpp - what every stream of a recogniser gives its sink.
//
// Tested through tests/streaming.
#pragma once
#include <steno/core/extents.hpp>

#include <span>

namespace steno {
inline namespace STENO_ABI {

enum class stream_event_kind { partial, final };

/// Spans live as long as the call.
struct stream_event {
  stream_event_kind kind = stream_event_kind::partial;
  bool endpoint = false;               ///< a final result at an endpoint, not at the end
  std::span<const int> ids = {};       ///< of the best hypothesis
  std::span<const extent> times = {};  ///< frames since the start of the utterance, for models that know them
  extent stable = 0;                   ///< so many ids will not change, nor will their text
  double score = 0;
  extent offset_ms = 0;   ///< where the utterance began
  extent decoded_ms = 0;  ///< audio decoded so far
};

}  // namespace STENO_ABI
}  // namespace steno
