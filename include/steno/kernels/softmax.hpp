// steno/kernels/softmax.hpp - softmax and its logarithm over the rows of a matrix.
//
//   softmax:     y[i] = exp(x[i] - max) / sum_j exp(x[j] - max)
//   log_softmax: y[i] = (x[i] - max) - log(sum_j exp(x[j] - max))
// as torch.softmax and torch.log_softmax over the last axis: the largest value is subtracted first, so no finite input
// overflows. -infinity is a probability of 0; a row of nothing else is NaN, as in the original. Body:
// generic/softmax.inl. Tested in tests/kernels/softmax_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/kernels/row_tiles.hpp>

#include <cmath>
#include <limits>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Softmax of each row of x [T, N] into y [T, N]. y may be x.
STENO_KERNEL_API void softmax(const view<const float>& x, const view<float>& y, const executor& run);

/// Logarithm of the softmax of each row of x [T, N] into y [T, N]. y may be x.
STENO_KERNEL_API void log_softmax(const view<const float>& x, const view<float>& y, const executor& run);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/softmax.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void softmax(const view<const float>& x, const view<float>& y, const executor& run) {
  const auto row = STENO_KERNEL(softmax_row);
  float* const out = view<float>(y).data();
  detail::run_row_tiles(run, x.rows(), x.cols(), [&](extent first, extent last) {
    for (extent t = first; t < last; ++t) row(x.data() + t * x.outerStride(), out + t * y.outerStride(), x.cols());
  });
}

STENO_KERNEL_BODY void log_softmax(const view<const float>& x, const view<float>& y, const executor& run) {
  const auto row = STENO_KERNEL(log_softmax_row);
  float* const out = view<float>(y).data();
  detail::run_row_tiles(run, x.rows(), x.cols(), [&](extent first, extent last) {
    for (extent t = first; t < last; ++t) row(x.data() + t * x.outerStride(), out + t * y.outerStride(), x.cols());
  });
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
