// steno/weights/weight.hpp - one stored matrix: a pointer into the file (or the user's memory), its format and its
// extents.
//
// The format is a run-time tag looked at once per product. Q = dtype::f32 promises float values (the binder converts a
// tensor stored otherwise); Q = dtype::any takes whatever the file holds. Vectors are weight<1, N, dtype::f32>.
// Tested in tests/weights/binder_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/dtype.hpp>
#include <steno/core/view.hpp>

#include <cstddef>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// What a weight is for; decides whether loading packs it for the product kernels, and whether its values as stored are
/// still read then. both: a product whose rows are read, too (an embedding that also gives the logits).
enum class use { product, rows, both };

/// A weight without its types: what kernels take. Row-major [rows, cols] in whole blocks of `format`.
struct weight_ref {
  const std::byte* data = nullptr;    ///< as stored; null when the weight is absent
  const std::byte* packed = nullptr;  ///< layout of kernels/pack.hpp, or null when products read `data` itself
  dtype format = dtype::f32;          ///< of `data`; packed values are another layout of the same
  extent rows = 0;                    ///< outputs of a product, entries of a table
  extent cols = 0;                    ///< values in each row

  /// Bytes from one row of `data` to the next.
  std::size_t row_bytes() const { return core::bytes_of(format, static_cast<std::size_t>(cols)); }
  /// Bytes of `data`.
  std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(rows); }
  /// Row `r` as stored, for 0 <= r < rows; not checked.
  const std::byte* row(extent r) const { return data + static_cast<std::size_t>(r) * row_bytes(); }
};

/// A weight with extents. Copyable; owns nothing: the model (or the user) keeps the memory alive.
template <extent R, extent C, dtype Q = dtype::any, use U = use::product>
struct weight {
  static constexpr extent static_rows = R;   ///< rows, or `dynamic`
  static constexpr extent static_cols = C;   ///< columns, or `dynamic`
  static constexpr dtype static_format = Q;  ///< promised format, or `any`
  static constexpr use purpose = U;          ///< unless it is use::rows: packed when it is loaded

  extent rows() const noexcept { return rows_.get(); }  ///< 0 for a dynamic extent until loading
  extent cols() const noexcept { return cols_.get(); }  ///< 0 for a dynamic extent until loading
  /// Whether the weight is there: loaded or assigned.
  explicit operator bool() const noexcept { return data != nullptr; }
  weight_ref ref() const noexcept { return {data, packed, format, rows(), cols()}; }  ///< without types, for kernels

  /// The values as Eigen sees them; only for weights that promise f32.
  view<const float, R, C> values() const requires(Q == dtype::f32) {
    return core::make_view<R, C>(reinterpret_cast<const float*>(data), rows(), cols());
  }
  /// The values row by row; null when the weight is absent.
  const float* floats() const requires(Q == dtype::f32) { return reinterpret_cast<const float*>(data); }

  /// Takes over sizes where they are dynamic; false when a static one disagrees.
  bool adopt(extent rows, extent cols) noexcept { return rows_.adopt(rows) && cols_.adopt(cols); }

  /// Refers to the user's own values (row-major, contiguous, kept alive by the user). False when sizes disagree.
  template <class M>
  bool assign(const M& m) {
    static_assert(M::IsRowMajor || M::RowsAtCompileTime == 1, "steno weights are row-major");
    if (!adopt(m.rows(), m.cols())) return false;
    data = reinterpret_cast<const std::byte*>(m.data());
    packed = nullptr;
    format = dtype::f32;
    return true;
  }

  struct row_tag : core::size_of<R> {
    using core::size_of<R>::size_of;
  };  // distinct bases: two empty members may share an address only then
  struct col_tag : core::size_of<C> {
    using core::size_of<C>::size_of;
  };
  STENO_NO_UNIQUE_ADDRESS row_tag rows_;  ///< the number of rows where it is dynamic
  STENO_NO_UNIQUE_ADDRESS col_tag cols_;  ///< the number of columns where it is dynamic
  const std::byte* data = nullptr;        ///< as stored; null when the weight is absent
  const std::byte* packed = nullptr;      ///< layout of kernels/pack.hpp, or null when products read `data` itself
  dtype format = dtype::f32;              ///< of `data`; never `any`
};

/// A vector of N floats: one row.
template <extent N>
using vector_weight = weight<1, N, dtype::f32, use::rows>;

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
