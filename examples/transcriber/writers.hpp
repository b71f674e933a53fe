// Results as text, JSON, subtitles and tables.
//
//   text   the transcript, one line per file, written as it grows
//   json   one object per file and line: model, audio, duration, language, text, segments, extra
//   jsonl  one segment per line, with the name of its audio file
//   srt    subtitles; cues as in cues.hpp, numbered through all files
//   vtt    WebVTT; with several files in one output a NOTE names each
//   tsv    start, end (milliseconds) and text of each segment, as openai-whisper writes it
//   rttm, ctm, stm   lines of NIST's tools (nist_writer.hpp)
// With speakers text is a line for each turn, "Speaker 1: ...", subtitles begin so (srt) or are voices (vtt), a tsv has
// a column for them, and in JSON words have theirs, too. Where a segment is of one channel, JSON and the formats of
// NIST say which.
// Numbers have at most three decimals. Words without times are written without times. In openai's style all but jsonl
// are written by openai_writer.hpp.
#pragma once
#include <steno/pipelines/result.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "cues.hpp"
#include "formats.hpp"
#include "json_result.hpp"
#include "openai_writer.hpp"

namespace steno::app {

/// How a format is written.
struct layout {
  steno::app::style style = style::usual;  ///< usual: steno's; the model is not known here
  line_options lines = {};                 ///< of subtitles
  bool words = false;                      ///< word times were asked for
  bool speakers = false;                   ///< speakers were asked for
};

/// Writes the results that go to one output, one file after the other, each as it is heard. Functions return what is to
/// be appended now.
class writer {
 public:
  /// `several`: more than one audio file goes to this output.
  explicit writer(format f, bool several = false, const layout& l = {})
      : format_(f), several_(several), layout_(l), json_(l.speakers) {}

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
  bool as_openai() const { return layout_.style == style::openai && format_ != format::jsonl && !is_nist(format_); }
  cue_limits limits() const;
  std::string opening();
  std::string subtitle(const std::optional<cue>& c);
  std::string tsv(const segment& s) const;
  std::string add_text(const segment& s);

  format format_;
  bool several_;
  layout layout_;
  std::optional<openai_writer> openai_;
  bool first_ = true;   // nothing was written so far
  bool begun_ = false;  // something of this file was
  int next_cue_ = 1;
  std::string audio_, name_, language_, last_;      // last_: text that the next one is joined to
  std::optional<std::optional<std::string>> turn_;  // whose line it is, once there is one
  cue_times cues_;
  json_document json_;
};

/// "01:02:03,456"; `point` stands before the milliseconds. Anything below zero is zero.
std::string clock_text(double seconds, char point);

}  // namespace steno::app
