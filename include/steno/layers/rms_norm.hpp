// steno/layers/rms_norm.hpp - y = x / sqrt(mean(x^2) + eps) * weight, per row.
//
// `Qwen3RMSNorm` (transformers): no mean is taken off, no bias. eps = 10^-Exponent. x [rows, D]; y may be x. Over the
// heads of queries and keys: each head is a row. Tested in tests/layers/rms_norm_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/norm.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// RMS norm of each row: x [rows, D] -> y [rows, D]; y may be x.
template <extent D, int Exponent = 6>
struct rms_norm {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;
  /// What is added to the mean of squares: 10^-Exponent.
  static constexpr float epsilon = [] {
    double e = 1;
    for (int i = 0; i < Exponent; ++i) e /= 10;
    return static_cast<float>(e);
  }();

  weights::vector_weight<D> w;  ///< factor of each column

  void members(auto&& v) { v("weight", w); }
  extent input_size() const noexcept { return w.cols(); }
  extent output_size() const noexcept { return w.cols(); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    kernels::rms_norm(core::read(x), w.floats(), epsilon, core::write(y), c.run);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
