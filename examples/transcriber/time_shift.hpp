// From times of the part that was listened to, to those of its recording.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <utility>
#include <variant>

namespace steno::app {

/// Times of words that have none stay what they are.
inline segment shifted(segment s, double seconds) {
  if (seconds == 0) return s;
  s.start += seconds;
  s.end += seconds;
  for (word& w : s.words) {
    if (w.how == timing::none) continue;
    w.start += seconds;
    w.end += seconds;
  }
  for (auto& [key, value] : s.extra)
    if (double* const frames = std::get_if<double>(&value); frames != nullptr && key == "seek")
      *frames += seconds * 100;  // Whisper's, of 10 ms
  return s;
}

/// With its segments, if it has them; its duration becomes the end of the part.
inline result shifted(result r, double seconds) {
  if (seconds == 0) return r;
  r.duration += seconds;
  for (segment& s : r.segments) s = shifted(std::move(s), seconds);
  if (r.windows)
    for (core::window_report& w : *r.windows) {
      w.start += seconds;
      w.end += seconds;
    }
  return r;
}

}  // namespace steno::app
