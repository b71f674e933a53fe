// steno/tokenizers/characters.hpp - tokens of characters and word pieces to text and words.
//
// Chinese characters and digits stand together; words of letters have a space between them; "@@" at the end of a piece
// joins it to the next; single Latin letters in a row become an abbreviation in capitals ("b b c" is "BBC"). FunASR
// `CharTokenizer.ids2tokens` and `sentence_postprocess`, `abbr_dispose` (funasr/utils/postprocess_utils.py); times
// follow their tokens (the original counts words, so its times shift behind a token that is neither letter nor
// character). Letters beyond ASCII: every code point that is not known as punctuation or a symbol. Tested in
// tests/tokenizers/characters_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/core/result.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// A token of the result with its time, or without one (end < start).
struct timed_token {
  int id = 0;                  ///< in the vocabulary
  double start = 0, end = -1;  ///< seconds
  float log_probability = 0;   ///< natural logarithm of its probability
};

/// Joins tokens of a vocabulary of characters and word pieces to text and words, as FunASR's models have them. Const
/// members may be called from any number of threads.
class character_tokenizer {
 public:
  /// No tokens.
  character_tokenizer() = default;
  /// Token i is tokens[i], in UTF-8.
  STENO_ON_CALL explicit character_tokenizer(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      ids_.emplace(tokens_[i], static_cast<int>(i));
      longest_ = std::max(longest_, tokens_[i].size());
    }
  }

  extent size() const noexcept { return static_cast<extent>(tokens_.size()); }  ///< tokens of the vocabulary
  /// Empty for an id that is none.
  std::string_view token(int id) const noexcept {
    return id >= 0 && id < size() ? std::string_view(tokens_[static_cast<std::size_t>(id)]) : std::string_view{};
  }

  /// Ids of a phrase: words that are tokens, else the longest pieces that joined by "@@" make them, else single
  /// characters. Nothing where that is impossible.
  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> split(std::string_view phrase) const {
    std::vector<int> ids;
    const auto find = [&](const std::string& token) {
      const auto at = ids_.find(token);
      return at == ids_.end() ? -1 : at->second;
    };
    while (!phrase.empty()) {
      std::string_view word = phrase.substr(0, phrase.find(' '));
      phrase.remove_prefix(std::min(phrase.size(), word.size() + 1));
      while (!word.empty()) {
        std::size_t length = 0;
        int id = -1;
        // The longest first; a piece inside of a word is joined to the next one.
        for (std::size_t n = std::min(word.size(), longest_); n > 0 && id < 0; --n) {
          if (n < word.size() && (static_cast<unsigned char>(word[n]) & 0xc0u) == 0x80u) continue;
          const std::string part(word.substr(0, n));
          if (n == word.size()) id = find(part);
          if (n < word.size()) {
            id = find(part + "@@");
            std::string_view one = part;
            if (id < 0 && is_chinese(next(one)) && one.empty()) id = find(part);
          }
          if (id >= 0) length = n;
        }
        if (id < 0) return std::nullopt;
        ids.push_back(id);
        word.remove_prefix(length);
      }
    }
    return ids;
  }

  /// What decode() makes of tokens.
  struct decoded {
    std::string text;         ///< the words joined, a space only where the rules put one
    std::vector<word> words;  ///< in order; confidence is the geometric mean of the tokens' probabilities
  };
  /// Text and words of tokens in order. Leaves out <s>, </s>, <unk> and <OOV>, and pieces at the end that a further one
  /// should have completed.
  STENO_ON_CALL STENO_COLD decoded decode(std::span<const timed_token> tokens) const {
    std::vector<item> items;
    bool chinese = true;  // there is nothing else
    for (const timed_token& s : tokens) {
      const std::string_view t = token(s.id);
      if (t == "<s>" || t == "</s>" || t == "<unk>" || t == "<OOV>") continue;
      items.push_back({std::string(t), s, 1, false});
      chinese = chinese && is_chinese_token(t);
    }
    return assemble(abbreviate(chinese ? items : join(items)));
  }

  /// So many of the first tokens have a text that no later token changes: up to the last Chinese character. Behind it
  /// pieces may be joined and letters may become an abbreviation.
  STENO_ON_CALL extent settled(std::span<const int> ids) const noexcept {
    std::size_t n = ids.size();
    while (n > 0 && !every(token(ids[n - 1]), is_chinese)) --n;
    return static_cast<extent>(n);
  }

 private:
  struct item {
    std::string text;
    timed_token when;
    int tokens;
    bool spaced;  // a space follows, unless a Chinese character comes next
  };

  // Code points compare as their UTF-8 bytes do, and whole strings as in the original.
  static bool is_chinese(std::string_view s) noexcept {
    return (s >= "\xe4\xb8\x80" && s <= "\xe9\xbf\xbf") || (s >= "0" && s <= "9") || s == "@";
  }
  STENO_ON_CALL static bool is_chinese_token(std::string_view t) {
    std::string bare;
    for (const char ch : t)
      if (ch != ' ') bare += ch;
    return is_chinese(bare);
  }
  STENO_ON_CALL static std::string_view next(std::string_view& s) noexcept {
    const auto lead = static_cast<unsigned char>(s[0]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const std::string_view one = s.substr(0, size);
    s.remove_prefix(one.size());
    return one;
  }
  static char32_t code_point(std::string_view one) noexcept {
    if (one.size() < 2) return static_cast<unsigned char>(one[0]);
    char32_t v = static_cast<unsigned char>(one[0]) & (0x7fu >> one.size());
    for (const char ch : one.substr(1)) v = v << 6 | (static_cast<unsigned char>(ch) & 0x3fu);
    return v;
  }
  STENO_ON_CALL static bool is_letter(std::string_view one) noexcept {
    const char32_t v = code_point(one);
    if (v < 0x80) return (v >= 'a' && v <= 'z') || (v >= 'A' && v <= 'Z');
    if (v < 0xc0) return v == 0xaa || v == 0xb5 || v == 0xba;
    return v != 0xd7 && v != 0xf7 && !(v >= 0x2000 && v < 0x2c00) && !(v >= 0x3000 && v < 0x3005) &&
           !(v >= 0x3007 && v < 0x3031) && !(v >= 0xfe10 && v < 0xfe70) && !(v >= 0xff00 && v < 0xff21) &&
           !(v >= 0xff3b && v < 0xff41) && !(v >= 0xff5b && v < 0xff66) && !(v >= 0x1f000 && v < 0x20000);
  }
  template <class Test>
  static bool every(std::string_view s, Test test) {
    if (s.empty()) return false;
    while (!s.empty())
      if (!test(next(s))) return false;
    return true;
  }

  STENO_ON_CALL static std::vector<item> join(const std::vector<item>& items) {
    std::vector<item> out;
    item open;  // a word of pieces that is not finished
    open.tokens = 0;
    const auto extend = [&](const item& piece, std::string_view text) {
      if (open.tokens == 0) {
        open.when = piece.when;
      } else {
        open.when.end = piece.when.end;
        open.when.log_probability += piece.when.log_probability;
      }
      open.text += text;
      ++open.tokens;
    };
    for (const item& i : items) {
      if (every(i.text, is_chinese)) {
        if (!out.empty()) out.back().spaced = false;
        out.push_back(i);
      } else if (i.text.find("@@") != std::string::npos) {
        std::string bare = i.text;
        for (std::size_t at; (at = bare.find("@@")) != std::string::npos;) bare.erase(at, 2);
        extend(i, bare);
      } else if (every(i.text,
                       [](std::string_view one) { return one == "'" || (is_letter(one) && !is_chinese(one)); })) {
        extend(i, i.text);
        open.spaced = true;
        out.push_back(std::move(open));
        open = item{};
        open.tokens = 0;
      } else {
        out.push_back(i);
      }
    }
    return out;  // pieces whose end never came are dropped, as in the original
  }

  STENO_ON_CALL static std::vector<item> abbreviate(const std::vector<item>& items) {
    const auto letter = [](const item& i) {
      return i.text.size() == 1 && ((i.text[0] >= 'a' && i.text[0] <= 'z') || (i.text[0] >= 'A' && i.text[0] <= 'Z'));
    };
    const auto capital = [](char ch) { return ch >= 'a' && ch <= 'z' ? static_cast<char>(ch - 'a' + 'A') : ch; };
    std::vector<item> out;
    for (std::size_t n = 0; n < items.size(); ++n) {
      out.push_back(items[n]);
      if (!letter(items[n]) || !items[n].spaced || n + 1 == items.size() || !letter(items[n + 1])) continue;
      item& all = out.back();
      all.text[0] = capital(all.text[0]);
      while (all.spaced && n + 1 < items.size() && letter(items[n + 1])) {
        const item& more = items[++n];
        all.text += capital(more.text[0]);
        all.when.end = more.when.end;
        all.when.log_probability += more.when.log_probability;
        all.tokens += more.tokens;
        all.spaced = more.spaced;
      }
    }
    return out;
  }

  STENO_ON_CALL static decoded assemble(const std::vector<item>& items) {
    decoded d;
    for (const item& i : items) {
      d.text += i.text;
      if (i.spaced) d.text += ' ';
      word w;
      w.text = i.text;
      w.confidence = std::exp(i.when.log_probability / static_cast<float>(i.tokens));
      if (i.when.end >= i.when.start) {
        w.start = i.when.start;
        w.end = i.when.end;
        w.how = timing::native;
      }
      d.words.push_back(std::move(w));
    }
    while (d.text.ends_with(' ')) d.text.pop_back();
    return d;
  }

  std::vector<std::string> tokens_;
  std::unordered_map<std::string, int> ids_;
  std::size_t longest_ = 0;  // bytes of a token
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
