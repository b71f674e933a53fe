// steno/layers/spread_rows.hpp - a transposed convolution whose kernel is as long as its stride: a few rows of each.
//
//   y[taps * t + k] = W_k x[t] + b,  k = 0 .. taps - 1
//
// torch.nn.ConvTranspose1d(D, D, taps, taps), so no two rows of x meet in a row of y. The checkpoint's [in, out, taps]
// is kept as a matrix [taps * out, in]: one product, whose rows are `taps` rows side by side. Tested in
// tests/layers/spread_rows_test.cpp and on golden stages "upsample_cnn".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, D] -> y [Taps * frames, D]; y must not be x.
template <extent D, extent Taps>
struct spread_rows {
  static_assert(core::is_static(Taps) && Taps > 0, "steno: how many rows are made of each is part of the type");
  static constexpr extent input = D, output = D;

  weights::weight<core::times(Taps, D), D> w;  ///< [Taps * D, D]
  weights::vector_weight<D> b;                 ///< [D]

  void members(auto&& v) {
    v("weight", w, core::stored::spread_kernel(Taps));
    v("bias", b);
    v.equal("rows of weight and the bias for each of its taps", w.rows(), Taps * b.cols());
    v.equal("widths of a row before and after", w.cols(), b.cols());
  }
  extent input_size() const noexcept { return w.cols(); }
  extent output_size() const noexcept { return w.cols(); }
  /// Rows that `frames` give.
  extent rows(extent frames) const noexcept { return Taps * frames; }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    const extent d = input_size();
    core::workspace::frame scratch(c.scratch);
    float* const bias = scratch.template take<float>(static_cast<std::size_t>(Taps * d));
    for (extent k = 0; k < Taps; ++k) std::copy_n(b.floats(), d, bias + k * d);
    const bool joined = y.outerStride() == d;
    auto made =
        joined ? core::make_view(y.data(), x.rows(), Taps * d) : core::write(scratch.matrix(x.rows(), Taps * d));
    kernels::matmul(core::read(x), w.ref(), {.bias = bias}, made, c);
    if (!joined) y = core::make_view<dynamic, D>(static_cast<const float*>(made.data()), Taps * x.rows(), d);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
