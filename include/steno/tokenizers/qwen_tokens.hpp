// steno/tokenizers/qwen_tokens.hpp - Qwen's tokenizer: byte pairs after its own pattern, and added tokens with names.
//
// Added tokens ("<|im_start|>", "<asr_text>") are found in a text first; what lies between them is composed (NFC), cut
// by Qwen's pattern and encoded. Their numbers are looked up by name, never assumed. Follows `Qwen2Tokenizer`
// (transformers). Tested in tests/tokenizers/qwen_tokens_test.cpp and tests/parity/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/tokenizers/byte_bpe.hpp>
#include <steno/tokenizers/unicode_nfc.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// The length of the piece that `text` (not empty) begins with, by the pattern
///   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
STENO_COLD inline std::size_t qwen2_piece(std::string_view text) {
  const auto at_point = [&](std::size_t at) { return unicode::first_of(text.substr(at)); };
  const auto letters_from = [&](std::size_t at) {
    while (at < text.size() && unicode::is_letter(at_point(at).value)) at += at_point(at).length;
    return at;
  };
  const auto is_break = [](std::uint32_t c) { return c == '\r' || c == '\n'; };
  if (text[0] == '\'') {
    std::string lower(text.substr(0, 3));
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'\xc5\xbf"})
      if (lower.starts_with(ending)) return ending.size();
  }
  const unicode::code_point first = at_point(0);
  const bool number = unicode::is_number(first.value), space = unicode::is_space(first.value);
  if (unicode::is_letter(first.value)) return letters_from(0);
  if (!is_break(first.value) && !number)
    if (const std::size_t end = letters_from(first.length); end > first.length) return end;
  if (number) return first.length;
  std::size_t at = text[0] == ' ' ? 1 : 0;
  const auto is_other = [&](std::uint32_t c) {
    return !unicode::is_space(c) && !unicode::is_letter(c) && !unicode::is_number(c);
  };
  if ((!space || at == 1) && at < text.size() && is_other(at_point(at).value)) {
    while (at < text.size() && is_other(at_point(at).value)) at += at_point(at).length;
    while (at < text.size() && is_break(static_cast<unsigned char>(text[at]))) ++at;
    return at;
  }
  // White space: up to its last line break; without one, all of it at the end of the text, else all but the last.
  std::size_t before = 0, broken = 0;
  for (at = 0; at < text.size() && unicode::is_space(at_point(at).value);) {
    before = at;
    const unicode::code_point c = at_point(at);
    at += c.length;
    if (is_break(c.value)) broken = at;
  }
  if (broken > 0) return broken;
  return at == text.size() || before == 0 ? at : before;
}

/// Qwen's vocabulary: text to ids and back. Const members may be called from any number of threads.
class qwen_tokens {
 public:
  /// GGUF's numbers for kinds of tokens.
  enum kind { normal = 1, control = 3, user_defined = 4, unused = 5 };

  /// No tokens.
  qwen_tokens() = default;
  /// Token i is the i-th of `texts` (strings or views of them), in GPT-2's letters where types[i] is normal. Throws
  /// steno::error when they do not fit.
  template <class Texts = std::vector<std::string>>
  STENO_COLD qwen_tokens(const Texts& texts, const std::vector<int>& types) {
    if (!types.empty() && types.size() != texts.size())
      fail(
          {.what = "kinds of tokens", .expected = std::to_string(texts.size()), .found = std::to_string(types.size())});
    std::vector<std::string_view> letters;
    letters.reserve(texts.size());
    for (const std::string_view text : texts) {
      const int id = static_cast<int>(letters.size()), type = types.empty() ? normal : types[letters.size()];
      letters.push_back(type == normal ? text : std::string_view());
      if (type != normal && type != unused && !text.empty()) added_.push_back({std::string(text), id, type == control});
    }
    size_ = static_cast<int>(letters.size());
    bytes_ = byte_bpe(letters);
    core::sort_places(by_id_, added_.size(), [&](std::size_t a, std::size_t b) { return added_[a].id < added_[b].id; });
  }

  int size() const noexcept { return size_; }  ///< tokens of the vocabulary, added ones among them
  /// The number of an added token, or -1.
  int find(std::string_view name) const noexcept {
    for (const added& a : added_)
      if (a.text == name) return a.id;
    return -1;
  }
  /// The same; throws steno::error when the model has none of this name.
  STENO_COLD int require(std::string_view name) const {
    const int id = find(name);
    if (id < 0) fail({.what = "the tokenizer has no token " + quoted_name(name)});
    return id;
  }
  /// Whether a token is left out of a text.
  STENO_ON_CALL bool is_special(int id) const noexcept {
    const added* const a = added_of(id);
    return a != nullptr && a->special;
  }

  /// Tokens of `text`, with added tokens where their names stand.
  STENO_ON_CALL STENO_COLD std::vector<int> encode(std::string_view text) const {
    std::vector<int> ids;
    std::size_t begin = 0, at = 0;
    const auto plain = [&](std::size_t end) {
      const std::vector<int> part = bytes_.encode(unicode::nfc(text.substr(begin, end - begin)), qwen2_piece);
      ids.insert(ids.end(), part.begin(), part.end());
    };
    while (at < text.size()) {
      const added* longest = nullptr;
      for (const added& a : added_)
        if ((longest == nullptr || a.text.size() > longest->text.size()) && text.substr(at).starts_with(a.text))
          longest = &a;
      if (longest == nullptr) {
        ++at;
        continue;
      }
      plain(at);
      ids.push_back(longest->id);
      begin = at += longest->text.size();
    }
    plain(at);
    return ids;
  }
  /// Tokens of a phrase as they stand within a text: with a space before it, unless it begins in a script that is
  /// written without spaces between words. Nothing when bytes of it have no token.
  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> split(std::string_view phrase) const {
    const std::string_view bare = unicode::strip(phrase);
    return bare.empty() || unicode::is_spaceless(unicode::first_of(bare).value)
               ? written(std::string(bare))
               : written(std::string(" ").append(bare));
  }
  /// The same where a text begins.
  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> split_opening(std::string_view phrase) const {
    return written(std::string(unicode::strip(phrase)));
  }
  /// Text of tokens, special ones left out or written by name; bytes that are not UTF-8 become U+FFFD.
  STENO_ON_CALL STENO_COLD std::string decode(const std::vector<int>& ids, bool skip_special) const {
    std::string all;
    for (const int id : ids) {
      const added* const a = added_of(id);
      if (a == nullptr)
        all += bytes_.bytes(id);
      else if (!(skip_special && a->special))
        all += a->text;
    }
    return unicode::replace_invalid(all);
  }

 private:
  struct added {
    std::string text;
    int id;
    bool special;
  };
  STENO_ON_CALL std::optional<std::vector<int>> written(const std::string& text) const {
    std::vector<int> ids = encode(text);
    if (decode(ids, false) != unicode::nfc(text)) return std::nullopt;
    return ids;
  }
  static std::string quoted_name(std::string_view name) { return std::string("\"").append(name).append("\""); }
  STENO_ON_CALL const added* added_of(int id) const noexcept {
    const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                     [&](std::size_t i, int wanted) { return added_[i].id < wanted; });
    return at != by_id_.end() && added_[*at].id == id ? &added_[*at] : nullptr;
  }

  byte_bpe bytes_;
  std::vector<added> added_;
  std::vector<std::size_t> by_id_;
  int size_ = 0;
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
