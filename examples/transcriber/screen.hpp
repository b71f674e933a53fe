// All that the program writes while it works: results, messages, and the lines that are on a terminal for a moment.
//
// A terminal shows what was written so far and below it the live lines: the utterance that may still change, and the
// progress bar. Whatever is written first takes them away and puts them back below itself, so they never collide with a
// text, an unfinished line included. Where standard output is a pipe and messages go to a terminal, the reader may
// write to that terminal too (`| tee`), at moments that nobody here knows: results then go out in whole lines, and the
// bar goes for good before the first one. Tested in tests/transcriber/screen_test.cpp and
// tests/programs/steno_terminal_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// May be used by several threads.
class screen {
 public:
  explicit screen(std::FILE* results = stdout, std::FILE* messages = stderr);
  ~screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;

  /// Whether a bar (messages) or changing text (results) has a terminal to stand on.
  bool shows_bar() const { return surfaces_[bar_].terminal; }
  bool shows_partial() const { return surfaces_[text_].terminal; }
  /// Columns that a live line may have.
  int width() const;

  /// Appends to `to`, which may be the results' stream or another one, and flushes. False when it cannot be written
  /// (errno tells why).
  bool put(std::FILE* to, std::string_view text);
  /// A line of its own among the messages.
  void message(std::string_view line);
  /// The live lines; each is cut to the terminal's width, the utterance from its front. Empty: none.
  void bar(std::string_view text);
  void partial(std::string_view text);

 private:
  // A terminal, or what is none.
  struct surface {
    std::FILE* file = nullptr;
    bool terminal = false;
    unsigned long long device = 0;
    int column = 0;  // where the unfinished line of text ends; 0: there is none
    int rows = 0;    // of live lines that are shown
  };
  surface* under(std::FILE* f);
  void erase(surface& s);
  void draw(surface& s);
  void track(surface& s, std::string_view text);

  std::mutex mutex_;
  std::array<surface, 2> surfaces_;
  std::size_t text_ = 0, bar_ = 1;  // on one terminal both are the first
  std::FILE *results_, *messages_;
  bool by_lines_ = false;  // a pipe beside a terminal
  bool bar_over_ = false;
  std::string bar_text_, partial_, held_;
};

}  // namespace steno::app
