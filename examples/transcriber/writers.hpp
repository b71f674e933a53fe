// Results as text, JSON, subtitles and tables.
//
//   text   the transcript, one line per file
//   json   one object per file and line: model, audio, duration, language, text, segments, extra
//   jsonl  one segment per line, with the name of its audio file
//   srt    subtitles; cues as in cues.hpp, numbered through all files
//   vtt    WebVTT; with several files in one output a NOTE names each
//   tsv    start, end (milliseconds) and text of each segment, as openai-whisper writes it
// Numbers have at most three decimals. Words without times are written without times.
#pragma once
#include <steno/pipelines/result.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace steno::app {

enum class format { text, json, jsonl, srt, vtt, tsv };

inline constexpr std::string_view format_names[] = {"text", "json", "jsonl", "srt", "vtt", "tsv"};
std::optional<format> find_format(std::string_view name);
/// ".txt", ".json", ...
std::string_view extension(format f);

/// Writes the results that go to one output, one after the other.
class writer {
 public:
  /// `several`: more than one audio file goes to this output.
  explicit writer(format f, bool several = false) : format_(f), several_(several) {}

  /// The text to append for one audio file, ending in a newline unless it is empty.
  std::string add(std::string_view audio, const result& r);

 private:
  std::string srt(const result& r);
  std::string vtt(std::string_view audio, const result& r) const;
  std::string tsv(const result& r) const;

  format format_;
  bool several_;
  bool first_ = true;
  int next_cue_ = 1;
};

/// "01:02:03,456"; `point` stands before the milliseconds. Anything below zero is zero.
std::string clock_text(double seconds, char point);

}  // namespace steno::app
