// steno/kernels/elementwise.hpp - sums, multiples and activations of matrices, value by value.
//
//   add: a + b; scale: factor * x; relu: max(x, 0); sigmoid: 1 / (1 + e^-x); silu: x sigmoid(x); tanh;
//   gelu: x (1 + erf(x / sqrt 2)) / 2 (torch.nn.GELU's exact form)
// All matrices of a call have one shape. On the calling thread, but for sums that are given an executor.
// Body: generic/elementwise.inl. Tested in tests/kernels/elementwise_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/kernels/row_tiles.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// y = a + b. y may be a or b.
STENO_KERNEL_API void add(const view<const float>& a, const view<const float>& b, const view<float>& y,
                          const executor& run = {});

/// y = factor * x. y may be x.
STENO_KERNEL_API void scale(const view<const float>& x, float factor, const view<float>& y) noexcept;

/// y = max(x, 0); NaN stays NaN. y may be x, here and below.
STENO_KERNEL_API void apply_relu(const view<const float>& x, const view<float>& y) noexcept;
/// y = x Phi(x), Phi the normal distribution. Error below 4e-7 |y| + 2e-7 |x|; small tails keep their relative
/// accuracy.
STENO_KERNEL_API void apply_gelu(const view<const float>& x, const view<float>& y) noexcept;
/// y = x / (1 + e^-x)
STENO_KERNEL_API void apply_silu(const view<const float>& x, const view<float>& y) noexcept;
/// y = 1 / (1 + e^-x)
STENO_KERNEL_API void apply_sigmoid(const view<const float>& x, const view<float>& y) noexcept;
/// y = tanh(x), within 3 ulp
STENO_KERNEL_API void apply_tanh(const view<const float>& x, const view<float>& y) noexcept;

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/elementwise.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

namespace detail {
/// Calls f(offset in x, offset in y, count) for each row, or once where both are contiguous.
template <class F>
void each_row(const view<const float>& x, const view<float>& y, F f) {
  if (x.outerStride() == x.cols() && y.outerStride() == x.cols()) return f(extent{0}, extent{0}, x.size());
  for (extent t = 0; t < x.rows(); ++t) f(t * x.outerStride(), t * y.outerStride(), x.cols());
}
inline void apply(void (*row)(const float*, float*, extent) noexcept, const view<const float>& x,
                  const view<float>& y) noexcept {
  float* const out = view<float>(y).data();
  each_row(x, y, [&](extent from, extent to, extent count) { row(x.data() + from, out + to, count); });
}
}  // namespace detail

STENO_KERNEL_BODY void add(const view<const float>& a, const view<const float>& b, const view<float>& y,
                           const executor& run) {
  const auto row = STENO_KERNEL(add_row);
  float* const out = view<float>(y).data();
  detail::run_row_tiles(run, a.rows(), a.cols(), [&](extent first, extent last) {
    for (extent t = first; t < last; ++t)
      row(a.data() + t * a.outerStride(), b.data() + t * b.outerStride(), out + t * y.outerStride(), a.cols());
  });
}

STENO_KERNEL_BODY void scale(const view<const float>& x, float factor, const view<float>& y) noexcept {
  const auto row = STENO_KERNEL(scale_row);
  float* const out = view<float>(y).data();
  detail::each_row(x, y, [&](extent from, extent to, extent n) { row(x.data() + from, factor, out + to, n); });
}

STENO_KERNEL_BODY void apply_relu(const view<const float>& x, const view<float>& y) noexcept {
  detail::apply(STENO_KERNEL(relu_row), x, y);
}

STENO_KERNEL_BODY void apply_gelu(const view<const float>& x, const view<float>& y) noexcept {
  detail::apply(STENO_KERNEL(gelu_row), x, y);
}

STENO_KERNEL_BODY void apply_silu(const view<const float>& x, const view<float>& y) noexcept {
  detail::apply(STENO_KERNEL(silu_row), x, y);
}

STENO_KERNEL_BODY void apply_sigmoid(const view<const float>& x, const view<float>& y) noexcept {
  detail::apply(STENO_KERNEL(sigmoid_row), x, y);
}

STENO_KERNEL_BODY void apply_tanh(const view<const float>& x, const view<float>& y) noexcept {
  detail::apply(STENO_KERNEL(tanh_row), x, y);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
