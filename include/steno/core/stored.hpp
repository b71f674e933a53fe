// steno/core/stored.hpp - how a checkpoint stores a weight that steno keeps otherwise; stands beside the weight's name.
//
//   v("depthwise_conv.weight", taps, stored::taps().after_norm("norm"));
//
// Only what reads foreign checkpoints looks at it (tools/convert); loading a packaged file never does. Beside a member
// that has a matrix and vectors, it is the matrix's. Tested in tests/convert/model_tensors_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>

#include <cstdint>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// How a checkpoint stores a weight [rows, cols] of steno's.
struct stored {
  /// How the values are laid out in the checkpoint.
  enum class form : std::uint8_t {
    same,         ///< as it is kept
    heads,        ///< [heads, d / heads], kept as [d]
    taps,         ///< a depthwise kernel [D, 1, taps...], kept tap by tap as [taps, D]
    kernel,       ///< a convolution's [out, in, taps...], kept as [out, taps x in]
    bands_first,  ///< [out, channels x bands], kept as [out, bands x channels]
    spread,       ///< a transposed convolution's [in, out, taps], kept as [taps x out, in]
  };

  /// A vector of a row per head: [heads, d / heads], kept as [d].
  static constexpr stored by_heads(extent heads) { return {.how = form::heads, .first = heads}; }
  /// Along one axis: [D, 1, taps]; `last` 1: [D, 1, taps, 1].
  static constexpr stored taps(extent last = 0) { return {.how = form::taps, .second = last}; }
  /// Along two axes: [D, 1, height, width].
  static constexpr stored taps(extent height, extent width) {
    return {.how = form::taps, .first = height, .second = width};
  }
  /// [out, in, taps], or [out, in, height, width].
  static constexpr stored kernel(extent height, extent width = 0) {
    return {.how = form::kernel, .first = height, .second = width};
  }
  /// [out, in, height, width], kept as [out, width x height x in].
  static constexpr stored turned_kernel(extent height, extent width) {
    stored s = kernel(height, width);
    s.turned = true;
    return s;
  }
  /// Of a convolution that makes `taps` rows of each: [in, out, taps], kept as [taps x out, in].
  static constexpr stored spread_kernel(extent taps) { return {.how = form::spread, .first = taps}; }
  /// A product over channels and bands, channels outermost: [out, channels x bands], kept as [out, bands x channels].
  static constexpr stored bands_first(extent channels) { return {.how = form::bands_first, .first = channels}; }
  /// As it is kept, in f32 whatever format is chosen for the products.
  static constexpr stored floats() { return stored{}.in_floats(); }

  /// The batch norm `name`, which stands beside the convolution that the weight is of, goes into the weight.
  constexpr stored after_norm(std::string_view name) const {
    stored s = *this;
    s.norm = name;
    return s;
  }
  /// A bias that is missing in part of the checkpoints: zeros, before any batch norm.
  constexpr stored or_zeros() const {
    stored s = *this;
    s.zeros = true;
    return s;
  }
  /// The same, in f32 whatever format is chosen for the products.
  constexpr stored in_floats() const {
    stored s = *this;
    s.f32 = true;
    return s;
  }

  form how = form::same;       ///< layout of the checkpoint's values
  bool f32 = false;            ///< in_floats()
  bool zeros = false;          ///< or_zeros()
  bool turned = false;         ///< turned_kernel()
  extent first = 0;            ///< heads; channels; height of a kernel (0: there is no such axis)
  extent second = 0;           ///< width of a kernel (0: there is no such axis)
  std::string_view norm = {};  ///< after_norm()
};

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
