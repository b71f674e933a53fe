// steno/core/view.hpp - tensors are Eigen's: row-major maps with an outer stride that own nothing.
//
// view<float, dynamic, 512> is [frames, 512] with any distance between rows; rows are contiguous inside. Static and
// dynamic extents convert into each other with `as<>`. Tested in tests/core/view_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <concepts>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {

/// A matrix that owns its values, row by row; static or dynamic extents.
template <class T, extent R, extent C>
using matrix = Eigen::Matrix<T, static_cast<int>(R), static_cast<int>(C), Eigen::RowMajor>;

namespace core::detail {
template <class T, extent R, extent C>
using map_target = std::conditional_t<std::is_const_v<T>, const matrix<std::remove_const_t<T>, R, C>, matrix<T, R, C>>;
}

template <class T, extent R = dynamic, extent C = dynamic>
class view;

namespace core::detail {
template <class T, extent R, extent C>
using view_base = Eigen::Map<map_target<T, R, C>, Eigen::Unaligned, Eigen::OuterStride<>>;

/// Row-major Eigen objects over contiguous rows (matrices, maps, blocks of rows) that may be seen as view<T, R, C>.
template <class M, class T, extent R, extent C>
concept viewable = requires(M& m) {
  { m.data() } -> std::convertible_to<T*>;
  { m.outerStride() } -> std::convertible_to<extent>;
}
&&std::is_lvalue_reference_v<M&> &&
    (std::remove_cvref_t<M>::IsRowMajor != 0) && std::remove_cvref_t<M>::InnerStrideAtCompileTime == 1 &&
    compatible(std::remove_cvref_t<M>::RowsAtCompileTime, R) &&
    compatible(std::remove_cvref_t<M>::ColsAtCompileTime, C);
}  // namespace core::detail

/// Row-major [R, C] view, unaligned, with an outer stride: an Eigen::Map that also converts from the user's own
/// row-major matrices, from blocks of rows, and from mutable to const. Never owns. Static sizes that differ do not
/// compile; sizes that are known at run time only are checked in debug builds.
template <class T, extent R, extent C>
class view : public core::detail::view_base<T, R, C> {
 public:
  /// The Eigen map that does the work.
  using base = core::detail::view_base<T, R, C>;
  using base::base;
  using base::operator=;
  view(const view& other) noexcept : base(other) {}
  view& operator=(const view& other) {  // as all of Eigen's maps: copies the values
    base::operator=(other);
    return *this;
  }
  /// Refers to the values of a row-major Eigen object, which must outlive the view.
  template <class M>
  requires(!std::is_same_v<std::remove_cvref_t<M>, view> && core::detail::viewable<std::remove_reference_t<M>, T, R, C>)
      view(M&& m)
  noexcept : base(m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.outerStride())) {}
};

}  // namespace STENO_ABI
}  // namespace steno

// A view is to Eigen what its map is.
template <class T, steno::extent R, steno::extent C>
struct Eigen::internal::traits<steno::view<T, R, C>> : Eigen::internal::traits<typename steno::view<T, R, C>::base> {};

namespace steno {
inline namespace STENO_ABI {

/// Contiguous row vector view of N values.
template <class T, extent N = dynamic>
using vector_view = Eigen::Map<core::detail::map_target<T, 1, N>, Eigen::Unaligned>;

namespace core {
/// View of `rows` x `cols` values at `data`, rows `stride` apart (default: contiguous).
template <extent R = dynamic, extent C = dynamic, class T>
view<T, R, C> make_view(T* data, extent rows, extent cols, extent stride = 0) {
  return view<T, R, C>(data, rows, cols, Eigen::OuterStride<>(stride == 0 ? cols : stride));
}

/// The same memory with other static extents and perhaps const; sizes must agree (checked in debug builds).
template <class T, extent R, extent C, class M>
view<T, R, C> as(M&& m) {
  if constexpr (std::is_same_v<std::remove_cvref_t<M>, view<T, R, C>>)
    return m;
  else
    return view<T, R, C>(m.data(), m.rows(), m.cols(), Eigen::OuterStride<>(m.outerStride()));
}

/// Read-only [rows, dynamic] form, the argument type of run-time sized kernels.
template <class M>
view<const float> read(const M& m) {
  return as<const float, dynamic, dynamic>(m);
}
/// Writable run-time sized form.
template <class M>
view<float> write(M&& m) {
  return as<float, dynamic, dynamic>(m);
}
}  // namespace core

}  // namespace STENO_ABI
}  // namespace steno
