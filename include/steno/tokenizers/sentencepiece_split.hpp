// steno/tokenizers/sentencepiece_split.hpp - text to the ids of pieces, as SentencePiece's EncodeAsIds does it.
//
// Spaces become U+2581, runs of them one, and one is put in front where the model says so. Byte pair encoding joins the
// neighbours whose piece has the best score, the leftmost first, until none is left; a unigram model takes the pieces
// with the largest sum of scores. The scores show which it is: ranks (0, -1, -2, ...) or log-probabilities.
// Sennrich et al. 2016, Kudo 2018. For phrases, not for long texts. Texts are not normalised (NFKC) first. Tested in
// tests/tokenizers/sentencepiece_split_test.cpp on the original's output.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/tokenizers/vocabulary.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

namespace detail {

class piece_splitter {
 public:
  STENO_ON_CALL STENO_COLD explicit piece_splitter(const sentencepiece_vocabulary& v) : vocabulary_(v) {
    for (std::size_t i = 0; i < v.pieces.size(); ++i) {
      const int type = i < v.types.size() ? v.types[i] : static_cast<int>(piece_type::normal);
      if (type == static_cast<int>(piece_type::normal) || type == static_cast<int>(piece_type::user_defined))
        ids_.emplace(v.pieces[i], static_cast<int>(i));
      longest_ = std::max(longest_, v.pieces[i].size());
    }
    ranked_ = ranks();
  }

  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> operator()(std::string_view text) const {
    const std::string spaced = with_spaces(text);
    return ranked_ ? joined(spaced) : likeliest(spaced);
  }
  /// A phrase as it stands within a text, with a space before it or without one, whatever the model puts in front of
  /// texts.
  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> within(std::string_view phrase, bool spaced) const {
    std::string s = with_spaces(phrase);
    while (s.starts_with(space)) s.erase(0, space.size());
    if (s.empty()) return std::vector<int>{};
    if (spaced) s.insert(0, space);
    return ranked_ ? joined(s) : likeliest(s);
  }

 private:
  static constexpr std::string_view space = "\xe2\x96\x81";  // U+2581

  float score(int id) const {
    const auto i = static_cast<std::size_t>(id);
    return i < vocabulary_.scores.size() ? vocabulary_.scores[i] : -static_cast<float>(id);
  }
  STENO_COLD bool ranks() const {
    for (const auto& [piece, id] : ids_)
      if (score(id) > 0 || score(id) != std::floor(score(id))) return false;
    return true;
  }
  STENO_COLD std::string with_spaces(std::string_view text) const {
    std::string s;
    const bool squeeze = vocabulary_.remove_extra_whitespaces;
    if (squeeze) {
      while (text.starts_with(' ')) text.remove_prefix(1);
      while (text.ends_with(' ')) text.remove_suffix(1);
    }
    if (vocabulary_.add_dummy_prefix && !text.empty()) s += space;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != ' ')
        s += text[i];
      else if (!squeeze || text[i - 1] != ' ')
        s += space;
    }
    return s;
  }
  STENO_ON_CALL STENO_COLD static std::vector<std::string_view> characters(std::string_view s) {
    std::vector<std::string_view> all;
    for (std::size_t begin = 0, i = 1; i <= s.size(); ++i) {
      if (i < s.size() && (static_cast<unsigned char>(s[i]) & 0xc0u) == 0x80u) continue;
      all.push_back(s.substr(begin, i - begin));
      begin = i;
    }
    return all;
  }
  int find(std::string_view piece) const {
    const auto at = ids_.find(piece);
    return at == ids_.end() ? -1 : at->second;
  }

  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> joined(std::string_view text) const {
    std::vector<std::string_view> parts = characters(text);
    const auto with_next = [&](std::size_t i) {  // neighbours stand side by side in the text
      return i + 1 < parts.size() ? find({parts[i].data(), parts[i].size() + parts[i + 1].size()}) : -1;
    };
    std::vector<int> pairs(parts.size());  // of each part with the next
    for (std::size_t i = 0; i < parts.size(); ++i) pairs[i] = with_next(i);
    for (;;) {
      std::size_t best = parts.size();
      float highest = -std::numeric_limits<float>::infinity();
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (pairs[i] < 0 || score(pairs[i]) <= highest) continue;
        highest = score(pairs[i]);
        best = i;
      }
      if (best == parts.size()) break;
      parts[best] = {parts[best].data(), parts[best].size() + parts[best + 1].size()};
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(best) + 1);
      pairs[best] = with_next(best);
      if (best > 0) pairs[best - 1] = with_next(best - 1);
    }
    std::vector<int> ids;
    for (const std::string_view p : parts) {
      ids.push_back(find(p));
      if (ids.back() < 0) return std::nullopt;
    }
    return ids;
  }

  STENO_ON_CALL STENO_COLD std::optional<std::vector<int>> likeliest(std::string_view text) const {
    const std::vector<std::string_view> all = characters(text);
    struct way {
      double sum = -std::numeric_limits<double>::infinity();
      std::size_t from = 0;
      int id = -1;
    };
    std::vector<way> ways(all.size() + 1);
    ways[0].sum = 0;
    for (std::size_t from = 0; from < all.size(); ++from) {
      if (std::isinf(ways[from].sum)) continue;
      std::size_t size = 0;
      for (std::size_t to = from; to < all.size() && (size += all[to].size()) <= longest_; ++to) {
        const int id = find({all[from].data(), size});
        if (id < 0) continue;
        const double sum = ways[from].sum + static_cast<double>(score(id));
        if (sum > ways[to + 1].sum) ways[to + 1] = {sum, from, id};
      }
    }
    if (std::isinf(ways.back().sum)) return std::nullopt;
    std::vector<int> ids;
    for (std::size_t at = all.size(); at > 0; at = ways[at].from) ids.push_back(ways[at].id);
    std::reverse(ids.begin(), ids.end());
    return ids;
  }

  const sentencepiece_vocabulary& vocabulary_;
  std::unordered_map<std::string_view, int> ids_;  // of the vocabulary's pieces
  std::size_t longest_ = 0;                        // piece, in bytes
  bool ranked_ = false;
};

}  // namespace detail

/// Ids of `text`; nothing when it has characters that no piece has.
STENO_ON_CALL STENO_COLD inline std::optional<std::vector<int>> split_pieces(const sentencepiece_vocabulary& v,
                                                                             std::string_view text) {
  return detail::piece_splitter(v)(text);
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno
