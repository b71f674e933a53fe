// steno/segmentation/speaker_turns.hpp - who speaks when, while the probabilities come: spans of all speakers.
//
//   speaker_turns turns(speakers, steps, options);
//   turns.push(rows, [](const speaker_turn& t) { ... });   turns.finish(...);
//
// The spans are those of speaker_segments(), one by one: as they settle, or in the order of their starts, which waits
// for whoever began before and goes on. Memory does not grow with the recording. Tested in
// tests/segmentation/speaker_turns_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sink_ref.hpp>
#include <steno/core/view.hpp>
#include <steno/segmentation/speaker_segments.hpp>

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace segmentation {

/// Somebody speaks.
struct speaker_turn {
  speaker_span span = {};  ///< seconds
  extent speaker = 0;      ///< column of the probabilities
  bool operator==(const speaker_turn&) const = default;
};

/// One recording. One thread at a time.
class speaker_turns {
 public:
  /// In which order turns are emitted.
  enum class order {
    settled,  ///< as soon as they are known
    starts    ///< by start, then by column
  };
  /// A row lasts `steps` times 10 ms.
  STENO_ON_CALL speaker_turns(extent speakers, extent steps, const speaker_segment_options& o = {},
                              order by = order::starts)
      : columns_(static_cast<std::size_t>(speakers), speaker_segmenter(steps, o)),
        waiting_(static_cast<std::size_t>(speakers)),
        order_(by) {}

  /// More rows, probabilities [rows, speakers]; sink(speaker_turn) for each turn whose time has come.
  STENO_ON_CALL void push(const view<const float>& rows, core::sink_ref<const speaker_turn&> sink) {
    for (extent r = 0; r < rows.rows(); ++r) {
      for (std::size_t s = 0; s < columns_.size(); ++s)
        columns_[s].push(rows.data()[r * rows.outerStride() + static_cast<extent>(s)]);
      collect(sink);
    }
  }
  /// The end of the recording.
  STENO_ON_CALL void finish(core::sink_ref<const speaker_turn&> sink) {
    for (speaker_segmenter& c : columns_) c.finish();
    collect(sink);
  }

 private:
  STENO_ON_CALL void collect(core::sink_ref<const speaker_turn&>& sink) {
    for (std::size_t s = 0; s < columns_.size(); ++s)
      while (const auto span = columns_[s].next()) {
        if (order_ == order::settled)
          sink({.span = *span, .speaker = static_cast<extent>(s)});
        else
          waiting_[s].push_back(*span);
      }
    while (emit_first(sink)) continue;
  }
  // Emits the turn that begins first, unless one that is still to come may begin before it.
  STENO_ON_CALL bool emit_first(core::sink_ref<const speaker_turn&>& sink) {
    std::size_t first = columns_.size();
    for (std::size_t s = 0; s < columns_.size(); ++s)
      if (!waiting_[s].empty() &&
          (first == columns_.size() || waiting_[s].front().start < waiting_[first].front().start))
        first = s;
    if (first == columns_.size()) return false;
    const speaker_span span = waiting_[first].front();
    for (std::size_t s = 0; s < columns_.size(); ++s) {
      if (!waiting_[s].empty()) continue;  // what follows there begins later still
      const auto least = columns_[s].next_start();
      if (least && (*least < span.start || (*least == span.start && s < first))) return false;
    }
    waiting_[first].pop_front();
    sink({.span = span, .speaker = static_cast<extent>(first)});
    return true;
  }

  std::vector<speaker_segmenter> columns_;
  std::vector<std::deque<speaker_span>> waiting_;
  order order_;
};

}  // namespace segmentation
}  // namespace STENO_ABI
}  // namespace steno
