// steno/layers/fsmn.hpp - FSMN memory: a depthwise convolution over time.
//
//   y[t] = sum_j taps[j] * x[t + j - left],  rows outside of the clip are zero
//
// FunASR `MultiHeadedAttentionSANM.forward_fsmn` (without its residual, which the caller adds). taps [Taps, D]: the
// checkpoint's (D, 1, Taps) is stored transposed, tap by tap. Symmetric: left = (Taps - 1) / 2. One-sided (FSMN-VAD's
// `FSMNBlock`, lorder taps, the last one on the present frame): left = Taps - 1. Exact f32.
// Tested in tests/layers/fsmn_test.cpp.
#pragma once
#include <steno/kernels/depthwise.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

namespace steno::inline STENO_ABI {

template <extent Taps, extent D>
struct fsmn {
  static constexpr extent input = D, output = D;

  weight<Taps, D, dtype::f32, use::rows> taps;

  void members(auto&& v) { v("weight", taps); }
  extent input_size() const noexcept { return taps.cols(); }
  extent output_size() const noexcept { return taps.cols(); }

  /// x [frames, D] -> y [frames, D]; y must not be x.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    kernels::depthwise(read(x), taps.floats(), taps.rows(), (taps.rows() - 1) / 2, write(y), c.run);
  }
  /// One-sided: x [Taps - 1 + frames, D] begins with the rows before -> y [frames, D].
  void one_sided(view<const float, dynamic, D> x, view<float, dynamic, D> y, context& c) const {
    kernels::depthwise(read(x), taps.floats(), taps.rows(), 0, write(y), c.run);
  }
};

}  // namespace steno::inline STENO_ABI
