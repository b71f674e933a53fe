// steno/tokenizers/words.hpp - pieces with times joined to words with times.
//
// A piece that begins with U+2581 begins a word; otherwise ASCII letters continue a word of ASCII letters, and
// everything else (Chinese characters, punctuation, digits) stands alone. Follows `SenseVoiceSmall.post`
// (funasr/models/sense_voice/model.py), but an apostrophe joins ("don't" is one word) and the first word of a text is
// joined like the others. Tested in tests/tokenizers/words_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/tokenizers/sentencepiece.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// A piece of a vocabulary with the time at which it was spoken.
struct timed_piece {
  std::string_view text;      ///< as in the vocabulary
  double start = 0, end = 0;  ///< seconds
  float log_probability = 0;  ///< natural logarithm of its probability
};

/// A word's confidence is the geometric mean of its pieces' probabilities.
STENO_ON_CALL STENO_COLD inline std::vector<word> join_words(const std::vector<timed_piece>& pieces) {
  const auto letters = [](std::string_view s) {
    return !s.empty() && std::all_of(s.begin(), s.end(), [](char ch) {
      return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '\'';
    });
  };
  std::vector<word> words;
  std::vector<int> counts;
  bool open = false;  // the last word may go on
  for (const timed_piece& p : pieces) {
    std::string_view text = p.text;
    const bool begins = text.starts_with(sentencepiece::space);
    if (begins) text.remove_prefix(sentencepiece::space.size());
    if (text.empty()) {  // a space of its own ends the word
      open = false;
      continue;
    }
    const bool ascii = letters(text);
    if (!begins && open && ascii) {
      words.back().text += text;
      words.back().end = p.end;
      words.back().confidence += p.log_probability;
      ++counts.back();
      continue;
    }
    words.push_back({.text = std::string(text),
                     .start = p.start,
                     .end = p.end,
                     .confidence = p.log_probability,
                     .how = timing::native});
    counts.push_back(1);
    open = ascii;
  }
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i].confidence = std::exp(words[i].confidence / static_cast<float>(counts[i]));
  return words;
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
