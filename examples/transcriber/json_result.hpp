// A result as JSON: one object for a file, or one line for each segment.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

class json_builder;

/// {"word", "start", "end", "confidence", "timing"}: no times where there are none, null for what nothing computed.
/// `speakers`: and "speaker".
void add_word(json_builder& j, const word& w, bool speakers = false);

/// "speaker": its name, or null.
void add_speaker(json_builder& j, const std::optional<std::string>& speaker);

/// The object of a file, which keeps its segments as text: hours of speech take what they take in the file.
class json_document {
 public:
  /// `speakers`: words say theirs.
  explicit json_document(bool speakers = false) : speakers_(speakers) {}

  /// `channel`: from 1 on, where the segment is of one.
  void add(const segment& s, std::optional<int> channel = {});
  /// {"model", "audio", "duration", "language", "text", "segments": [...], "extra": {...}} on one line, without a
  /// newline; `head` has neither text nor segments. Bytes that are not UTF-8 become U+FFFD.
  std::string end(std::string_view audio, const result& head);

 private:
  // A segment says its language when it is not the recording's, which is known at the end.
  struct place {
    std::size_t at = 0;  // in segments_: where its "extra" goes on, or would stand
    bool has_extra = false;
    std::string language;
  };
  bool speakers_;
  std::string segments_, text_;
  std::vector<place> languages_;
};

/// {"audio", "language", "start", "end", "text", "token_ids", "speaker", "words", "extra"} and a newline; `language` is
/// the recording's, for a segment that names none. `speakers`: words say theirs. `channel`: "channel", too.
std::string json_line(std::string_view audio, std::string_view language, const segment& s, bool speakers = false,
                      std::optional<int> channel = {});

}  // namespace steno::app
