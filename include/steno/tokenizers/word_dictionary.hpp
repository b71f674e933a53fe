// steno/tokenizers/word_dictionary.hpp - Chinese text to words by a dictionary with frequencies.
//
//   best(i) = max over words w that begin at i of (log(frequency(w)) - log(total) + best(i + length of w))
//
// from the end of a text to its beginning; of equal sums the longer word wins, and where no word begins the character
// stands alone with frequency 1. Single letters and digits in a row are one word. Follows `jieba.cut(text, HMM=False)`
// (jieba 0.42) and FunASR's `split_words` with a dictionary (funasr/models/ct_transformer/utils.py). Tested in
// tests/tokenizers/word_dictionary_test.cpp and on the golden texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/tokenizers/punctuated_words.hpp>
#include <steno/tokenizers/unicode_classes.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// Code points of UTF-8; what is none counts as one.
STENO_ON_CALL inline std::size_t count_characters(std::string_view text) noexcept {
  std::size_t n = 0;
  for (; !text.empty(); ++n) (void)detail::take_character(text);
  return n;
}

/// Words with frequencies. Const members may be called from any number of threads.
class word_dictionary {
 public:
  static constexpr std::size_t max_bytes = 1024;          ///< of a word
  static constexpr std::size_t max_words = 1u << 22;      ///< of a dictionary
  static constexpr int max_frequency = 0x7fffffff;        ///< of a word
  static constexpr double max_total = 9007199254740992.;  ///< 2^53: sums are exact

  /// Number of words.
  std::size_t size() const noexcept { return words_.size(); }
  /// Whether there are none.
  bool empty() const noexcept { return words_.empty(); }
  /// Word i, in the order in which they came.
  std::string_view word(std::size_t i) const noexcept {
    return std::string_view(bytes_).substr(words_[i].at, words_[i].size);
  }
  /// How often word i was counted.
  std::uint32_t frequency(std::size_t i) const noexcept { return words_[i].frequency; }
  /// 0 for a word that it does not have.
  STENO_ON_CALL std::uint32_t frequency(std::string_view word) const noexcept {
    const std::uint32_t slot = slots_.empty() ? 0 : slots_[find(word)];
    return slot == 0 ? 0 : words_[slot - 1].frequency;
  }

  /// What frequencies are parts of.
  double total = 1;

  /// A word gets a frequency, a new one or another one than before. Throws steno::error for a word of no bytes or too
  /// many.
  STENO_ON_CALL STENO_COLD void set(std::string_view word, std::uint32_t frequency) {
    if (word.empty() || word.size() > max_bytes)
      fail({.what = "a word of the dictionary",
            .expected = "1 to " + std::to_string(max_bytes) + " bytes",
            .found = std::to_string(word.size())});
    if (slots_.size() < 2 * (words_.size() + 1)) grow();
    const std::size_t at = find(word);
    if (slots_[at] != 0) {
      words_[slots_[at] - 1].frequency = frequency;
      return;
    }
    if (words_.size() >= max_words || bytes_.size() > std::numeric_limits<std::uint32_t>::max() - word.size())
      fail({.what = "words of the dictionary", .expected = "up to " + std::to_string(max_words)});
    words_.push_back({static_cast<std::uint32_t>(bytes_.size()), static_cast<std::uint16_t>(word.size()), frequency});
    bytes_ += word;
    slots_[at] = static_cast<std::uint32_t>(words_.size());
    longest_ = std::max(longest_, word.size());
  }

  /// The words of a text, parts of it in order; nothing is left out.
  STENO_ON_CALL STENO_COLD std::vector<std::string_view> cut(std::string_view text) const {
    std::vector<std::string_view> words;
    for (std::string_view rest = text; !rest.empty();) {
      std::size_t end = 0;
      while (end < rest.size() && stands_in_words(unicode::first_of(rest.substr(end)).value))
        end += unicode::first_of(rest.substr(end)).length;
      if (end == 0)
        words.push_back(detail::take_character(rest));
      else
        cut_block(rest.substr(0, end), words), rest.remove_prefix(end);
    }
    return words;
  }

