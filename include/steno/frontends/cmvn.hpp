// steno/frontends/cmvn.hpp - mean and variance normalisation with stored statistics: y = (x + shift) * scale.
//
// [T, D] -> [T, D]; shift is minus the mean and scale one over the deviation. Follows FunASR's apply_cmvn
// (wav_frontend.py) and the file am.mvn (<AddShift>, <Rescale>). Without weights rows pass unchanged (published models
// may ship without statistics). Tested in tests/frontends/cmvn_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cassert>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Normalises rows with stored statistics, [T, D] to [T, D], each row by itself. Without weights rows pass unchanged.
/// Const and shared; a stream needs no state.
template <extent D = dynamic>
class cmvn {
 public:
  static constexpr extent input = D, output = D;
  static constexpr std::string_view name = "cmvn";  ///< of the traced stage
  static constexpr bool row_by_row = true;          ///< y may be x

  /// Nothing: rows do not depend on each other.
  struct state {};

  /// Of a static width.
  cmvn() requires(core::is_static(D)) = default;
  /// Of rows of `width` values, which must be D where that is static (checked in debug builds).
  explicit cmvn(extent width) : width_(width) { assert(core::compatible(D, width)); }

  weights::vector_weight<D> shift;  ///< [D], minus the mean; null when rows pass unchanged
  weights::vector_weight<D> scale;  ///< [D], one over the deviation; null when `shift` is
  void members(auto&& v) {
    v.optional("shift", shift);
    v.optional("scale", scale);
    v.require(bool(shift) == bool(scale), "vectors of shift and scale", "both or neither", 1);
    if (shift) v.equal("widths of features and shift", width(), shift.cols());
    if (scale) v.equal("widths of features and scale", width(), scale.cols());
  }

  extent width() const noexcept { return width_.get(); }  ///< values of each row
  extent rows(extent n) const noexcept { return n; }      ///< as many as come in
  state start() const { return {}; }
  extent ready(const state&, extent n) const { return n; }  ///< all of them: nothing waits
  extent at_end(const state&, extent n) const { return n; }
  /// Normalises rows x into y, which may be x.
  void accept(state&, const view<const float>& x, view<float> y, context& c) const { (*this)(x, y, c); }
  /// The same: nothing was held back.
  void finish(state&, const view<const float>& x, view<float> y, context& c) const { (*this)(x, y, c); }

  void operator()(const view<const float>& x, view<float> y, context&) const {
    assert(x.rows() == y.rows() && x.cols() == width() && y.cols() == width());
    const extent n = width();
    for (extent t = 0; t < x.rows(); ++t) {
      const float* const from = x.data() + t * x.outerStride();
      float* const to = y.data() + t * y.outerStride();
      if (shift && scale) {
        const float *a = shift.floats(), *b = scale.floats();
        for (extent i = 0; i < n; ++i) to[i] = (from[i] + a[i]) * b[i];
      } else if (from != to) {
        std::copy_n(from, n, to);
      }
    }
  }

 private:
  core::size_of<D> width_;
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
