// What the program says on stderr: messages, a progress bar when somebody watches, and one line at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "screen.hpp"

namespace steno::app {

/// "1:02:03", "4:05".
std::string duration_text(double seconds);

/// "[2/5] talk.wav [#####-----]  43 %  0:12  8.3x  0:16 left", at most `width` columns; `total` <= 0 means unknown.
struct bar_state {
  std::size_t file = 0, files = 0;
  std::string name;
  double done = 0, total = 0;  ///< seconds of audio
  double elapsed = 0;          ///< seconds
};
std::string bar_text(const bar_state& s, int width);
/// The same for programs: {"file", "files", "audio", "seconds", "duration", "elapsed", "done"}; "duration" is null
/// where it is unknown, "done" is true once for each input, when it is over.
std::string progress_json(const bar_state& s, bool done);

/// May be used by several threads.
class reporter {
 public:
  enum class detail { errors_only, all };
  /// `bar`: show the progress bar, where messages go to a terminal. `on` must outlive it.
  reporter(screen& on, bool bar, detail d) : screen_(on), bar_(bar), detail_(d) {}
  /// Messages alone.
  reporter(std::FILE* to, bool bar, detail d)
      : own_(std::make_unique<screen>(nullptr, to)), screen_(*own_), bar_(bar), detail_(d) {}

  /// From now on progress is lines of JSON, at most ten a second, whatever they go to.
  void show_json() { json_ = true; }

  /// One line, always; control characters in it are shown as '?'.
  void error(std::string_view text);
  /// One line, unless only errors are wanted.
  void note(std::string_view text);
  /// "warning: ..."; one about a damaged input is an error, because the exit code tells of it.
  void warning(std::string_view text, bool damaged);

  void begin(std::size_t file, std::size_t files, std::string_view name);
  void update(double done, double total);
  void end();
  /// "12.3 s of audio in 0.8 s: 15.4x real time (real-time factor 0.065)"
  void summary(double audio_seconds, double wall_seconds);

 private:
  using clock = std::chrono::steady_clock;
  void draw();

  std::unique_ptr<screen> own_;
  screen& screen_;
  std::mutex mutex_;
  bool bar_, json_ = false, open_ = false;
  detail detail_;
  bar_state state_;
  clock::time_point began_{}, drawn_{};
};

}  // namespace steno::app
