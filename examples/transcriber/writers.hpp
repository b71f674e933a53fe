// Results as text, JSON, subtitles and tables.
//
//   text   paragraphs, a line for each; or a line for each recording, segment or turn (text_writer.cpp)
//   md     Markdown: a heading for each recording, and paragraphs
//   json   one object per file and line: model, audio, duration, language, text, segments, extra
//   jsonl  one segment per line, with the name of its audio file
//   srt    subtitles; cues as in cues.hpp, numbered through all files
//   vtt    WebVTT; with several files in one output a NOTE names each
//   ass    Advanced SubStation Alpha, with karaoke where words have times
//   lrc    lyrics: a line for each cue
//   tsv    start, end (milliseconds) and text of each segment, as openai-whisper writes it
//   csv    the same as whisper.cpp writes it, with a column for the recording where there are several
//   rttm, ctm, stm   lines of NIST's tools (nist_writer.hpp)
// With speakers text is a line for each turn, "Speaker 1: ...", subtitles begin so (srt, lrc) or name them (vtt, ass),
// tables have a column for them, and in JSON words have theirs, too. Where a segment is of one channel, JSON and the
// formats of NIST say which.
// Numbers have at most three decimals. Words without times are written without times. In openai's style text, json,
// srt, vtt and tsv are written by openai_writer.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <memory>
#include <string>
#include <string_view>

#include "format_writer.hpp"

namespace steno::app {

/// Writes the results that go to one output, one file after the other, each as it is heard. Functions return what is to
/// be appended now.
class writer {
 public:
  /// `several`: more than one audio file goes to this output.
  explicit writer(format f, bool several = false, const layout& l = {});

  /// `name`: of the recording, where a format has one instead of a path.
  void begin(std::string_view audio, std::string_view name = "");
  /// `channel`: from 1 on, where the segment is of one.
  std::string add(const segment& s, std::optional<int> channel = {});
  /// The file is done; `head` is its result without text and segments.
  std::string end(const result& head);
  /// Nothing follows although the file is not done: makes what was written whole. Empty when nothing was written.
  std::string cut(double seconds_done);

  /// All of that for a result that is complete.
  std::string add(std::string_view audio, const result& r);

 private:
  std::string opening();

  std::unique_ptr<format_writer> format_;
  bool all_segments_;  // not only those that hold something
  recording_place place_;
  bool begun_ = false;  // something of this file was written
  std::string language_;
};

/// "01:02:03,456"; `point` stands before the milliseconds. Anything below zero is zero.
std::string clock_text(double seconds, char point);
/// Of times in files: whole, not negative, and within 64 bits.
long long milliseconds(double seconds);

}  // namespace steno::app
