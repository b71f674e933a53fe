// steno/core/extents.hpp - sizes that are known at compile time or adopted from a file, one by one.
//
// An `extent` is a non-negative size or `dynamic`. `size_of<N>` stores a run-time value only for `dynamic`.
// Tested in tests/core/view_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <Eigen/Core>
#include <cstddef>

namespace steno {
inline namespace STENO_ABI {

/// A number of rows, columns, frames, samples or bytes: Eigen's signed index.
using extent = Eigen::Index;
/// An extent that is known at run time only.
inline constexpr extent dynamic = Eigen::Dynamic;

namespace core {
/// Whether an extent is known at compile time.
constexpr bool is_static(extent n) { return n != dynamic; }

/// Whether a value of extent `a` may stand where `b` is wanted: equal, or one of them only known at run time.
constexpr bool compatible(extent a, extent b) { return a == b || a == dynamic || b == dynamic; }

/// Arithmetic that stays dynamic: times(3, dynamic) == dynamic.
constexpr extent times(extent a, extent b) { return is_static(a) && is_static(b) ? a * b : dynamic; }
/// Sum that stays dynamic: plus(3, dynamic) == dynamic.
constexpr extent plus(extent a, extent b) { return is_static(a) && is_static(b) ? a + b : dynamic; }

/// A size: empty when N is static, a stored value (0 until set) when it is dynamic.
template <extent N>
struct size_of {
  constexpr size_of() = default;
  /// The argument is ignored: the type knows the size.
  constexpr explicit size_of(extent) {}
  static constexpr extent get() noexcept { return N; }
  /// True when `n` is acceptable; a dynamic size takes it over.
  static constexpr bool adopt(extent n) noexcept { return n == N; }
};
/// A size that is known at run time only: a stored value, 0 until it is set.
template <>
struct size_of<dynamic> {
  constexpr size_of() = default;
  /// The size `n`.
  constexpr explicit size_of(extent n) : value(n) {}
  constexpr extent get() const noexcept { return value; }
  /// Takes `n` over; always true.
  constexpr bool adopt(extent n) noexcept {
    value = n;
    return true;
  }
  extent value = 0;  ///< the size; 0 until it is set
};
}  // namespace core

}  // namespace STENO_ABI
}  // namespace steno
