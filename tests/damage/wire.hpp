// What damage-run and damage-programs write to each other: commands, and how they ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "damage/child.hpp"

namespace steno::damage {

inline void write_text(std::ostream& to, const std::string& text) { to << text.size() << ' ' << text << '\n'; }
inline std::string read_text(std::istream& from) {
  std::size_t n = 0;
  if (!(from >> n) || from.get() != ' ') throw std::runtime_error("a list of commands or results is cut off");
  std::string text(n, '\0');
  from.read(text.data(), static_cast<std::streamsize>(n));
  from.get();  // the line's end
  return text;
}

inline void write_command(std::ostream& to, const std::vector<std::string>& command) {
  to << command.size() << '\n';
  for (const std::string& word : command) write_text(to, word);
}
/// Empty: there are no more.
inline std::vector<std::string> read_command(std::istream& from) {
  std::size_t n = 0;
  if (!(from >> n)) return {};
  std::vector<std::string> command(n);
  for (std::string& word : command) word = read_text(from);
  return command;
}

inline void write_ending(std::ostream& to, const ending& e) {
  to << e.code << ' ' << e.signal << ' ' << e.timed_out << ' ' << e.peak_bytes << ' ' << e.seconds << ' ' << e.busy
     << '\n';
  write_text(to, e.out);
  write_text(to, e.err);
}
inline ending read_ending(std::istream& from) {
  ending e;
  from >> e.code >> e.signal >> e.timed_out >> e.peak_bytes >> e.seconds >> e.busy;
  e.out = read_text(from);
  e.err = read_text(from);
  return e;
}

}  // namespace steno::damage
