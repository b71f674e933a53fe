// steno/tokenizers/punctuated_words.hpp - text to words, and words with a punctuation mark behind each back to text.
//
// A character beyond ASCII is a word; ASCII characters between spaces are one. In the text ASCII words stand apart by a
// space (also at its beginning), begin with a capital behind a full stop or question mark and have ASCII's marks behind
// them. FunASR `split_words` (funasr/models/ct_transformer/utils.py) and the assembly in `CTTransformer.inference`.
// Tested in tests/tokenizers/punctuated_words_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

namespace detail {
inline constexpr std::string_view comma = "\xef\xbc\x8c", full_stop = "\xe3\x80\x82", question_mark = "\xef\xbc\x9f",
                                  enumeration_comma = "\xe3\x80\x81", no_mark = "_";

inline bool ends_sentence(std::string_view mark) { return mark == full_stop || mark == question_mark; }

/// One code point of UTF-8 from the front; a byte that begins none stands alone.
STENO_ON_CALL inline std::string_view take_character(std::string_view& s) noexcept {
  const auto lead = static_cast<unsigned char>(s[0]);
  std::size_t size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  for (std::size_t i = 1; i < size; ++i)
    if (i >= s.size() || (static_cast<unsigned char>(s[i]) & 0xc0u) != 0x80u) size = 1;
  const std::string_view one = s.substr(0, size);
  s.remove_prefix(size);
  return one;
}
/// What Python's str.split() takes for space.
STENO_ON_CALL inline bool is_space(std::string_view one) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(one[i]); };
  if (one.size() == 1) return (at(0) >= 9 && at(0) <= 13) || (at(0) >= 0x1c && at(0) <= 0x20);
  if (one.size() == 2) return one == "\xc2\x85" || one == "\xc2\xa0";
  if (one == "\xe1\x9a\x80" || one == "\xe2\x81\x9f" || one == "\xe3\x80\x80") return true;
  return one.size() == 3 && at(0) == 0xe2 && at(1) == 0x80 &&
         (at(2) <= 0x8a || at(2) == 0xa8 || at(2) == 0xa9 || at(2) == 0xaf);
}
}  // namespace detail

/// The words of a text.
STENO_ON_CALL STENO_COLD inline std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;  // the last word is of ASCII and may go on
  while (!text.empty()) {
    const std::string_view one = detail::take_character(text);
    const bool ascii = static_cast<unsigned char>(one[0]) < 0x80;
    if (detail::is_space(one)) {
      open = false;
      continue;
    }
    if (ascii && open)
      words.back() += one;
    else
      words.emplace_back(one);
    open = ascii;
  }
  return words;
}

/// The text of words with marks[i] behind words[i]: numbers in `list`, whose entry "_" means none. `begins`: the first
/// word begins a sentence.
STENO_COLD inline std::string join_punctuated(std::span<const std::string> words, std::span<const int> marks,
                                              std::span<const std::string> list, bool begins = true) {
  const auto is_ascii = [&](std::size_t i) { return static_cast<unsigned char>(words[i][0]) < 0x80; };
  const auto mark = [&](std::size_t i) { return std::string_view(list[static_cast<std::size_t>(marks[i])]); };
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool ascii = is_ascii(i);
    if (ascii && (i == 0 || is_ascii(i - 1))) text += ' ';
    const std::size_t from = text.size();
    text += words[i];
    if (ascii && (i == 0 ? begins : detail::ends_sentence(mark(i - 1))))  // str.capitalize(): the rest becomes small
      for (std::size_t k = from; k < text.size(); ++k) {
        char& ch = text[k];
        if (k == from && ch >= 'a' && ch <= 'z') ch = static_cast<char>(ch - 'a' + 'A');
        if (k > from && ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
      }
    const std::string_view m = mark(i);
    if (m == detail::no_mark) continue;
    if (ascii && m == detail::comma)
      text += ',';
    else if (ascii && m == detail::full_stop)
      text += '.';
    else if (ascii && m == detail::question_mark)
      text += '?';
    else
      text += m;
  }
  return text;
}

/// A space in front of each ASCII word that follows one, as the form for streams writes them: `CTTransformerStreaming`
/// (funasr/models/ct_transformer_streaming/model.py).
STENO_ON_CALL STENO_COLD inline void space_ascii_words(std::span<std::string> words) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  for (std::size_t i = 1; i < words.size(); ++i)
    if (is_ascii(words[i].front()) && is_ascii(words[i - 1].back())) words[i].insert(0, 1, ' ');
}

/// Ends a text with a full stop: commas at its end are replaced, full stops and question marks stay. True when changed.
STENO_COLD inline bool close_text(std::string& text) {
  const auto replace = [&](std::string_view old, std::string_view with) {
    if (!text.ends_with(old)) return false;
    text.replace(text.size() - old.size(), old.size(), with);
    return true;
  };
  if (text.empty()) return false;
  if (replace(detail::comma, detail::full_stop) || replace(detail::enumeration_comma, detail::full_stop) ||
      replace(",", "."))
    return true;
  const bool ascii = static_cast<unsigned char>(text.back()) < 0x80;
  if (ascii ? text.back() == '.' || text.back() == '?'
            : text.ends_with(detail::full_stop) || text.ends_with(detail::question_mark))
    return false;
  text += ascii ? std::string_view(".") : detail::full_stop;
  return true;
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
