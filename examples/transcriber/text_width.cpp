// SPDX-License-Identifier: Apache-2.0
#include "text_width.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace steno::app {
namespace {

struct character {
  char32_t code = 0;
  std::string_view bytes;
};

// The first character of a text that is not empty; a malformed byte is a character of its own.
character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length == 1 || length > text.size()) return {lead, text.substr(0, 1)};
  char32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0u) != 0x80u) return {lead, text.substr(0, 1)};
    code = code << 6 | (next & 0x3fu);
  }
  return {code, text.substr(0, length)};
}

struct range {
  char32_t first, last;
};
template <std::size_t N>
bool within(char32_t c, const range (&ranges)[N]) {
  return std::any_of(std::begin(ranges), std::end(ranges), [&](range r) { return c >= r.first && c <= r.last; });
}

// The blocks of Unicode's East Asian Width W and F that occur in writing.
constexpr range wide_ranges[] = {{0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xa960, 0xa97f},
                                 {0xac00, 0xd7a3}, {0xf900, 0xfaff},   {0xfe30, 0xfe6f},  {0xff00, 0xff60},
                                 {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
constexpr range mark_ranges[] = {{0x0300, 0x036f}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x0e31, 0x0e31},
                                 {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e}, {0x200b, 0x200f}, {0x20d0, 0x20ff},
                                 {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
// Punctuation that closes: ideographic comma and full stop, brackets, full-width ! ) , . : ; ? and the like.
constexpr range closing_ranges[] = {{0x3001, 0x3002}, {0x3009, 0x3009}, {0x300b, 0x300b}, {0x300d, 0x300d},
                                    {0x300f, 0x300f}, {0x3011, 0x3011}, {0x30fb, 0x30fc}, {0xff01, 0xff01},
                                    {0xff09, 0xff09}, {0xff0c, 0xff0c}, {0xff0e, 0xff0e}, {0xff1a, 0xff1b},
                                    {0xff1f, 0xff1f}, {0x2019, 0x2019}, {0x201d, 0x201d}, {0x2026, 0x2026}};

bool wide(char32_t c) { return within(c, wide_ranges); }
int width_of(char32_t c) { return wide(c) ? 2 : within(c, mark_ranges) || c < 0x20 ? 0 : 1; }
bool space(char32_t c) { return c == ' ' || (c >= 0x09 && c <= 0x0d) || c == 0x3000; }

// What must stay on one line: a word, or one East Asian character, with the punctuation that closes it.
struct unit {
  std::string text;
  bool space_before = false, wide = false;
};

std::vector<unit> units(std::string_view text) {
  std::vector<unit> all;
  bool open = false, gap = false;  // open: the last unit may be extended
  while (!text.empty()) {
    const character c = first_character(text);
    text.remove_prefix(c.bytes.size());
    if (space(c.code)) {
      gap = true;
      continue;
    }
    const bool glued = !gap && !all.empty() && (within(c.code, closing_ranges) || width_of(c.code) == 0);
    if (glued || (open && !gap && !wide(c.code)))
      all.back().text += c.bytes;
    else
      all.push_back({std::string(c.bytes), gap && !all.empty(), wide(c.code)});
    if (!glued) open = !wide(c.code);
    gap = false;
  }
  return all;
}

}  // namespace

int columns(std::string_view text) {
  int n = 0;
  while (!text.empty()) {
    const character c = first_character(text);
    n += width_of(c.code);
    text.remove_prefix(c.bytes.size());
  }
  return n;
}

namespace {

// A byte that is not part of a character stands for itself in character::code.
bool malformed(const character& c) { return c.bytes.size() == 1 && static_cast<unsigned char>(c.bytes[0]) >= 0x80; }
bool control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

}  // namespace

std::string printable(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const character c = first_character(text);
    if (malformed(c) || control(c.code))
      line += '?';
    else
      line += c.bytes;
    text.remove_prefix(c.bytes.size());
  }
  return line;
}

std::string result_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const character c = first_character(text);
    std::size_t bytes = c.bytes.size();
    if (malformed(c)) {
      clean += "\xef\xbf\xbd";  // one for a character that breaks off
      const std::size_t whole = c.code >= 0xf0 ? 4 : c.code >= 0xe0 ? 3 : c.code >= 0xc0 ? 2 : 1;
      while (bytes < std::min(whole, text.size()) && (static_cast<unsigned char>(text[bytes]) & 0xc0u) == 0x80u)
        ++bytes;
    } else if (!control(c.code) || c.code == '\n' || c.code == '\t') {
      clean += c.bytes;
    }
    text.remove_prefix(bytes);
  }
  return clean;
}

std::string one_line(std::string_view text) {
  std::string line = result_text(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(' ') - first + 1);
}

std::string first_columns(std::string_view text, int most) {
  std::string_view rest = text;
  for (int used = 0; !rest.empty();) {
    const character c = first_character(rest);
    used += width_of(c.code);
    if (used > most) break;
    rest.remove_prefix(c.bytes.size());
  }
  return std::string(text.substr(0, text.size() - rest.size()));
}

std::string last_columns(std::string_view text, int most) {
  std::size_t from = text.size();
  for (int used = 0; from > 0;) {
    std::size_t begin = from - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0u) == 0x80u) --begin;
    used += columns(text.substr(begin, from - begin));
    if (used > most) break;
    from = begin;
  }
  return std::string(text.substr(from));
}

int column_after(std::string_view text, int from, int width) {
  int at = from;
  while (!text.empty()) {
    if (text.starts_with("\x1b[")) {  // a colour, which ends in 'm'
      text.remove_prefix(std::min(text.find('m'), text.size() - 1) + 1);
      continue;
    }
    const character c = first_character(text);
    text.remove_prefix(c.bytes.size());
    if (c.code == '\t') {
      at = std::min(at / 8 * 8 + 8, width - 1);
      continue;
    }
    const int needed = width_of(c.code);
    at = at + needed > width ? needed : at + needed;  // what does not fit stands in the next row
  }
  return at;
}

bool begins_wide(std::string_view text) { return !text.empty() && wide(first_character(text).code); }

bool ends_wide(std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xc0u) == 0x80u) continue;
  return begins_wide(text.substr(at));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  int used = 0;
  for (const unit& u : units(text)) {
    const int needed = columns(u.text) + (u.space_before ? 1 : 0);
    if (lines.empty() || used + needed > width) {
      lines.push_back(u.text);
      used = columns(u.text);
    } else {
      lines.back() += (u.space_before ? " " : "") + u.text;
      used += needed;
    }
  }
  return lines;
}

}  // namespace steno::app
