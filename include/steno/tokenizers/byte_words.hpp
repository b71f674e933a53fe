// steno/tokenizers/byte_words.hpp - tokens of bytes with times joined to words with times.
//
// Tokens that hold parts of a character become that character. A word begins behind white space, and with every token
// of a script that is written without spaces; punctuation is written to the word before it and has no time of its own.
// Tested in tests/tokenizers/byte_words_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/tokenizers/scripts.hpp>
#include <steno/tokenizers/unicode_classes.hpp>
#include <steno/tokenizers/words.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

namespace detail {
/// Whether more bytes may make a character of the last ones.
STENO_ON_CALL inline bool ends_in_a_character(std::string_view bytes) {
  while (!bytes.empty()) {
    const unicode::code_point c = unicode::first_of(bytes);
    const auto lead = static_cast<unsigned char>(bytes[0]);
    if (!c.valid() && c.length == bytes.size() && lead >= 0xc2 && lead <= 0xf4) return true;
    bytes.remove_prefix(c.length);
  }
  return false;
}
/// Tokens whose bytes are whole characters.
struct byte_unit {
  std::string text;
  double start = 0, end = 0;
  float log_probability = 0;  ///< of all tokens
  int tokens = 0;
};
}  // namespace detail

/// `tokens` have raw bytes as text. A word's confidence is the geometric mean of its tokens' probabilities.
STENO_ON_CALL STENO_COLD inline std::vector<word> join_byte_words(std::span<const timed_piece> tokens) {
  std::vector<word> words;
  std::vector<int> counts;
  bool open = false;    // the last word may go on
  std::string waiting;  // punctuation of the word to come
  detail::byte_unit now;
  const auto add = [&](const detail::byte_unit& u) {
    const std::string text = unicode::replace_invalid(u.text);
    const std::string_view spoken = unicode::strip(text);
    const bool space = !text.empty() && spoken.data() != text.data();
    if (space || spoken.empty()) open = false;
    if (spoken.empty()) return;
    bool letters = false;
    std::uint32_t first = 0, last = 0;
    for (std::string_view rest = spoken; !rest.empty();) {
      const unicode::code_point c = unicode::first_of(rest);
      if (rest.size() == spoken.size()) first = c.value;
      last = c.value;
      letters =
          letters || unicode::is_letter(c.value) || unicode::is_number(c.value) || is_written_without_spaces(c.value);
      rest.remove_prefix(c.length);
    }
    if (!letters) {
      (space || words.empty() ? waiting : words.back().text) += spoken;
      return;
    }
    if (open && !is_written_without_spaces(first)) {
      words.back().text += spoken;
      words.back().end = u.end;
      words.back().confidence += u.log_probability;
      counts.back() += u.tokens;
    } else {
      words.push_back({.text = std::exchange(waiting, {}).append(spoken),
                       .start = u.start,
                       .end = u.end,
                       .confidence = u.log_probability,
                       .how = timing::native});
      counts.push_back(u.tokens);
    }
    open = !is_written_without_spaces(last);
  };
  for (const timed_piece& t : tokens) {
    if (now.tokens == 0) now.start = t.start;
    now.text += t.text;
    now.end = t.end;
    now.log_probability += t.log_probability;
    ++now.tokens;
    if (detail::ends_in_a_character(now.text)) continue;
    add(now);
    now = {};
  }
  if (now.tokens > 0) add(now);
  if (!words.empty()) words.back().text += waiting;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i].confidence = std::exp(words[i].confidence / static_cast<float>(counts[i]));
  return words;
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
