// steno/streaming/voice_activity_detector.hpp - what finds speech: samples in, beginnings and ends of segments out.
//
//   auto s = detector.start();
//   detector.accept(s, pcm, context, [](const voice_change& v) { ... });   // any number of samples, again and again
//   detector.finish(s, context, sink);                                     // the audio ends
//
// Changes come in order of time and alternate: a start, its end, the next start. They do not depend on how the audio
// was cut. Modelled by energy_vad and fsmn_vad; pipelines/any_vad.hpp chooses one at run time. Tested in
// tests/streaming/voice_activity_detector_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/copyable.hpp>
#include <steno/segmentation/voice_segments.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace streaming {

namespace detail {
struct any_voice_sink {
  void operator()(const segmentation::voice_change&) const noexcept {}
};
}  // namespace detail

/// A detector is const and may be shared by threads; each stream has a state (a copyable value) and a context.
/// `settled_ms(s)`: audio before it belongs to segments that were emitted whole, or to none, so it may be forgotten. It
/// never goes back; while a segment is open it is that segment's start.
template <class V>
concept voice_activity_detector = requires(const V& v, typename V::state& s, const typename V::state& known,
                                           const typename V::options& o, std::span<const float> pcm, context& c,
                                           detail::any_voice_sink sink) {
  requires core::copyable<typename V::state>;
  requires std::default_initializable<typename V::options>;
  { v.sample_rate } -> std::convertible_to<int>;  // of mono samples in [-1, 1]
  { v.start() } -> std::same_as<typename V::state>;
  { v.start(o) } -> std::same_as<typename V::state>;
  {v.accept(s, pcm, c, sink)};
  {v.finish(s, c, sink)};
  { v.settled_ms(known) } -> std::same_as<std::int64_t>;
};

/// Milliseconds [start, end).
struct voice_segment {
  std::int64_t start_ms = 0;  ///< of its first sample
  std::int64_t end_ms = 0;    ///< behind its last sample
  bool operator==(const voice_segment&) const = default;
};

/// Puts changes together; segments come out whole.
class voice_segment_collector {
 public:
  /// The next change; whole(voice_segment) is called for each segment that it ends.
  template <class Sink>
  void operator()(const segmentation::voice_change& v, Sink&& whole) {
    if (v.start_ms >= 0) open_ = v.start_ms;
    if (v.end_ms >= 0) whole(voice_segment{open_, v.end_ms});
  }

 private:
  std::int64_t open_ = 0;
};

/// All segments of a recording.
template <voice_activity_detector V>
std::vector<voice_segment> find_speech(const V& v, std::span<const float> pcm, context& c,
                                       const typename V::options& o = {}) {
  std::vector<voice_segment> found;
  voice_segment_collector whole;
  const auto sink = [&](const segmentation::voice_change& change) {
    whole(change, [&](const voice_segment& s) { found.push_back(s); });
  };
  auto s = v.start(o);
  v.accept(s, pcm, c, sink);
  v.finish(s, c, sink);
  return found;
}

}  // namespace streaming
}  // namespace STENO_ABI
}  // namespace steno
