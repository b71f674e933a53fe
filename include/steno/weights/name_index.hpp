// steno/weights/name_index.hpp - finds items of a vector by their unique names: indices in sorted order.
//
// Holds numbers only, so the vector and its index may be moved together. Tested in tests/weights/gguf_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/sorting.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

namespace detail {
STENO_COLD inline std::vector<std::size_t> order_of_names(const std::vector<std::string_view>& names) {
  std::vector<std::size_t> order;
  core::sort_places(order, names.size(), [&](std::size_t a, std::size_t b) { return names[a] < names[b]; });
  return order;
}
}  // namespace detail

/// Index over the member `Name` (a string_view) of T.
template <class T, std::string_view T::*Name>
class name_index {
 public:
  /// Index of no items.
  name_index() = default;
  /// Sorts the names of `items`; n log n.
  STENO_COLD explicit name_index(const std::vector<T>& items) {
    std::vector<std::string_view> names(items.size());
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = items[i].*Name;
    order_ = detail::order_of_names(names);
  }

  /// A name that occurs more than once.
  STENO_COLD std::optional<std::string_view> duplicate(const std::vector<T>& items) const {
    for (std::size_t i = 1; i < order_.size(); ++i)
      if (items[order_[i]].*Name == items[order_[i - 1]].*Name) return items[order_[i]].*Name;
    return std::nullopt;
  }
  /// The item with exactly this name, or null. `items` is the vector that was indexed.
  const T* find(const std::vector<T>& items, std::string_view name) const {
    const auto at = std::lower_bound(order_.begin(), order_.end(), name,
                                     [&](std::size_t i, std::string_view n) { return items[i].*Name < n; });
    return at != order_.end() && items[*at].*Name == name ? &items[*at] : nullptr;
  }

 private:
  std::vector<std::size_t> order_;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
