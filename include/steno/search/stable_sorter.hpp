// steno/search/stable_sorter.hpp - a stable sort that allocates nothing once it is warm, as std::stable_sort does each
// time. Tested in tests/search/stable_sorter_test.cpp.
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Keeps the memory that sorting needs: a number for each element of the longest list so far. Copyable.
class stable_sorter {
 public:
  /// Sorts; of equal ones the earlier one stays before the later one.
  template <class T, class Better>
  void sort(std::vector<T>& all, Better&& better) {
    places_.resize(all.size());
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i] = i;
    std::sort(places_.begin(), places_.end(), [&](std::size_t a, std::size_t b) {
      return better(all[a], all[b]) || (a < b && !better(all[b], all[a]));
    });
    // places_[i] is where that comes from which belongs at i: circles, and each is walked once.
    for (std::size_t first = 0; first < places_.size(); ++first) {
      std::size_t at = first;
      while (places_[at] != first) {
        const std::size_t from = places_[at];
        std::swap(all[at], all[from]);
        places_[at] = at;
        at = from;
      }
      places_[at] = at;
    }
  }

 private:
  std::vector<std::size_t> places_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
