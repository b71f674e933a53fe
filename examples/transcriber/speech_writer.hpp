// Where speech is, as lines of text, JSON or RTTM.
//
//   text   start and end in seconds, separated by tabs; before them the file's name where several are listed, behind
//          them the speaker
//   json   one object per file and line: model, audio, duration, speech (seconds of it), segments
//   jsonl  one segment per line, with the name of its audio file
//   rttm   NIST's SPEAKER lines, with the speaker "speech" where none is known; blanks in a name become underscores
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/streaming/voice_activity_detector.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

enum class speech_format { text, json, jsonl, rttm };
std::optional<speech_format> find_speech_format(std::string_view name);
/// ".txt", ".json", ...
std::string_view extension(speech_format f);

/// A line of text or RTTM for a segment of `audio` (called `name` without folder and extension); `speaker` may be
/// empty.
std::string speech_line(speech_format f, std::string_view audio, std::string_view name, bool several,
                        const streaming::voice_segment& s, std::string_view speaker);

/// The lines of one file after the other, for segments without speakers.
class speech_writer {
 public:
  /// `several`: more than one audio file goes to the output.
  speech_writer(speech_format f, std::string_view model, bool several) : format_(f), model_(model), several_(several) {}

  /// What to append when a segment is known; may be empty.
  std::string add(std::string_view audio, std::string_view name, const streaming::voice_segment& s);
  /// What to append when the file of `duration` seconds has ended; may be empty.
  std::string end(std::string_view audio, double duration);

 private:
  speech_format format_;
  std::string model_;
  bool several_;
  std::vector<streaming::voice_segment> segments_;  // of this file, where they are written at its end
};

}  // namespace steno::app