 private:
  struct entry {
    std::uint32_t at;
    std::uint16_t size;
    std::uint32_t frequency;
  };
  static constexpr std::uint64_t basis = 0xcbf29ce484222325u;
  static constexpr std::uint64_t add(std::uint64_t h, char c) noexcept {
    return (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  STENO_ON_CALL std::size_t find(std::string_view word) const noexcept {
    std::uint64_t h = basis;
    for (const char c : word) h = add(h, c);
    return find(word, h);
  }
  // The slot of the word, or the free one where it would be.
  STENO_ON_CALL std::size_t find(std::string_view w, std::uint64_t h) const noexcept {
    std::size_t at = static_cast<std::size_t>(h ^ h >> 32) & (slots_.size() - 1);
    while (slots_[at] != 0 && word(slots_[at] - 1) != w) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  STENO_ON_CALL void grow() {
    slots_.assign(std::max<std::size_t>(16, slots_.size() * 2), 0);
    for (std::size_t i = 0; i < words_.size(); ++i) slots_[find(word(i))] = static_cast<std::uint32_t>(i + 1);
  }
  static constexpr bool is_alphanumeric(std::uint32_t c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }
  // Anything else stands alone.
  static constexpr bool stands_in_words(std::uint32_t c) noexcept {
    return (c >= 0x4e00 && c <= 0x9fd5) || is_alphanumeric(c) || c == '+' || c == '#' || c == '&' || c == '.' ||
           c == '_' || c == '%' || c == '-';
  }
  STENO_ON_CALL void cut_block(std::string_view block, std::vector<std::string_view>& to) const {
    struct step {
      double score = 0;
      std::uint32_t size = 0;  // bytes of the word that begins here; 0: no character begins here
    };
    std::vector<step> best(block.size() + 1);
    const double whole = std::log(total);
    for (std::size_t i = block.size(); i-- > 0;) {
      if ((static_cast<unsigned char>(block[i]) & 0xc0u) == 0x80u) continue;
      const std::size_t one = unicode::first_of(block.substr(i)).length;
      step found;
      bool any = false;
      const auto consider = [&](std::size_t size, double frequency) {
        const double score = std::log(frequency) - whole + best[i + size].score;
        if (!any || score >= found.score) found = {score, static_cast<std::uint32_t>(size)};
        any = true;
      };
      std::uint64_t h = basis;
      for (std::size_t end = i; end < block.size() && end - i < longest_;) {
        const std::size_t next = end + unicode::first_of(block.substr(end)).length;
        for (; end < next; ++end) h = add(h, block[end]);
        const std::uint32_t slot = slots_[find(block.substr(i, end - i), h)];
        if (slot != 0 && words_[slot - 1].frequency > 0) consider(end - i, words_[slot - 1].frequency);
      }
      if (!any) consider(one, 1);
      best[i] = found;
    }
    std::size_t letters = 0;  // bytes of single letters and digits in front of i
    for (std::size_t i = 0; i < block.size();) {
      const std::size_t size = best[i].size;
      const bool single = size == 1 && is_alphanumeric(static_cast<unsigned char>(block[i]));
      if (!single && letters > 0) to.push_back(block.substr(i - letters, letters));
      letters = single ? letters + 1 : 0;
      if (!single) to.push_back(block.substr(i, size));
      i += size;
    }
    if (letters > 0) to.push_back(block.substr(block.size() - letters));
  }

  std::string bytes_;  // of all words
  std::vector<entry> words_;
  std::vector<std::uint32_t> slots_;  // numbers of words from 1; 0: free
  std::size_t longest_ = 0;           // bytes
};

/// The words of a text by a dictionary: what stands between spaces and is of letters and apostrophes alone is a word,
/// all other parts between two of these are joined and cut.
STENO_ON_CALL STENO_COLD inline std::vector<std::string> split_words(std::string_view text,
                                                                     const word_dictionary& dictionary) {
  std::vector<std::string> words;
  std::string joined;
  const auto flush = [&] {
    for (const std::string_view w : dictionary.cut(joined)) words.emplace_back(w);
    joined.clear();
  };
  std::string token;
  bool english = true;
  const auto end_token = [&] {
    if (token.empty()) return;
    if (english)
      flush(), words.push_back(token);
    else
      joined += token;
    token.clear();
    english = true;
  };
  while (!text.empty()) {
    const std::string_view one = detail::take_character(text);
    if (detail::is_space(one)) {
      end_token();
      continue;
    }
    const char c = one[0];
    english = english && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\'');
    token += one;
  }
  end_token();
  flush();
  return words;
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
