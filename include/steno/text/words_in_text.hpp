// steno/text/words_in_text.hpp - where each word of a segment stands in its text, so that the text can be cut between
// words and stays as it was written.
//
//   "Hello, (dear) world." and hello-dear-world  ->  "Hello,| (dear)| world."        cut at |
//
// A cut lies behind the marks of the word before it, and before the white space and the opening marks of its own. The
// pieces between cuts are the whole text. Works on any script: only the words' own characters are looked for. Tested in
// tests/text/words_in_text_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/result.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace text {

/// Bytes of a text.
struct word_place {
  std::size_t cut = 0;    ///< where the text may be parted before the word; 0 for the first
  std::size_t begin = 0;  ///< where the word itself begins
  std::size_t end = 0;    ///< where it ends
  bool operator==(const word_place&) const = default;
};

namespace detail {

// White space between words, as UTF-8: ASCII's, no-break, the en and em quads to hair space, ideographic.
STENO_COLD inline std::size_t space_before(std::string_view text) {
  if (text.empty()) return 0;
  if (std::string_view(" \t\n\r\v\f").find(text.back()) != std::string_view::npos) return 1;
  if (text.ends_with("\xc2\xa0")) return 2;
  if (text.ends_with("\xe3\x80\x80") || text.ends_with("\xe2\x80\xaf")) return 3;
  const bool quad = text.size() >= 3 && text.substr(text.size() - 3, 2) == "\xe2\x80" &&
                    static_cast<unsigned char>(text.back()) >= 0x80 && static_cast<unsigned char>(text.back()) <= 0x8a;
  return quad ? 3 : 0;
}

// A mark that belongs to what follows it: ( [ { and quotes, Spanish and East Asian ones. The quotes of ASCII do so
// behind white space alone.
STENO_COLD inline std::size_t opening_before(std::string_view text) {
  constexpr std::string_view marks[] = {
      "(",
      "[",
      "{",
      "\xc2\xa1",
      "\xc2\xab",
      "\xc2\xbf",
      "\xe2\x80\x98",
      "\xe2\x80\x9c",
      "\xe2\x80\x9e",
      "\xe2\x80\xb9",
      "\xe3\x80\x88",
      "\xe3\x80\x8a",
      "\xe3\x80\x8c",
      "\xe3\x80\x8e",
      "\xe3\x80\x90",
      "\xe3\x80\x94",
      "\xe3\x80\x96",
      "\xef\xbc\x88",
      "\xef\xbc\xbb",
  };
  const auto* const found =
      std::find_if(std::begin(marks), std::end(marks), [&](std::string_view m) { return text.ends_with(m); });
  if (found != std::end(marks)) return found->size();
  if (!text.ends_with('"') && !text.ends_with('\'')) return 0;
  text.remove_suffix(1);
  return space_before(text) > 0 ? 1 : 0;
}

// Where what belongs to the word at `begin` begins, not before `from`.
STENO_COLD inline std::size_t cut_before(std::string_view text, std::size_t from, std::size_t begin) {
  std::size_t cut = begin;  // behind the last white space, or at the word
  for (std::size_t at = begin; at > from; --at)
    if (space_before(text.substr(from, at - from)) > 0) {
      cut = at;
      break;
    }
  while (true) {
    const std::string_view before = text.substr(from, cut - from);
    const std::size_t more = std::max(space_before(before), opening_before(before));
    if (more == 0) return cut;
    cut -= more;
  }
}

}  // namespace detail

/// Places of all words, one behind the other. Empty when a word is not found in the text behind the one before it, or
/// has no characters: then the text is not theirs.
STENO_COLD inline std::vector<word_place> words_in_text(std::string_view text, std::span<const word> words) {
  std::vector<word_place> places;
  places.reserve(words.size());
  std::size_t at = 0;
  for (const word& w : words) {
    const std::size_t begin = w.text.empty() ? std::string_view::npos : text.find(w.text, at);
    if (begin == std::string_view::npos) return {};
    const std::size_t cut = places.empty() ? 0 : detail::cut_before(text, at, begin);
    at = begin + w.text.size();
    places.push_back({.cut = cut, .begin = begin, .end = at});
  }
  return places;
}

}  // namespace text
}  // namespace STENO_ABI
}  // namespace steno
