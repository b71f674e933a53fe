// tools/convert/funasr/word_tables.cpp - see word_tables.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/word_tables.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include "json_text.hpp"
#include "limits.hpp"
#include "python_packages.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

using tokenizers::word_dictionary;

// Python's bytes.strip().
std::string_view stripped(std::string_view line) {
  constexpr std::string_view space = " \t\n\r\v\f";
  const std::size_t first = std::min(line.find_first_not_of(space), line.size());
  line.remove_prefix(first);
  return line.substr(0, line.find_last_not_of(space) + 1);  // npos + 1 is 0
}

// f(line, its number from 1) for every line that is not empty, without the white space around it.
template <class F>
void each_line(std::string_view text, F&& f) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = stripped(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (!line.empty()) f(line, number);
  }
}

[[noreturn]] void refuse_line(const std::string& where, std::size_t number, std::string_view line,
                              const char* expected) {
  fail({.where = where,
        .what = "line " + std::to_string(number),
        .expected = expected,
        .found = steno::weights::quoted(line.substr(0, 80))});
}

std::uint32_t read_frequency(std::string_view digits, const std::string& where, std::size_t number) {
  std::uint32_t value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || end != digits.data() + digits.size() ||
      value > std::uint32_t{word_dictionary::max_frequency})
    refuse_line(where, number, digits, "a frequency from 0 to 2147483647");
  return value;
}

void add(word_dictionary& to, std::string_view word, std::uint32_t frequency, const std::string& where,
         std::size_t number, std::string_view line) {
  if (word.empty() || word.size() > word_dictionary::max_bytes || to.total + frequency > word_dictionary::max_total)
    refuse_line(where, number, line, "a word of up to 1024 bytes");
  to.set(word, frequency);
  to.total += frequency;
}

// Words that others begin with: jieba counts these as entries without a frequency. Only single characters and runs of
// letters are asked for.
using beginnings = std::set<std::string, std::less<>>;
bool is_plain(std::string_view part) {
  return std::all_of(part.begin(), part.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
}
void note_beginnings(beginnings& to, std::string_view word) {
  std::string_view rest = word;
  to.emplace(tokenizers::detail::take_character(rest));
  for (std::size_t n = 2; n <= word.size() && is_plain(word.substr(0, n)); ++n) to.emplace(word.substr(0, n));
}

// What jieba takes for a word that comes without a frequency: as much as its parts make probable, and one more.
std::uint32_t suggested(const word_dictionary& d, const beginnings& begun, std::string_view word) {
  double product = 1;
  for (const std::string_view part : d.cut(word)) {
    const std::uint32_t known = d.frequency(part);
    product *= (known > 0 ? known : begun.contains(part) ? 0.0 : 1.0) / d.total;
  }
  const double found = std::max(static_cast<double>(static_cast<std::uint64_t>(product * d.total)) + 1,
                                static_cast<double>(d.frequency(word)));
  return static_cast<std::uint32_t>(std::min(found, static_cast<double>(word_dictionary::max_frequency)));
}

// Takes " 12" or " nz" off the end of a line, unless nothing would be left.
std::string_view take_last(std::string_view& line, bool (*belongs)(char)) {
  std::size_t at = line.size();
  while (at > 0 && belongs(line[at - 1])) --at;
  if (at == line.size() || at < 2 || line[at - 1] != ' ') return {};
  const std::string_view last = line.substr(at);
  line = line.substr(0, at - 1);
  return last;
}

fs::path installed_dictionary() {
  for (const fs::path& site : python_packages())
    if (const fs::path file = site / "jieba" / "dict.txt"; fs::exists(file)) return file;
  return {};
}

}  // namespace

word_dictionary read_common_words(std::string_view text, const std::string& where) {
  word_dictionary d;
  d.total = 0;
  each_line(text, [&](std::string_view line, std::size_t number) {
    const std::size_t space = line.find(' ');
    if (space == line.npos || space == 0) refuse_line(where, number, line, "a word and its frequency");
    const std::string_view rest = line.substr(space + 1);
    add(d, line.substr(0, space), read_frequency(rest.substr(0, rest.find(' ')), where, number), where, number, line);
  });
  if (d.empty()) fail({.where = where, .what = "holds no words", .expected = "jieba's dict.txt"});
  d.total = std::max(d.total, jieba_total);
  return d;
}

void add_user_words(word_dictionary& to, std::string_view text, const std::string& where) {
  beginnings begun;
  for (std::size_t i = 0; i < to.size(); ++i) note_beginnings(begun, to.word(i));
  each_line(text, [&](std::string_view line, std::size_t number) {
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    std::string_view word = line;
    (void)take_last(word, [](char c) { return c >= 'a' && c <= 'z'; });
    const std::string_view digits = take_last(word, [](char c) { return c >= '0' && c <= '9'; });
    if (word.empty() || word.size() > word_dictionary::max_bytes)
      refuse_line(where, number, line, "a word of up to 1024 bytes");
    add(to, word, digits.empty() ? suggested(to, begun, word) : read_frequency(digits, where, number), where, number,
        line);
    note_beginnings(begun, word);
  });
}

word_dictionary read_word_tables(const fs::path& user, const std::optional<fs::path>& common,
                                 std::vector<std::string>& notes) {
  const fs::path file = common ? *common : installed_dictionary();
  if (file.empty())
    fail({.where = user.string(),
          .what = "is a user's dictionary, beside that of the Python package jieba, which is not on this machine",
          .expected = "dict.txt of jieba 0.42.1",
          .hint = "steno-convert --jieba-dict FILE names it, or install python3-jieba"});
  if (!common) notes.push_back("the dictionary is " + file.string());
  const std::string text = read_text(file, limits::text_bytes);
  word_dictionary d = read_common_words(text, file.string());
  add_user_words(d, read_text(user, limits::text_bytes), user.string());
  return d;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
