// steno/layers/layer_norm.hpp - y = (x - mean) / sqrt(variance + eps) * weight + bias, per row.
//
// torch.nn.LayerNorm: biased variance over the last axis. eps = 10^-Exponent: 1e-5 in SenseVoice (its own class), 1e-12
// in FunASR's shared transformer layers. x [frames, D]; y may be x. Tested in tests/layers/layer_norm_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/norm.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Layer norm of each row: x [frames, D] -> y [frames, D]; y may be x.
template <extent D, int Exponent = 5>
struct layer_norm {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  /// What is added to the variance: 10^-Exponent.
  static constexpr float epsilon = [] {
    double e = 1;
    for (int i = 0; i < Exponent; ++i) e /= 10;
    return static_cast<float>(e);
  }();

  weights::vector_weight<D> w;  ///< factor of each column
  weights::vector_weight<D> b;  ///< added to each column

  void members(auto&& v) {
    v("weight", w);
    v("bias", b);
    v.equal("lengths of weight and bias", w.cols(), b.cols());
  }
  extent input_size() const noexcept { return w.cols(); }
  extent output_size() const noexcept { return w.cols(); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    kernels::layer_norm(core::read(x), w.floats(), b.floats(), epsilon, core::write(y), c.run);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
