// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <algorithm>

#include "system.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

constexpr const char* to_the_end = "\x1b[J";  // erases from here to the end of the screen

int terminal_width(std::FILE* f) { return system::terminal_width(::fileno(f)); }

bool write_now(std::FILE* f, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), f) == text.size() && std::fflush(f) == 0) return true;
  if (f == stdout) system::end_without_reader();
  return false;
}

}  // namespace

screen::screen(std::FILE* results, std::FILE* messages) : results_(results), messages_(messages) {
  bool pipe = false;
  const auto look = [&](std::FILE* f, surface& s) {
    s.file = f;
    if (f == nullptr) return;
    s.terminal = system::is_terminal(::fileno(f));
    s.device = system::terminal_number(::fileno(f));
    if (f == results) pipe = system::is_pipe(::fileno(f));
  };
  look(results, surfaces_[0]);
  look(messages, surfaces_[1]);
  by_lines_ = pipe && surfaces_[1].terminal;
  if (surfaces_[0].terminal && surfaces_[1].terminal && surfaces_[0].device == surfaces_[1].device) {
    bar_ = 0;
    surfaces_[0].file = messages;  // live lines are no results
  }
}

screen::~screen() {
  for (surface& s : surfaces_) erase(s);
  if (!held_.empty()) write_now(results_, held_);
}

int screen::width() const { return terminal_width(surfaces_[shows_bar() ? bar_ : text_].file) - 1; }

screen::surface* screen::under(std::FILE* f) {
  if (f == results_) return surfaces_[text_].terminal ? &surfaces_[text_] : nullptr;
  if (f == messages_) return surfaces_[bar_].terminal ? &surfaces_[bar_] : nullptr;
  if (!system::is_terminal(::fileno(f))) return nullptr;
  for (surface& s : surfaces_)
    if (s.terminal && s.device == system::terminal_number(::fileno(f))) return &s;
  return nullptr;
}

// The cursor goes back to where the text ended.
void screen::erase(surface& s) {
  if (s.rows == 0) return;
  std::string out = "\r";
  if (s.rows > 1) out.append("\x1b[").append(std::to_string(s.rows - 1)).append("A");
  out += to_the_end;
  if (s.column > 0) out.append("\x1b[A\x1b[").append(std::to_string(s.column)).append("C");
  write_now(s.file, out);
  s.rows = 0;
}

void screen::draw(surface& s) {
  if (!s.terminal) return;
  std::vector<std::string> lines;
  const int most = std::max(1, terminal_width(s.file) - 1);
  if (&s == &surfaces_[text_] && !partial_.empty()) lines.push_back(last_columns(partial_, most));
  if (&s == &surfaces_[bar_] && !bar_text_.empty()) lines.push_back(first_columns(bar_text_, most));
  if (lines.empty()) return;
  std::string out;
  if (s.column > 0) out += "\r\n";
  if (s.column > most) s.column = 0;  // the line was full: text goes on in the next row
  for (std::size_t i = 0; i < lines.size(); ++i) out.append(i == 0 ? "" : "\r\n").append(lines[i]).append("\x1b[K");
  write_now(s.file, out);
  s.rows = static_cast<int>(lines.size());
}

// Where the cursor is when a terminal has wrapped the text.
void screen::track(surface& s, std::string_view text) {
  const std::size_t line = text.rfind('\n');
  if (line != std::string_view::npos) {
    s.column = 0;
    text.remove_prefix(line + 1);
  }
  s.column = column_after(text, s.column, terminal_width(s.file));
}

bool screen::put(std::FILE* to, std::string_view text) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (by_lines_ && to == results_) {
    erase(surfaces_[bar_]);
    bar_over_ = true;
    bar_text_.clear();
    held_ += text;
    const std::size_t whole = held_.rfind('\n') + 1;  // npos + 1 is 0
    const bool written = write_now(to, std::string_view(held_).substr(0, whole));
    held_.erase(0, whole);
    return written;
  }
  surface* const s = under(to);
  if (s == nullptr) return write_now(to, text);
  erase(*s);
  const bool written = write_now(to, text);
  track(*s, text);
  draw(*s);
  return written;
}

void screen::message(std::string_view line) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::string text(line);
  text += '\n';
  surface* const s = under(messages_);
  if (s == nullptr) {
    write_now(messages_, text);
    return;
  }
  erase(*s);
  if (s->column > 0) text.insert(0, 1, '\n');
  s->column = 0;
  write_now(messages_, text);
  draw(*s);
}

void screen::bar(std::string_view text) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (bar_over_ || !surfaces_[bar_].terminal) return;
  erase(surfaces_[bar_]);
  bar_text_ = text;
  draw(surfaces_[bar_]);
}

void screen::partial(std::string_view text) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (!surfaces_[text_].terminal || partial_ == text) return;
  erase(surfaces_[text_]);
  partial_ = text;
  draw(surfaces_[text_]);
}

}  // namespace steno::app
