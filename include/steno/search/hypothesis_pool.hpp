// steno/search/hypothesis_pool.hpp - hypotheses come and go at every frame: their memory stays.
//
// A hypothesis is made of vectors. Copies are made of ones that were given back, and what is no longer wanted is given
// back, so a search that is warm allocates nothing. Tested in tests/search/hypothesis_pool_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Hypotheses that are not in use, and how lists of them are changed. `Hypothesis` is copied, moved and swapped.
/// Copyable; for one search.
template <class Hypothesis>
class hypothesis_pool {
 public:
  using list = std::vector<Hypothesis>;  ///< of hypotheses in use

  /// Appends a copy of `h`, which is not of this list, and returns it; valid until the list is changed.
  Hypothesis& copy(const Hypothesis& h, list& to) {
    if (spare_.empty()) return to.emplace_back(h);
    Hypothesis& made = to.emplace_back(std::move(spare_.back()));
    spare_.pop_back();
    made = h;
    return made;
  }
  /// Shortens a list.
  void shorten(list& all, std::size_t size) {
    while (all.size() > size) {
      spare_.push_back(std::move(all.back()));
      all.pop_back();
    }
  }
  /// `to` becomes what `from` is, which becomes empty.
  void move(list& from, list& to) {
    shorten(to, 0);
    to.swap(from);
  }
  /// Keeps what `wanted` is true of, in order.
  template <class Wanted>
  void keep_if(list& all, Wanted&& wanted) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (wanted(std::as_const(all[i]))) {
        if (kept != i) std::swap(all[kept], all[i]);
        ++kept;
      }
    shorten(all, kept);
  }
  /// Moves all of `from` behind `to`.
  static void append(list& from, list& to) {
    for (Hypothesis& h : from) to.push_back(std::move(h));
    from.clear();
  }

 private:
  list spare_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
