// steno/tokenizers/nemo_words.hpp - tokens with frames joined to words and sentences as NeMo does it.
//
// A token begins a word when its text is not the piece itself (a leading U+2581), unless it is a punctuation mark,
// which joins the word before it; sentences end with words that end in ".", "!" or "?". A lone U+2581 is a token with
// an empty text, and two of them in a row make an empty word, as in the original. `get_words_offsets`,
// `get_segment_offsets` (timestamp_utils.py) for BPE tokenizers, `extract_punctuation_from_vocab` (tokenizer_utils.py).
// Tested in tests/tokenizers/nemo_words_test.cpp and tests/parity/parakeet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/core/sorting.hpp>
#include <steno/tokenizers/sentencepiece.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// A token and the frames [start, end) it is given.
struct placed_token {
  int id = 0;        ///< in the vocabulary
  extent start = 0;  ///< first frame
  extent end = 0;    ///< the frame behind its last
};

/// Tokens first .. last - 1 as one word or sentence.
struct placed_text {
  std::string text;       ///< joined
  extent start = 0;       ///< first frame
  extent end = 0;         ///< the frame behind its last
  std::size_t first = 0;  ///< number of its first token
  std::size_t last = 0;   ///< the number behind its last token
};

namespace detail {
/// Unicode category P where scripts that have speech models use it.
constexpr bool is_punctuation(char32_t c) {
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x21, 0x23},     {0x25, 0x2a},     {0x2c, 0x2f},     {0x3a, 0x3b},     {0x3f, 0x40},     {0x5b, 0x5d},
      {0x5f, 0x5f},     {0x7b, 0x7b},     {0x7d, 0x7d},     {0xa1, 0xa1},     {0xa7, 0xa7},     {0xab, 0xab},
      {0xb6, 0xb7},     {0xbb, 0xbb},     {0xbf, 0xbf},     {0x37e, 0x37e},   {0x387, 0x387},   {0x55a, 0x55f},
      {0x589, 0x58a},   {0x5be, 0x5be},   {0x5f3, 0x5f4},   {0x60c, 0x60d},   {0x61b, 0x61b},   {0x61e, 0x61f},
      {0x66a, 0x66d},   {0x6d4, 0x6d4},   {0x964, 0x965},   {0x10fb, 0x10fb}, {0x2010, 0x2027}, {0x2030, 0x2043},
      {0x2045, 0x2051}, {0x2053, 0x205e}, {0x2e2e, 0x2e2e}, {0x3001, 0x3003}, {0x3008, 0x3011}, {0x3014, 0x301f},
      {0x30fb, 0x30fb}, {0xff01, 0xff03}, {0xff05, 0xff0a}, {0xff0c, 0xff0f}, {0xff1a, 0xff1b}, {0xff1f, 0xff20},
      {0xff3b, 0xff3d}, {0xff5b, 0xff5b}, {0xff5d, 0xff5d}, {0xff5f, 0xff65}};
  for (const auto& [first, last] : ranges)
    if (c >= first && c <= last) return true;
  return false;
}
/// The character that valid UTF-8 begins with, and its length in bytes.
inline std::pair<char32_t, std::size_t> first_character(std::string_view s) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned a = byte(0);
  const auto tail = [&](std::size_t i) { return byte(i) & 0x3fu; };
  if (a < 0x80) return {a, 1};
  if (a < 0xe0) return {(a & 0x1fu) << 6 | tail(1), 2};
  if (a < 0xf0) return {(a & 0xfu) << 12 | tail(1) << 6 | tail(2), 3};
  return {(a & 7u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}
}  // namespace detail

/// Knows the punctuation marks of a vocabulary and joins tokens by NeMo's rules. Const members may be called from any
/// number of threads.
class nemo_words {
 public:
  /// Knows no marks.
  nemo_words() = default;
  /// `pieces` outlives this.
  STENO_ON_CALL STENO_COLD explicit nemo_words(const sentencepiece& pieces) {
    for (int id = 0; id < pieces.size(); ++id) {
      std::string_view p = pieces.piece(id);
      const bool special =
          p.starts_with(sentencepiece::space) || p.starts_with("##") ||
          (p.size() > 1 && ((p.front() == '<' && p.back() == '>') || (p.front() == '[' && p.back() == ']')));
      while (!special && !p.empty()) {
        const auto [c, length] = detail::first_character(p);
        if (detail::is_punctuation(c)) marks_.push_back(std::string(p.substr(0, length)));
        p.remove_prefix(std::min(length, p.size()));
      }
    }
    core::sort_stably(marks_);
    marks_.erase(std::unique(marks_.begin(), marks_.end()), marks_.end());
  }

  /// Whether `text` is a punctuation mark of the vocabulary.
  bool is_mark(std::string_view text) const {
    return !text.empty() && std::binary_search(marks_.begin(), marks_.end(), text);
  }
  /// Whether `text` begins with one.
  bool begins_with_mark(std::string_view text) const {
    return !text.empty() && is_mark(text.substr(0, std::min(detail::first_character(text).second, text.size())));
  }

  /// Text of ids without spaces before punctuation marks and at the end, where a lone U+2581 begins a word whose
  /// other tokens have not come.
  STENO_ON_CALL std::string text(const sentencepiece& pieces, std::span<const int> ids) const {
    std::string s = pieces.decode(ids), out;
    for (std::size_t i = 0; i < s.size(); ++i)
      if (s[i] != ' ' || !begins_with_mark(std::string_view(s).substr(i + 1))) out += s[i];
    while (out.ends_with(' ')) out.pop_back();
    return out;
  }

  /// The tokens, in order, as words with their frames. `pieces` is the vocabulary that the marks come from.
  STENO_ON_CALL STENO_COLD std::vector<placed_text> words(const sentencepiece& pieces,
                                                          std::span<const placed_token> tokens) const {
    std::vector<placed_text> all;
    std::vector<int> built;
    std::size_t first = 0;
    const auto close = [&](std::size_t end) {
      if (!built.empty()) all.push_back({pieces.decode(built), tokens[first].start, tokens[end - 1].end, first, end});
      built.clear();
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string part = pieces.decode(std::span(&tokens[i].id, 1));
      const bool mark = is_mark(part);
      if (!mark && part != pieces.piece(tokens[i].id)) {
        close(i);
        first = i;
      } else if (mark && built.empty() && !all.empty()) {
        all.back().text += part;
        all.back().end = tokens[i].end;
        all.back().last = i + 1;
        continue;
      } else if (mark && !built.empty() && pieces.piece(built.back()) == sentencepiece::space) {
        built.pop_back();
      }
      if (built.empty()) first = i;
      built.push_back(tokens[i].id);
    }
    close(tokens.size());
    if (!all.empty()) all.front().start = tokens.front().start;
    return all;
  }

  /// Words as sentences: joined by spaces up to one that ends in ".", "!" or "?".
  STENO_ON_CALL static std::vector<placed_text> sentences(std::span<const placed_text> words) {
    std::vector<placed_text> all;
    bool open = false;
    for (const placed_text& w : words) {
      if (open) {
        all.back().text += ' ';
        all.back().text += w.text;
      } else {
        all.push_back(w);
      }
      all.back().end = w.end;
      all.back().last = w.last;
      open = w.text.empty() || (w.text.back() != '.' && w.text.back() != '!' && w.text.back() != '?');
    }
    return all;
  }

 private:
  std::vector<std::string> marks_;  // sorted
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
