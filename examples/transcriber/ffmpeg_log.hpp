// What ffmpeg says: which of it are errors, and how long the recording says it is.
//
// Tested in tests/transcriber/child_process_test.cpp; any bytes in tests/fuzz/recording_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace steno::app {

/// What ffmpeg writes to its standard error, line by line. Lines without a level are errors: of what starts it.
class ffmpeg_log {
 public:
  void add(std::string_view text);
  void end();  ///< nothing follows

  int errors() const { return errors_; }
  /// The first error, and the last one where it is another; empty when there was none.
  std::string text() const;
  /// As the recording announces it; negative when unknown.
  double duration() const { return duration_; }
  /// Whether the sound must last as long: there is nothing else in the recording, and its length is not a guess.
  bool duration_is_of_sound() const { return duration_ > 0 && !guessed_ && streams_ == 1; }

 private:
  void take(std::string_view line);

  std::string line_;
  std::string first_, last_;
  int errors_ = 0, streams_ = 0;
  double duration_ = -1;
  bool guessed_ = false, outputs_ = false;
};

}  // namespace steno::app
