// steno/text/agreement.hpp - what stays of a text that is written again and again, each time from more audio.
//
//   agreed_beginning("the train to", "the train to paris")    9: "the train"
//   keep_beginning("the train too", "the train to paris")     "the train too paris"
//
// LocalAgreement-2 (Machacek, Dabre, Bojar: Turning Whisper into Real-Time Transcription System): words that two texts
// in a row have in common from their beginning on stay. The last word of either has no say, since audio that ends in
// the middle of a word may give another one. A word stands between white space; characters of scripts without spaces
// are words of their own. Tested in tests/text/agreement_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/text/repeated_words.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace text {

namespace detail {

// Where the word ends, without the white space behind it.
STENO_ON_CALL STENO_COLD inline std::size_t end_of(std::string_view text, const text_word& w) {
  std::size_t end = w.begin;
  std::size_t at = w.begin;
  for (const std::string_view c : characters_of(text.substr(w.begin, w.end - w.begin))) {
    at += c.size();
    if (!is_python_space(c)) end = at;
  }
  return end;
}

// Behind which word of `next` that what follows `kept` begins: so many edits of words as there must be, and of equal
// numbers of them those that take a word for a word.
STENO_ON_CALL STENO_COLD inline std::size_t nearest_end(const std::vector<text_word>& kept,
                                                        const std::vector<text_word>& next) {
  std::vector<std::size_t> row(next.size() + 1);
  for (std::size_t j = 0; j <= next.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < next.size(); ++j) {
      const std::size_t same = diagonal + (kept[i].key == next[j].key ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({same, row[j] + 1, diagonal + 1});
    }
  }
  const auto apart = [&](std::size_t j) { return j > kept.size() ? j - kept.size() : kept.size() - j; };
  std::size_t best = 0;
  for (std::size_t j = 1; j <= next.size(); ++j)
    if (row[j] < row[best] || (row[j] == row[best] && apart(j) < apart(best))) best = j;
  return best;
}

}  // namespace detail

/// Bytes with which both texts begin, up to the end of a word that both have and go on behind.
STENO_ON_CALL STENO_COLD inline std::size_t agreed_beginning(std::string_view a, std::string_view b) {
  const std::vector<detail::text_word> left = detail::words_of_text(a), right = detail::words_of_text(b);
  std::size_t agreed = 0;
  for (std::size_t i = 0; i + 1 < std::min(left.size(), right.size()); ++i) {
    const std::size_t end = detail::end_of(a, left[i]);
    if (end != detail::end_of(b, right[i]) || a.substr(0, end) != b.substr(0, end)) break;
    agreed = end;
  }
  return agreed;
}

/// The byte of `next` behind which it goes on where `kept` ends. Where `next` begins as `kept` does, with its words
/// whole, that is kept.size(); else the end of the words of `next` that are nearest to those of `kept`.
STENO_ON_CALL STENO_COLD inline std::size_t behind_beginning(std::string_view kept, std::string_view next) {
  const std::vector<detail::text_word> before = detail::words_of_text(kept), words = detail::words_of_text(next);
  if (next.starts_with(kept)) {
    if (before.empty() || next.size() == kept.size()) return kept.size();
    // Marks may have come to the last word, letters not.
    if (words.size() >= before.size() && words[before.size() - 1].key == before.back().key) return kept.size();
  }
  const std::size_t count = detail::nearest_end(before, words);
  return count == 0 ? 0 : detail::end_of(next, words[count - 1]);
}

/// `kept`, and behind it what of `next` follows it (behind_beginning()).
STENO_ON_CALL STENO_COLD inline std::string keep_beginning(std::string_view kept, std::string_view next) {
  const std::string_view rest = next.substr(behind_beginning(kept, next));
  std::string all(kept);
  const auto letter = [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != ' ' && c != '\n'; };
  // Words that stood for nothing that is kept.
  if (rest.size() == next.size() && !all.empty() && !rest.empty() && letter(all.back()) && letter(rest.front()))
    all += ' ';
  return all.append(rest);
}

}  // namespace text
}  // namespace STENO_ABI
}  // namespace steno
