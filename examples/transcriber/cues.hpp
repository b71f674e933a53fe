// Subtitles: a segment becomes cues that a viewer can read.
//
// With word times a segment is cut between words where the next word would not fit into two lines of 42 columns, would
// make the cue longer than 7 s, or comes after a pause of a second. Without word times nothing says when a word is
// spoken: a segment that fits is one cue, and one that does not is cut into cues of two lines, each of which has the
// part of the segment's time that it has of its columns. A cue begins with its first word and stays half a second
// longer than its last one, if nothing follows.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <optional>
#include <string>
#include <vector>

namespace steno::app {

struct cue_limits {
  int columns = 42, lines = 2;
  double seconds = 7.0;
  double pause = 1.0;  ///< silence between two words that ends a cue, in seconds
};

/// A word as it stands in the text, with the space before it.
struct cue_word {
  std::string text;
  double start = 0, end = 0;
};

struct cue {
  double start = 0, end = 0;
  std::vector<std::string> lines = {};
  std::string speaker = {};          ///< empty: nobody is known
  std::vector<cue_word> words = {};  ///< empty: no times are known
};

/// From its first word to the end of its last one. Empty when the segment has no text. `named`: every cue begins with
/// the speaker's name, where there is one.
std::vector<cue> split_cues(const segment& s, const cue_limits& limits = {}, bool named = false);

/// The cues of one recording as they are shown: each for at least 0.3 s, 0.5 s longer than it is spoken or up to the
/// next one, never two at once, never behind the recording's end. A cue is told when the next one is known.
class cue_times {
 public:
  std::optional<cue> next(cue c);
  /// The last one; `duration` of the recording in seconds.
  std::optional<cue> last(double duration);

 private:
  std::optional<cue> open_;
  double free_from_ = 0;  // the end of the cue before
};

/// Whether every word has a text and times.
bool words_have_times(const segment& s);

/// A segment's words as they stand in its text: with the space before them and the marks behind them. As many as words.
std::vector<std::string> words_as_written(const segment& s);

}  // namespace steno::app
