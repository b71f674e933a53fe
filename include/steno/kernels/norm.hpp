// steno/kernels/norm.hpp - layer norm and RMS norm over the rows of a matrix.
//
//   layer_norm: y = (x - mean) / sqrt(var + eps) * gamma + beta, var biased (divided by the row's length)
//   rms_norm:   y = x / sqrt(mean(x^2) + eps) * gamma
// as torch.nn.LayerNorm and RMSNorm. The variance is taken in a second pass and the mean corrected by it, so a large
// common offset costs no accuracy. Body: generic/norm.inl. Tested in tests/kernels/norm_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/kernels/row_tiles.hpp>

#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Layer norm of each row of x [T, D] into y [T, D]; gamma and beta have D values. y may be x.
STENO_KERNEL_API void layer_norm(const view<const float>& x, const float* gamma, const float* beta, float eps,
                                 const view<float>& y, const executor& run);

/// RMS norm of each row of x [T, D] into y [T, D]; gamma has D values. y may be x.
STENO_KERNEL_API void rms_norm(const view<const float>& x, const float* gamma, float eps, const view<float>& y,
                               const executor& run);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/norm.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void layer_norm(const view<const float>& x, const float* gamma, const float* beta, float eps,
                                  const view<float>& y, const executor& run) {
  const auto row = STENO_KERNEL(layer_norm_row);
  float* const out = view<float>(y).data();
  detail::run_row_tiles(run, x.rows(), x.cols(), [&](extent first, extent last) {
    for (extent t = first; t < last; ++t)
      row(x.data() + t * x.outerStride(), gamma, beta, eps, out + t * y.outerStride(), x.cols());
  });
}

STENO_KERNEL_BODY void rms_norm(const view<const float>& x, const float* gamma, float eps, const view<float>& y,
                                const executor& run) {
  const auto row = STENO_KERNEL(rms_norm_row);
  float* const out = view<float>(y).data();
  detail::run_row_tiles(run, x.rows(), x.cols(), [&](extent first, extent last) {
    for (extent t = first; t < last; ++t)
      row(x.data() + t * x.outerStride(), gamma, eps, out + t * y.outerStride(), x.cols());
  });
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
