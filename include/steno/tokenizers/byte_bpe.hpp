// steno/tokenizers/byte_bpe.hpp - byte-level byte-pair encoding, as GPT-2 and its heirs use it.
//
// Text is cut by a pattern; of a piece's bytes, the two neighbours whose union has the lowest number in the vocabulary
// are joined again and again (the leftmost of equals), and what remains are the tokens. A token's number is its rank,
// as in tiktoken. Tokens come in GPT-2's letters (every byte a printable character), in which vocab.json and GGUF files
// write them. Tested in tests/tokenizers/byte_bpe_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/tokenizers/unicode_classes.hpp>

#include <cstdint>
#include <limits>
#include <queue>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// The length of the piece that `text` (not empty) begins with, by GPT-2's pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
STENO_ON_CALL STENO_COLD inline std::size_t gpt2_piece(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  enum class kind { letter, number, space, other };
  const auto kind_of = [](std::uint32_t c) {
    return unicode::is_letter(c)   ? kind::letter
           : unicode::is_number(c) ? kind::number
           : unicode::is_space(c)  ? kind::space
                                   : kind::other;
  };
  const auto kind_at = [&](std::size_t at) { return kind_of(unicode::first_of(text.substr(at)).value); };
  const std::size_t lead = text[0] == ' ' ? 1 : 0;
  if (lead < text.size() && kind_at(lead) != kind::space) {
    const kind wanted = kind_at(lead);
    std::size_t at = lead;
    while (at < text.size() && kind_at(at) == wanted) at += unicode::first_of(text.substr(at)).length;
    return at;
  }
  // White space: all of it at the end of the text, else all but the last symbol (if there are more).
  std::size_t at = 0, before = 0;
  while (at < text.size() && kind_at(at) == kind::space) {
    before = at;
    at += unicode::first_of(text.substr(at)).length;
  }
  return at == text.size() || before == 0 ? at : before;
}

/// A vocabulary of byte strings and the encoder over it. Const members may be called from any number of threads.
class byte_bpe {
 public:
  /// No tokens.
  byte_bpe() = default;
  /// Token i is the i-th of `letters`, strings or views of them. Throws steno::error for a character that stands for no
  /// byte.
  template <class Letters = std::vector<std::string>>
  requires std::is_convertible_v<decltype(*std::declval<const Letters&>().begin()), std::string_view>
      STENO_COLD explicit byte_bpe(const Letters& letters) {
    std::size_t all = 0;
    for (const std::string_view token : letters) all += token.size();
    ends_.reserve(letters.size());
    bytes_.resize(all);  // no letter is shorter than its byte
    std::size_t used = 0;
    for (const std::string_view token : letters) {
      if (token.size() > bytes_.size() - used) bytes_.resize(used + token.size());  // a mapped file may change
      for (std::string_view rest = token; !rest.empty();) {
        if (rest[0] > ' ' && rest[0] < 0x7f) {  // stands for itself
          bytes_[used++] = rest[0];
          rest.remove_prefix(1);
          continue;
        }
        const unicode::code_point c = unicode::first_of(rest);
        const int byte = byte_of(c.value);
        if (byte < 0)
          fail({.what =
                    "token " + std::to_string(ends_.size()) + " of the vocabulary is not written in GPT-2's letters"});
        bytes_[used++] = static_cast<char>(byte);
        rest.remove_prefix(c.length);
      }
      ends_.push_back(static_cast<std::uint32_t>(used));
    }
    bytes_.resize(used);
    std::size_t size = 16;
    while (size < 2 * letters.size()) size *= 2;
    slots_.assign(size, -1);
    for (int i = 0; i < static_cast<int>(letters.size()); ++i) {
      if (bytes(i).empty()) continue;
      std::size_t at = slot_of(bytes(i));
      while (slots_[at] >= 0 && bytes(slots_[at]) != bytes(i)) at = (at + 1) & (size - 1);
      if (slots_[at] < 0) slots_[at] = i;  // of equal tokens the first
    }
  }

