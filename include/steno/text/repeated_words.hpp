// steno/text/repeated_words.hpp - takes out what a text says again and again, as language models do on noise.
//
//   "no, no, no, no, no." -> "no, no, no."        up to `max_rounds` rounds of a pattern of 1 to 32 words
//
// A word stands between white space; characters of scripts without spaces are words of their own. Words are equal when
// their letters and digits are, in either case. The last round stays, with its punctuation, unless enough
// of them may not be touched. Patterns of figures are cut
// after 20 rounds only: numbers have runs of zeros. No part of the originals, which cut patterns of 20 rounds
// (qwen3_output.hpp) or none. Tested in tests/text/repeated_words_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/text/qwen3_output.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace text {

namespace detail {

struct text_word {
  std::size_t begin = 0, end = 0;  // bytes, with the white space behind it
  std::string key;
  bool figures = false;
};

STENO_ON_CALL STENO_COLD inline std::vector<text_word> words_of_text(std::string_view text) {
  std::vector<text_word> words;
  bool open = false;  // the last word goes on
  std::size_t at = 0;
  for (const std::string_view c : characters_of(text)) {
    const std::size_t begin = at;
    at += c.size();
    if (is_python_space(c)) {
      if (!words.empty()) words.back().end = at;
      open = false;
      continue;
    }
    const bool alone = c >= "\xe2\xba\x80";  // CJK and what is above
    if (!open || alone) words.push_back({.begin = begin, .end = at, .key = {}, .figures = true});
    open = !alone;
    text_word& w = words.back();
    w.end = at;
    const bool figure = c.size() == 1 && c[0] >= '0' && c[0] <= '9';
    const bool letter = c.size() > 1 || (c[0] >= 'a' && c[0] <= 'z') || (c[0] >= 'A' && c[0] <= 'Z');
    w.figures = w.figures && !letter;
    if (figure || letter) w.key += ascii_lower(c);
  }
  for (text_word& w : words)
    if (w.key.empty()) {  // marks alone
      w.key = python_strip(text.substr(w.begin, w.end - w.begin));
      w.figures = false;
    }
  return words;
}

}  // namespace detail

/// `text` with no more than `max_rounds` (> 0) rounds of a pattern in a row. Its first `from` bytes stay as they are.
STENO_ON_CALL STENO_COLD inline std::string limit_repeats(std::string text, std::size_t max_rounds,
                                                          std::size_t from = 0) {
  constexpr std::size_t longest = 32, of_figures = 20;
  for (bool again = true; again;) {  // what is left may repeat itself as a whole
    again = false;
    const std::vector<detail::text_word> words = detail::words_of_text(text);
    const auto rounds = [&](std::size_t at, std::size_t k) {
      std::size_t j = at + k;
      while (j < words.size() && words[j].key == words[j - k].key) ++j;
      return (j - at) / k;
    };
    std::string made;
    std::size_t done = 0;  // bytes
    for (std::size_t i = 0; i < words.size();) {
      std::size_t found = 0, count = 0;
      for (std::size_t k = 1; k <= longest && i + (max_rounds + 1) * k <= words.size() && found == 0; ++k) {
        count = rounds(i, k);
        bool figures = true;
        for (std::size_t j = i; j < i + k; ++j) figures = figures && words[j].figures;
        if (count > (figures ? std::max(max_rounds, of_figures) : max_rounds)) found = k;
      }
      if (found == 0) {
        ++i;
        continue;
      }
      // Rounds in the middle go, from the first one that may.
      std::size_t first = max_rounds - 1;
      while (first < count && words[i + first * found].begin < from) ++first;
      // With enough of them in front the last goes, too.
      const std::size_t last = i + (first < max_rounds ? count - 1 : count) * found;
      if (i + first * found < last) {
        made.append(text, done, words[i + first * found].begin - done);
        done = last < words.size() ? words[last].begin : text.size();
        again = true;
      }
      i += count * found;
    }
    if (again) text = made.append(text, done, text.size() - done);
  }
  return text;
}

}  // namespace text
}  // namespace STENO_ABI
}  // namespace steno
