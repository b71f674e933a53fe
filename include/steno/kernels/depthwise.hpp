// steno/kernels/depthwise.hpp - convolution of each column with its own taps along time, with zeros outside.
//
//   y[t][d] = sum_j taps[j][d] * x[t + j - left][d],  j = 0 .. count - 1;  with rows to add: rows[t][d] + factor * that
// as torch.nn.Conv1d(groups = D) on rows [T, D]: `left` zeros before, as many behind as the formula needs. Exact
// f32, summed in the order of j. Body: generic/depthwise.inl. Tested in tests/kernels/depthwise_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/kernels/row_tiles.hpp>

#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// What a convolution is added to: y = rows + factor * convolution. `rows` may be y itself (same stride), and must not
/// overlap it otherwise.
struct depthwise_sum {
  const float* rows = nullptr;  ///< as many as y has; null: nothing is added
  extent stride = 0;            ///< floats from one of them to the next
  float factor = 1;
};

/// x [T, D], taps row-major [count, D], y [up to T, D]; 0 <= left. y must not be x. One-sided: left = count -
/// 1, or left = 0 where x begins count - 1 rows before y.
STENO_KERNEL_API void depthwise(const view<const float>& x, const float* taps, extent count, extent left,
                                const view<float>& y, const executor& run, const depthwise_sum& sum = {});

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/depthwise.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void depthwise(const view<const float>& x, const float* taps, extent count, extent left,
                                 const view<float>& y, const executor& run, const depthwise_sum& sum) {
  const auto rows = STENO_KERNEL(depthwise_rows);
  float* const out = view<float>(y).data();
  detail::run_row_tiles(run, y.rows(), x.cols(), [&](extent first, extent last) {
    rows(x.data(), x.outerStride(), x.rows(), x.cols(), taps, count, left, sum, out, y.outerStride(), first, last);
  });
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
