// Results byte for byte as openai-whisper's own writers print them.
//
//   text  a line for each segment
//   srt, vtt   a cue for each segment; with word times, lines and cues as the options say; words may be underlined one
//              after the other. Hours in vtt only where there are some.
//   tsv   start, end (milliseconds) and text
//   json  {"text", "segments": [...], "language"} with the names and the order of the original, Python's spaces
// Follows `ResultWriter` and its kinds (whisper/utils.py). Tested in tests/transcriber/openai_writer_test.cpp on the
// original's files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <optional>
#include <string>
#include <vector>

#include "formats.hpp"

namespace steno::app {

/// The original's options; 0: none.
struct line_options {
  int max_line_width = 0, max_line_count = 0, max_words_per_line = 0;
  bool highlight_words = false;
};

/// Writes one recording, segment by segment.
class openai_writer {
 public:
  /// `words`: segments have word times. `cue` counts the subtitles of an output, from 1. `speakers`: say who speaks,
  /// which the original cannot.
  openai_writer(format f, const line_options& lines, bool words, int& cue, bool speakers = false)
      : format_(f), lines_(lines), words_(words), speakers_(speakers), next_cue_(&cue) {}

  std::string add(const segment& s);
  /// What is left; `head` is the result without text and segments.
  std::string end(const result& head);

  /// Of json: the segments so far, without brackets, and their texts as the model wrote them.
  const std::string& segments() const { return json_; }
  const std::string& text() const { return text_; }

 private:
  struct piece {  // a word of a cue
    std::string text;
    double start, end;
  };
  std::string add_words(const segment& s);
  std::string flush();
  std::string cue(const std::string& start, const std::string& end, const std::string& text);
  std::string named(const std::string& speaker) const;
  std::string clock(double seconds) const;

  format format_;
  line_options lines_;
  bool words_, speakers_;
  int* next_cue_;
  std::vector<piece> subtitle_;
  std::string speaker_;  // of the subtitle
  std::size_t line_length_ = 0;
  int line_count_ = 1;
  std::optional<double> last_;
  std::string json_, text_;
  int next_id_ = 0;
};

}  // namespace steno::app
