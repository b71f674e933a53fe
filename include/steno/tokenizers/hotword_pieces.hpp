// steno/tokenizers/hotword_pieces.hpp - ids of a phrase that a model of FunASR is to favour.
//
//   words    = phrase in lower case, split at white space
//   pieces   = the dictionary's of a word; else of each of its characters, where all are Chinese or digits; else <unk>
//   ids      = those of the pieces in the vocabulary, <unk> for what is not there
// Without a dictionary the words themselves are looked up in the vocabulary, as they are written.
//
// FunASR `SeacoParaformer.generate_hotwords_list`, with its `seg_tokenize` and `load_seg_dict`
// (funasr/models/seaco_paraformer/model.py), and `BaseTokenizer.tokens2ids`. Tested in
// tests/tokenizers/hotword_pieces_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/error.hpp>
#include <steno/tokenizers/unicode_classes.hpp>
#include <steno/tokenizers/unicode_lower.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

/// Splits phrases into ids. Const members may be called from any number of threads.
class hotword_pieces {
 public:
  /// Knows nothing.
  hotword_pieces() = default;
  /// Token i is tokens[i]. `dictionary` has entries "WORD PIECE PIECE ...", as FunASR's seg_dict; of equal words the
  /// last one counts. Throws steno::error for an entry without a word.
  STENO_ON_CALL STENO_COLD hotword_pieces(const std::vector<std::string>& tokens,
                                          std::optional<std::vector<std::string>> dictionary) {
    for (std::size_t i = 0; i < tokens.size(); ++i) ids_[tokens[i]] = static_cast<int>(i);
    if (!dictionary) return;
    entries_ = in_order(std::move(*dictionary));
    has_dictionary_ = true;
  }

  /// Entries in the order of their words, which looking up needs: a packaged file has them so. Throws steno::error for
  /// an entry without a word.
  STENO_ON_CALL STENO_COLD static std::vector<std::string> in_order(std::vector<std::string> entries) {
    bool sorted = true;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (word_of(entries[i]).empty())
        fail({.what = "entry of the dictionary of hotwords", .expected = "a word and its pieces"});
      sorted = sorted && (i == 0 || !(word_of(entries[i]) < word_of(entries[i - 1])));
    }
    if (!sorted)  // equal words stay in their order
      core::sort_stably(entries, [](const std::string& a, const std::string& b) { return word_of(a) < word_of(b); });
    return entries;
  }

  /// The id of <unk>, if the vocabulary has one.
  std::optional<int> unknown() const {
    const auto at = ids_.find("<unk>");
    return at == ids_.end() ? std::nullopt : std::optional(at->second);
  }

  /// Ids of a phrase, in order; empty for one of white space alone. Throws steno::error where a piece is not in the
  /// vocabulary, and <unk> neither.
  STENO_ON_CALL STENO_COLD std::vector<int> split(std::string_view phrase) const {
    std::vector<int> ids;
    for (std::string_view word = next_word(phrase); !word.empty(); word = next_word(phrase)) {
      if (!has_dictionary_) {
        ids.push_back(id(word));
        continue;
      }
      const std::string lower = unicode::lower(word);
      if (add_pieces(lower, ids)) continue;
      if (!characters_alone(lower)) {
        ids.push_back(id("<unk>"));
        continue;
      }
      for (std::string_view rest = lower; !rest.empty();) {
        const std::string_view one = rest.substr(0, unicode::first_of(rest).length);
        rest.remove_prefix(one.size());
        if (!add_pieces(one, ids)) ids.push_back(id("<unk>"));
      }
    }
    return ids;
  }

 private:
  static bool blank(std::uint32_t c) { return unicode::is_space(c) || (c >= 0x1c && c <= 0x1f); }
  // Takes the next word off the front, as Python's str.split() does; empty at the end.
  static std::string_view next_word(std::string_view& s) {
    while (!s.empty() && blank(unicode::first_of(s).value)) s.remove_prefix(unicode::first_of(s).length);
    std::size_t n = 0;
    while (n < s.size() && !blank(unicode::first_of(s.substr(n)).value)) n += unicode::first_of(s.substr(n)).length;
    const std::string_view word = s.substr(0, n);
    s.remove_prefix(n);
    return word;
  }
  static std::string_view word_of(std::string_view entry) { return next_word(entry); }
  // [\u4E00-\u9FA50-9]+
  static bool characters_alone(std::string_view word) {
    while (!word.empty()) {
      const unicode::code_point c = unicode::first_of(word);
      if (!((c.value >= 0x4e00 && c.value <= 0x9fa5) || (c.value >= '0' && c.value <= '9'))) return false;
      word.remove_prefix(c.length);
    }
    return true;
  }

  // The pieces of a word's entry; false: it has none.
  STENO_ON_CALL bool add_pieces(std::string_view word, std::vector<int>& ids) const {
    const auto behind = std::upper_bound(entries_.begin(), entries_.end(), word,
                                         [](std::string_view w, const std::string& e) { return w < word_of(e); });
    if (behind == entries_.begin() || word_of(*std::prev(behind)) != word) return false;
    std::string_view rest = *std::prev(behind);
    (void)next_word(rest);
    for (std::string_view piece = next_word(rest); !piece.empty(); piece = next_word(rest)) ids.push_back(id(piece));
    return true;
  }
  int id(std::string_view piece) const {
    if (const auto at = ids_.find(std::string(piece)); at != ids_.end()) return at->second;
    if (const auto u = unknown()) return *u;
    fail({.what = "hotword: " + steno::weights::quoted(piece) + " is not in the vocabulary, and there is no <unk>"});
  }

  std::unordered_map<std::string, int> ids_;
  std::vector<std::string> entries_;  // by their words
  bool has_dictionary_ = false;
};

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
