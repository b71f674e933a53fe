// What the tests of the house rules share: the headers as text, with comments and literals blanked where wanted.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace steno::test {

struct source {
  std::string name;  // relative to include/, as it is included: "steno/core/view.hpp"
  std::string text;
};

inline std::filesystem::path include_directory() { return std::filesystem::path(STENO_SOURCE_DIR) / "include"; }

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Every C++ file below include/, sorted by name; steno.h is C.
inline std::vector<source> headers() {
  std::vector<source> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(include_directory()))
    if (entry.is_regular_file() && entry.path().extension() != ".h")
      all.push_back({entry.path().lexically_relative(include_directory()).generic_string(), slurp(entry.path())});
  std::ranges::sort(all, {}, &source::name);
  return all;
}

/// Pieces of headers: included in the middle of others, perhaps many times.
inline bool is_piece(const std::string& name) {
  return name.ends_with(".inl") || name.starts_with("steno/kernels/isa/region_") ||
         name == "steno/kernels/isa/for_each.hpp";
}

/// The text with comments, strings and characters replaced by spaces; lines keep their numbers.
inline std::string code_only(std::string text) {
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < text.size(); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  const auto starts = [&](std::size_t i, std::string_view s) { return text.compare(i, s.size(), s) == 0; };
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i;
    if (starts(i, "//")) {
      end = std::min(text.find('\n', i), text.size());
    } else if (starts(i, "/*")) {
      end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if (starts(i, "R\"")) {
      const std::size_t open = text.find('(', i);
      std::string close(1, ')');
      close.append(text, i + 2, open - i - 2).push_back('"');
      end = std::min(text.find(close, open), text.size() - close.size()) + close.size();
    } else if (text[i] == '"' || (text[i] == '\'' && (i == 0 || !is_word(text[i - 1])))) {  // not 1'000
      end = i + 1;
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') end += text[end] == '\\' ? 2u : 1u;
      ++end;
    }
    if (end == i) continue;
    blank(i, end);
    i = end - 1;
  }
  return text;
}

/// What a text includes: "steno/core/view.hpp" for both kinds of brackets.
inline std::vector<std::string> includes(const std::string& text) {
  static const std::regex line(R"((?:^|\n)[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"])");
  std::vector<std::string> all;
  for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i) all.push_back((*i)[1]);
  return all;
}

inline std::size_t line_of(const std::string& text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// One finding a line, for the failure message.
inline std::string joined(const std::vector<std::string>& findings) {
  std::string all;
  for (const std::string& f : findings) all += "  " + f + "\n";
  return all;
}

}  // namespace steno::test
