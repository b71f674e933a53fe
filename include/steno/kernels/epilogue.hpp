// steno/kernels/epilogue.hpp - what happens to a product before it is stored: y = act(scale * p + bias) + residual.
//
// Every kernel computes fma(scale, p, bias), then the activation, then the sum, so with none and relu the results of
// all instruction sets differ only where p does. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/core/fused.hpp>

#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// relu: max(v, 0). gelu: v/2 (1 + erf(v / sqrt 2)), the exact form. silu: v / (1 + exp(-v)).
enum class activation { none, relu, gelu, silu };

/// y[m, n] = act(scale * p[m, n] + bias[n]) + residual[m * residual_stride + n]. Null pointers stand for zeros.
/// residual may be y itself (same stride); it must not overlap y otherwise.
struct epilogue {
  const float* bias = nullptr;
  activation act = activation::none;
  const float* residual = nullptr;
  extent residual_stride = 0;
  float scale = 1;
};

namespace detail {
inline float activate(activation act, float v) noexcept {
  switch (act) {
    case activation::relu:
      return v > 0 ? v : 0;
    case activation::gelu:
      return 0.5f * v * (1.0f + std::erf(v * 0.70710678118654752f));
    case activation::silu:
      return v / (1.0f + std::exp(-v));
    default:
      return v;
  }
}

/// The epilogue of one value of row m, column n.
inline float finish(const epilogue& e, float p, extent m, extent n) noexcept {
  const float v = activate(e.act, core::fused_multiply_add(e.scale, p, e.bias != nullptr ? e.bias[n] : 0.0f));
  return e.residual != nullptr ? v + e.residual[m * e.residual_stride + n] : v;
}
}  // namespace detail

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
