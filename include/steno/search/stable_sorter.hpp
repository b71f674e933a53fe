// steno/search/stable_sorter.hpp - a stable sort that allocates nothing once it is warm, as std::stable_sort does each
// time. Tested in tests/search/stable_sorter_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>

#include <cstddef>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Keeps the memory that sorting needs: a number for each element of the longest list so far. Copyable.
class stable_sorter {
 public:
  /// Sorts; of equal ones the earlier one stays before the later one.
  template <class T, class Better>
  void sort(std::vector<T>& all, const Better& better) {
    core::sort_stably(all, places_, better);
  }

 private:
  std::vector<std::size_t> places_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
