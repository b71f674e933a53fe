// steno/search/token_draft.hpp - the tokens that a text probably goes on with: what followed its last ones before.
//
// Speculative decoding without a second model (prompt lookup): where the last tokens stand earlier in the text, or in a
// text that this one may repeat (the same recording a moment ago), what followed them there is guessed. The decoder
// reads the token that was chosen and all guesses in one pass, which takes little longer than one token as weights are
// read once, and a guess counts only where the search then chooses it: texts are those of a token at a time.
//
//   while (choose(scores of row draft.row())) {
//     if (draft.follow(chosen)) continue;         // its row is there
//     state.rewind(length - draft.wrong());
//     read(draft.pass());                         // rows of which the first is the next
//   }
//
// Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative Decoding" (2023). Tested in
// tests/search/token_draft_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Where a token_draft guesses from.
struct token_draft_options {
  bool guesses = true;                ///< false: a token at a time
  std::span<const int> earlier = {};  ///< a text that may be written again, from its beginning; empty: none
  std::span<const int> known = {};    ///< other text, of which parts may come
  extent vocabulary = 0;              ///< tokens there are; others are not guessed
};

/// Guesses of one text. Copyable, not thread-safe. Allocates when it is made, and for texts of over 512 tokens.
class token_draft {
 public:
  /// Limit of rows of a pass: as many as attention reads keys in place for.
  static constexpr extent max_rows = 8;

  /// Copies what it guesses from.
  STENO_ON_CALL explicit token_draft(const token_draft_options& o) : vocabulary_(o.vocabulary), guesses_(o.guesses) {
    if (!guesses_) return;
    all_.reserve(o.earlier.size() + o.known.size() + room);
    all_.assign(o.known.begin(), o.known.end());
    if (!o.earlier.empty()) {
      all_.push_back(begin);
      all_.insert(all_.end(), o.earlier.begin(), o.earlier.end());
    }
    all_.push_back(begin);
  }

  /// Limit of rows of a pass.
  extent rows() const noexcept { return guesses_ ? max_rows : 1; }
  /// The text goes on from a token that has been read.
  STENO_ON_CALL void add(int id) {
    if (guesses_) all_.push_back(id);
  }
  /// The search chose `id`. Whether the last pass has its row; else pass() is to be read, with no more guesses than
  /// `limit`.
  STENO_ON_CALL bool follow(int id, extent limit = max_rows) {
    add(id);
    if (row_ + 1 < count_ && pass_[static_cast<std::size_t>(row_) + 1] == id) {
      ++row_;
      return true;
    }
    wrong_ = count_ - 1 - row_;
    learn(count_ - 1, row_);
    pass_[0] = id;
    count_ = 1, row_ = 0;
    for (const int next : guess()) {
      if (count_ > limit || next < 0 || next >= vocabulary_) break;
      pass_[static_cast<std::size_t>(count_++)] = next;
    }
    return false;
  }
  /// The row of the last pass that the next token is chosen by.
  extent row() const noexcept { return row_; }
  /// Rows of the pass before follow() that hold wrong guesses, behind the right ones.
  extent wrong() const noexcept { return wrong_; }
  /// Rows of the last pass behind row(): of guesses that nothing was chosen by, when a text has ended.
  extent unused() const noexcept { return count_ - 1 - row_; }
  /// The token that was chosen, and guesses. Valid until follow().
  std::span<const int> pass() const noexcept { return {pass_.data(), static_cast<std::size_t>(count_)}; }

 private:
  static constexpr int begin = -1;  // of a text
  static constexpr std::size_t reach = 16, room = 512;

  // What followed where as many of the last tokens as possible stand, the latest such place. Empty where too few stand.
  STENO_ON_CALL std::span<const int> guess() const {
    if (!guesses_) return {};
    const std::size_t n = all_.size();
    std::size_t place = 0, longest = 0;
    for (std::size_t p = n - 1; p-- > 0 && longest < reach;) {
      const std::size_t same = same_before(p, n - 1);
      if (same > longest) longest = same, place = p + 1;
    }
    if (longest < least_) return {};
    std::size_t count = 0;
    while (count < length_ && place + count < n && all_[place + count] != begin) ++count;
    return {all_.data() + place, count};
  }
  // Tokens that are the same at both places and before, to the begin of a text.
  STENO_ON_CALL std::size_t same_before(std::size_t a, std::size_t b) const noexcept {
    std::size_t same = 0;
    while (same < reach && all_[a - same] == all_[b - same]) {
      ++same;
      if (all_[a - (same - 1)] == begin || a < same) break;
    }
    return same;
  }
  // The next guess is longer or shorter; after one that was all wrong more tokens must be the same.
  STENO_ON_CALL void learn(extent guessed, extent right) noexcept {
    if (guessed == 0) return;
    length_ = right == guessed ? std::min<std::size_t>(2 * length_, max_rows - 1)
                               : static_cast<std::size_t>(std::max<extent>(right, 1));
    least_ = right == 0 ? std::min(2 * least_, reach) : std::size_t{2};
  }

  std::vector<int> all_;                    // known texts and this one, each with its begin
  std::array<int, max_rows> pass_ = {};     // what is in the last pass
  extent count_ = 1, row_ = 0, wrong_ = 0;  // rows of it; the one that counts
  std::size_t length_ = 4, least_ = 2;      // of the next guess; tokens that must be the same for it
  extent vocabulary_;
  bool guesses_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
