// steno/search/overlap_merge.hpp - two texts of neighbouring windows to one: what both have of their overlap stands
// once.
//
// Follows `longest_common_subsequence_merge` and `lcs_alignment_merge_buffer` with `parallel_chunking`
// (streaming_utils.py of NeMo): the longest run of tokens that the end of the left text and the start of the right one
// have in common. Where it reaches the end of the left text, the right one goes on behind it. Elsewhere the run that
// lies latest in the left text and earliest in the right one is extended by what does not agree, one place further to
// the right for each row; a run of one token is none. Tested in tests/search/overlap_merge_test.cpp and on the
// recorded table (tests/parity/canary_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/extents.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How far merge_overlap() looks.
struct overlap_rule {
  std::size_t left = 24;  ///< tokens at the end of the left text
  std::size_t right = 7;  ///< tokens at the start of the right one
};

/// A run that two texts have in common: `length` tokens from left[from_left] and from right[from_right] on; of one with
/// tokens that do not agree among them these are the original's numbers, which may lie beyond the left text's end.
struct common_run {
  std::size_t from_left = 0;   ///< its first token in the left text
  std::size_t from_right = 0;  ///< its first token in the right one
  std::size_t length = 0;      ///< 0: there is none
};

/// The run at which `right` goes on from `left`.
STENO_ON_CALL STENO_COLD inline common_run find_overlap(std::span<const int> left, std::span<const int> right) {
  const std::size_t m = left.size(), n = right.size();
  std::vector<std::size_t> table((m + 1) * (n + 1));  // [i][j]: length of the run that ends with left[i-1], right[j-1]
  const auto run = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * (n + 1) + j]; };
  common_run found;
  std::size_t i = 0, j = 0;
  for (std::size_t a = 1; a <= m; ++a)
    for (std::size_t b = 1; b <= n; ++b) {
      if (left[a - 1] != right[b - 1]) continue;
      run(a, b) = run(a - 1, b - 1) + 1;
      if (run(a, b) < found.length) continue;  // of equals the last one
      found.length = run(a, b);
      i = a, j = b;
    }
  if (i == m) {  // to the end of the left text
    while (i > 0 && j > 0) {
      const bool more = run(i - 1, j - 1) > 0;
      --i, --j;
      if (!more) break;
    }
    return {i, j, found.length};
  }
  // The longest run, the latest row first, never further to the right than the one before.
  std::size_t longest = 0, column = n, from = m, to = 0;
  for (std::size_t a = m + 1; a-- > 0;)
    for (std::size_t b = 0; b <= n; ++b)
      if (run(a, b) > longest && b <= column) {
        longest = run(a, b);
        column = b;
        from = a, to = b;
      }
  if (longest <= 1) return {from, 0, 0};
  // Along the diagonal to the end of the left text; a place that does not agree widens the search by one.
  std::size_t expanded = 0, skipped = 0, next = to + 1;
  for (std::size_t a = from + 1; a <= m; ++a, ++next) {
    std::size_t missed = 0;
    for (std::size_t b = next; b <= next + skipped && b <= n; ++b) {
      if (run(a, b) == 0)
        missed = 1;
      else
        expanded = 1 + skipped + missed;
    }
    skipped += missed;
  }
  // Back to where it begins.
  std::size_t count = 0;
  skipped = 0;
  to += expanded;
  while (from > 0 && to > 0) {
    if (to > n || run(from, to) == 0) {
      --to;
      ++skipped;
    }
    if (to > 0) {
      ++count;
      --from, --to;
    }
  }
  return {from, to, count + skipped};
}

/// `text` goes on with the tokens of the next window: returns where they begin, before which it may have become
/// shorter. Where both have nothing in common, these follow as they are.
STENO_ON_CALL STENO_COLD inline std::size_t merge_overlap(std::vector<int>& text, std::span<const int> more,
                                                          const overlap_rule& rule = {}) {
  const std::size_t looked = std::min(rule.left, text.size()), base = text.size() - looked;
  const std::span<const int> head = more.first(std::min(rule.right, more.size()));
  if (!text.empty()) {
    const common_run r = find_overlap(std::span<const int>(text).subspan(base), head);
    if (r.length > 0) {
      text.resize(std::min(text.size(), base + r.from_left + r.length));
      more = more.subspan(std::min(r.from_right + r.length, head.size()));
    }
  }
  const std::size_t begin = text.size();
  text.insert(text.end(), more.begin(), more.end());
  return begin;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
