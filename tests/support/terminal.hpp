// A terminal for tests: a command on a pseudo-terminal, and what its screen shows in the end.
//
// The screen knows what the program writes: text, CR, LF, TAB and the sequences ESC[K, ESC[J, ESC[nA, ESC[nC. Anything
// else that steers a terminal is a failure of the test.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace steno::test {

/// As high as it needs to be. Characters of three or four bytes are taken as two columns wide.
class screen_of {
 public:
  explicit screen_of(int width) : width_(static_cast<std::size_t>(width)), rows_(1) {}

  void feed(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
      const char c = bytes[i];
      if (c == '\x1b') {
        i = sequence(bytes, i);
      } else if (c == '\r') {
        column_ = 0;
        ++i;
      } else if (c == '\n') {
        down();
        ++i;
      } else if (c == '\t') {
        const std::size_t next = std::min(column_ / 8 * 8 + 8, width_ - 1);
        while (column_ < next) character(" ", 1);
        ++i;
      } else {
        const auto lead = static_cast<unsigned char>(c);
        const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (lead < 0x20 || lead == 0x7f) ADD_FAILURE() << "control character " << static_cast<int>(lead);
        character(std::string(bytes.substr(i, length)), length >= 3 ? 2 : 1);
        i += length;
      }
    }
  }
  /// Lines, of as many rows as they took; without empty ones at the end.
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    bool goes_on = false;
    for (const row& r : rows_) {
      std::string text;
      for (const std::string& cell : r.cells) text += cell;
      if (goes_on)
        all.back() += text;
      else
        all.push_back(text);
      goes_on = r.goes_on;
    }
    while (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  }

 private:
  struct row {
    std::vector<std::string> cells;  // a wide character is one and an empty one
    bool goes_on = false;            // the terminal wrapped it
  };
  void down() {
    if (++row_ == rows_.size()) rows_.emplace_back();
  }
  void character(const std::string& text, std::size_t columns) {
    if (column_ + columns > width_) {
      rows_[row_].goes_on = true;
      down();
      column_ = 0;
    }
    std::vector<std::string>& cells = rows_[row_].cells;
    if (cells.size() < column_ + columns) cells.resize(column_ + columns, " ");
    cells[column_] = text;
    if (columns == 2) cells[column_ + 1].clear();
    column_ += columns;
  }
  std::size_t sequence(std::string_view bytes, std::size_t at) {
    std::size_t i = at + 2;
    std::size_t n = 0;
    while (i < bytes.size() && bytes[i] >= '0' && bytes[i] <= '9')
      n = n * 10 + static_cast<std::size_t>(bytes[i++] - '0');
    const char kind = at + 1 < bytes.size() && bytes[at + 1] == '[' && i < bytes.size() ? bytes[i] : '?';
    std::vector<std::string>& cells = rows_[row_].cells;
    const std::size_t column = std::min(column_, width_ - 1);
    if (kind == 'K' || kind == 'J') {
      cells.resize(std::min(cells.size(), column));
      rows_[row_].goes_on = false;
    }
    if (kind == 'J') rows_.resize(row_ + 1);
    if (kind == 'A') {
      n = std::max<std::size_t>(n, 1);
      EXPECT_LE(n, row_) << "above the screen";
      row_ -= std::min(row_, n);
    }
    if (kind == 'C') column_ = std::min(column + std::max<std::size_t>(n, 1), width_ - 1);
    if (std::string_view("KJAC").find(kind) == std::string_view::npos)
      ADD_FAILURE() << "unknown sequence at " << at << ": ESC" << bytes.substr(at + 1, 4);
    return i + 1;
  }

  std::size_t width_;
  std::vector<row> rows_;
  std::size_t row_ = 0, column_ = 0;  // column_ == width_: the row is full
};

struct terminal_outcome {
  int code = -1;
  std::string bytes;               ///< all that was written to the terminal
  std::vector<std::string> lines;  ///< what its screen shows in the end
};

/// Shell text on a terminal of so many columns, which is all three of its streams unless it says otherwise.
inline terminal_outcome on_terminal(const std::string& command, int width) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(width);
  size.ws_row = 24;
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("no pseudo-terminal is to be had (is /dev/pts mounted?)");
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  terminal_outcome all;
  screen_of screen(width);
  char block[4096];
  for (;;) {
    const ssize_t n = ::read(master, block, sizeof block);  // EIO when the last program has closed it
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    all.bytes.append(block, static_cast<std::size_t>(n));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(master);
  all.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  screen.feed(all.bytes);
  all.lines = screen.lines();
  return all;
}

}  // namespace steno::test