  /// Tokens of the vocabulary; ids are 0 to size() - 1.
  int size() const noexcept { return static_cast<int>(ends_.size()); }
  /// The bytes of a token; empty for a number that is none.
  STENO_ON_CALL std::string_view bytes(int id) const noexcept {
    if (id < 0 || id >= size()) return {};
    const auto i = static_cast<std::size_t>(id);
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  /// The token with exactly these bytes, or -1.
  STENO_ON_CALL int find(std::string_view token) const noexcept {
    if (slots_.empty() || token.empty()) return -1;
    for (std::size_t at = slot_of(token); slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1))
      if (bytes(slots_[at]) == token) return slots_[at];
    return -1;
  }

  /// Tokens of `text`, cut by `piece` (gpt2_piece, ...). Bytes without a token are left out.
  STENO_ON_CALL STENO_COLD std::vector<int> encode(std::string_view text,
                                                   std::size_t (*piece)(std::string_view) = gpt2_piece) const {
    std::vector<int> ids;
    while (!text.empty()) {
      const std::size_t n = piece(text);
      encode_piece(text.substr(0, n), ids);
      text.remove_prefix(n);
    }
    return ids;
  }
  /// The bytes of all tokens.
  STENO_ON_CALL std::string decode(const std::vector<int>& ids) const {
    std::string all;
    for (const int id : ids) all += bytes(id);
    return all;
  }

 private:
  // GPT-2's letters: printable bytes of Latin-1 stand for themselves, the others for U+0100 and on.
  STENO_ON_CALL static int byte_of(std::uint32_t c) noexcept {
    if ((c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff)) return static_cast<int>(c);
    if (c >= 0x100 && c <= 0x120) return static_cast<int>(c - 0x100);
    if (c >= 0x121 && c <= 0x142) return static_cast<int>(c - 0x121 + 0x7f);
    return c == 0x143 ? 0xad : -1;
  }
  STENO_ON_CALL std::size_t slot_of(std::string_view s) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return static_cast<std::size_t>(h ^ h >> 32) & (slots_.size() - 1);
  }

  // A chain of parts and a queue of unions: n log n, however long the piece is.
  STENO_ON_CALL void encode_piece(std::string_view piece, std::vector<int>& ids) const {
    if (const int whole = find(piece); whole >= 0) {
      ids.push_back(whole);
      return;
    }
    struct part {
      std::size_t length, before, after;
    };
    const std::size_t n = piece.size();
    std::vector<part> parts(n);  // by first byte; length 0: joined to an earlier one
    for (std::size_t i = 0; i < n; ++i) parts[i] = {1, i - 1, i + 1};
    struct joined {
      int rank;
      std::size_t at, length;                  // first byte, and how many
      bool operator<(const joined& b) const {  // the queue's top is the largest: the lowest rank, then the first
        return rank != b.rank ? rank > b.rank : at != b.at ? at > b.at : length > b.length;
      }
    };
    std::priority_queue<joined> queue;
    const auto consider = [&](std::size_t at) {
      const std::size_t next = parts[at].after;
      if (next >= n) return;
      const std::size_t length = parts[at].length + parts[next].length;
      if (const int rank = find(piece.substr(at, length)); rank >= 0) queue.push({rank, at, length});
    };
    for (std::size_t i = 0; i + 1 < n; ++i) consider(i);
    while (!queue.empty()) {
      const auto [rank, at, length] = queue.top();
      queue.pop();
      if (parts[at].length == 0 || parts[at].after >= n) continue;
      const std::size_t next = parts[at].after;
      if (parts[at].length + parts[next].length != length) continue;  // one of them has grown since
      parts[at].length = length;
      parts[at].after = parts[next].after;
      parts[next].length = 0;
      if (parts[at].after < n) parts[parts[at].after].before = at;
      consider(at);
      if (at > 0) consider(parts[at].before);
    }
    for (std::size_t i = 0; i < n; i = parts[i].after)
      if (const int id = find(piece.substr(i, parts[i].length)); id >= 0) ids.push_back(id);
  }

  std::string bytes_;
  std::vector<std::uint32_t> ends_;
  std::vector<int> slots_;
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
