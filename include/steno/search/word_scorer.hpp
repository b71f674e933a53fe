// steno/search/word_scorer.hpp - a language model of words in a search over pieces of words.
//
// A hypothesis spells a word piece by piece; where the next one begins, and at the end, the word's log-probability is
// added, weighted, and a bonus for each word, since a text of more words is less likely by itself (shallow fusion).
// What begins a word is found once for each piece of a vocabulary: U+2581 (a space) in front of letters, and every
// character of a script that is written without spaces. Special pieces (<...>) are no text; those that end a turn end
// the text. Tested in tests/search/ngram_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/search/ngram.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How much a language model counts.
struct word_scorer_options {
  float weight = 0;  ///< factor of its log-probabilities
  /// Added for each word, before the factor; nothing: the model's entropy, so that an average word costs nothing.
  std::optional<float> word_bonus = {};
};

/// Where a hypothesis is in a language model.
struct word_state {
  std::uint32_t context = 0;            ///< of the words that are complete
  std::uint64_t word = ngram::no_word;  ///< what is spelled
};

/// Scores pieces by a language model of words. The model must outlive it; const after construction.
class word_scorer {
 public:
  /// Piece i of the vocabulary is piece(i); ends(i): it ends a turn.
  template <class Piece, class Ends>
  STENO_COLD word_scorer(const ngram& model, const word_scorer_options& o, int size, Piece&& piece, Ends&& ends)
      : model_(&model), weight_(o.weight), word_bonus_(o.word_bonus.value_or(model.entropy())) {
    begin_.push_back(0);
    for (int i = 0; i < size; ++i) {
      if (ends(i))
        text_ += stop;
      else
        append(piece(i));
      begin_.push_back(text_.size());
    }
  }

  /// In front of a text.
  word_state start() const noexcept { return {model_->start(), ngram::no_word}; }
  /// Goes on with a piece; returns what it adds to the score.
  STENO_ON_CALL float next(word_state& s, int piece) const noexcept {
    if (piece < 0 || static_cast<std::size_t>(piece) + 1 >= begin_.size()) return 0;
    float sum = 0;
    const auto i = static_cast<std::size_t>(piece);
    for (std::size_t at = begin_[i]; at < begin_[i + 1]; ++at) {
      const char c = text_[at];
      if (c == stop) {
        sum += finish(s);
        s = start();
      } else if (c == boundary) {
        sum += word(s);
      } else {
        s.word = ngram::spelled(s.word, c);
      }
    }
    return sum;
  }
  /// Whether a text begins in a script that is written without spaces.
  static bool spaceless_start(std::string_view text) noexcept {
    return !text.empty() && spaceless(first_of(text).first);
  }
  /// The text ends; returns what that adds.
  STENO_ON_CALL float finish(word_state& s) const noexcept {
    const float last = word(s);
    return last + weight_ * model_->finish(s.context);
  }

 private:
  static constexpr char boundary = ' ', stop = '\n';

  STENO_ON_CALL float word(word_state& s) const noexcept {
    if (s.word == ngram::no_word) return 0;
    const float p = model_->follow(s.context, s.word);
    s.word = ngram::no_word;
    return weight_ * (p + word_bonus_);
  }
  // The character that UTF-8 begins with, and its length in bytes.
  static std::pair<char32_t, std::size_t> first_of(std::string_view p) noexcept {
    const auto lead = static_cast<unsigned char>(p[0]);
    const std::size_t size = std::min<std::size_t>(p.size(), lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
    char32_t c = size == 1 ? lead : lead & (0x7fu >> size);
    for (std::size_t k = 1; k < size; ++k) c = c << 6 | (static_cast<unsigned char>(p[k]) & 0x3fu);
    return {c, size};
  }
  static bool spaceless(char32_t c) noexcept {  // Thai to Khmer, Chinese characters, Japanese syllables
    return (c >= 0x0e00 && c < 0x0f00) || (c >= 0x1000 && c < 0x10a0) || (c >= 0x1780 && c < 0x1800) ||
           (c >= 0x2e80 && c < 0x3130) || (c >= 0x31a0 && c < 0xa000) || (c >= 0xf900 && c < 0xfb00) ||
           (c >= 0xff66 && c < 0xffa0) || (c >= 0x20000 && c < 0x40000);
  }
  STENO_COLD void append(std::string_view p) {
    constexpr std::string_view space = "\xe2\x96\x81";
    if (p.size() > 1 && p.front() == '<' && p.back() == '>') return;
    while (!p.empty()) {
      const auto [c, size] = first_of(p);
      if (p.starts_with(space) || c <= 0x20) {
        text_ += boundary;
      } else {
        const bool alone = spaceless(c);
        if (alone) text_ += boundary;
        text_.append(p.substr(0, size));
        if (alone) text_ += boundary;
      }
      p.remove_prefix(size);
    }
  }

  const ngram* model_;
  float weight_, word_bonus_;
  std::string text_;  // of all pieces, with marks
  std::vector<std::size_t> begin_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
