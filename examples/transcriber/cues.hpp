// Subtitles: a segment becomes cues that a viewer can read.
//
// With word times a segment is cut between words where the next word would not fit into two lines of 42 columns, would
// make the cue longer than 7 s, or comes after a pause of a second. A cue lasts from its first word to the end of its
// last one, so silence is never subtitled. Without word times a segment stays one cue: no times are invented.
#pragma once
#include <steno/pipelines/result.hpp>

#include <string>
#include <vector>

namespace steno::app {

struct cue_limits {
  int columns = 42, lines = 2;
  double seconds = 7.0;
  double pause = 1.0;  ///< silence between two words that ends a cue, in seconds
};

struct cue {
  double start = 0, end = 0;
  std::vector<std::string> lines;
};

/// Empty when the segment has no text.
std::vector<cue> split_cues(const segment& s, const cue_limits& limits = {});

}  // namespace steno::app
