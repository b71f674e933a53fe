// steno/tokenizers/sentencepiece.hpp - ids to text, as SentencePiece's DecodeIds does it.
//
// U+2581 becomes a space; at the very beginning it is dropped when the model adds a dummy prefix or removes extra
// whitespace; control pieces give nothing, byte pieces are collected to UTF-8 (invalid bytes become U+FFFD).
// Kudo and Richardson 2018. Tested in tests/tokenizers/sentencepiece_test.cpp (against the original's output).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/tokenizers/sentencepiece_split.hpp>
#include <steno/tokenizers/vocabulary.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// A SentencePiece vocabulary: ids to text, and phrases to ids. Const members may be called from any number of threads.
class sentencepiece {
 public:
  /// What a piece is for; the numbers are those of the *.model file.
  enum type : int { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  static constexpr std::string_view space = "\xe2\x96\x81";  ///< U+2581, which stands for a space in pieces

  /// No pieces.
  sentencepiece() = default;
  /// Takes a vocabulary over as it is; ids are places in its list of pieces.
  explicit sentencepiece(sentencepiece_vocabulary v) : vocabulary_(std::move(v)) {}

  int size() const noexcept { return static_cast<int>(vocabulary_.pieces.size()); }    ///< pieces of the vocabulary
  const sentencepiece_vocabulary& vocabulary() const noexcept { return vocabulary_; }  ///< as given to the constructor
  /// The piece as stored; empty for an id outside of the vocabulary.
  std::string_view piece(int id) const noexcept {
    return id >= 0 && id < size() ? std::string_view(vocabulary_.pieces[static_cast<std::size_t>(id)])
                                  : std::string_view{};
  }
  /// Type of a piece; normal for an id outside of the vocabulary and where types are unknown.
  int type_of(int id) const noexcept {
    return id >= 0 && static_cast<std::size_t>(id) < vocabulary_.types.size()
               ? vocabulary_.types[static_cast<std::size_t>(id)]
               : normal;
  }

  /// Pieces of `text`; nothing when it cannot be written. Slow: for phrases.
  STENO_ON_CALL std::optional<std::vector<int>> split(std::string_view text) const {
    return split_pieces(vocabulary_, text);
  }
  /// The same for many texts: what splits them, as long as this lives.
  STENO_ON_CALL detail::piece_splitter splitter() const { return detail::piece_splitter(vocabulary_); }

  /// Text of ids in UTF-8. U+2581 becomes a space, but one at the very beginning is dropped where the model adds it;
  /// byte pieces are collected to characters; control pieces and ids outside of the vocabulary give nothing.
  std::string decode(std::span<const int> ids) const {
    std::string text, bytes;
    const bool strip = vocabulary_.add_dummy_prefix || vocabulary_.remove_extra_whitespaces;
    for (const int id : ids) {
      std::string_view p = piece(id);
      if (type_of(id) == byte && p.size() == 6) {  // "<0x41>"
        bytes += static_cast<char>(nibble(p[3]) * 16 + nibble(p[4]));
        continue;
      }
      append_utf8(text, bytes);
      if (type_of(id) == control) continue;
      if (type_of(id) == unknown) p = vocabulary_.unk_surface;
      if (text.empty() && strip && p.starts_with(space)) p.remove_prefix(space.size());
      append_spaced(text, p);
    }
    append_utf8(text, bytes);
    return text;
  }

  /// Appends a piece with U+2581 written as a space.
  static void append_spaced(std::string& text, std::string_view p) {
    for (std::size_t at; (at = p.find(space)) != std::string_view::npos; p.remove_prefix(at + space.size())) {
      text += p.substr(0, at);
      text += ' ';
    }
    text += p;
  }

 private:
  static int nibble(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

  // Moves collected bytes to the text, each invalid byte as U+FFFD.
  static void append_utf8(std::string& text, std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
      const std::size_t n = utf8_length(std::string_view(bytes).substr(i));
      if (n == 0)
        text += "\xef\xbf\xbd";
      else
        text.append(bytes, i, n);
      i += n == 0 ? 1 : n;
    }
    bytes.clear();
  }
  // Length of the valid UTF-8 sequence that s begins with, or 0.
  static std::size_t utf8_length(std::string_view s) {
    const auto at = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
    const unsigned a = at(0), b = at(1);
    const auto tail = [&](std::size_t i) { return (at(i) & 0xc0u) == 0x80u; };
    if (a < 0x80) return 1;
    if (a >= 0xc2 && a < 0xe0) return tail(1) ? 2 : 0;
    if (a >= 0xe0 && a < 0xf0) {
      if ((a == 0xe0 && b < 0xa0) || (a == 0xed && b >= 0xa0)) return 0;  // overlong, surrogates
      return tail(1) && tail(2) ? 3 : 0;
    }
    if (a >= 0xf0 && a < 0xf5) {
      if ((a == 0xf0 && b < 0x90) || (a == 0xf4 && b >= 0x90)) return 0;
      return tail(1) && tail(2) && tail(3) ? 4 : 0;
    }
    return 0;
  }

  sentencepiece_vocabulary vocabulary_;
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
