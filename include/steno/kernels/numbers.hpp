// steno/kernels/numbers.hpp - whether what was computed is numbers: one pass over a matrix.
//
// Finite weights may overflow, and NaN has no place in a search (search/scores.hpp). Body: generic/numbers.inl. Tested
// in tests/kernels/numbers_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/kernels/row_tiles.hpp>

#include <atomic>
#include <limits>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Whether no value of x [T, N] is NaN; infinities are numbers.
STENO_KERNEL_API bool all_numbers(const view<const float>& x, const executor& run);
/// Whether no value of x [T, N] is NaN or infinite.
STENO_KERNEL_API bool all_finite(const view<const float>& x, const executor& run);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#define STENO_KERNEL_FILE <steno/kernels/generic/numbers.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

namespace detail {
/// Whether `good` holds for every row.
inline bool every_row(bool (*good)(const float*, extent) noexcept, const view<const float>& x, const executor& run) {
  std::atomic<bool> all{true};
  run_row_tiles(run, x.rows(), x.cols(), [&](extent first, extent last) {
    for (extent t = first; t < last; ++t)
      if (!good(x.data() + t * x.outerStride(), x.cols())) all.store(false, std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}
}  // namespace detail

STENO_KERNEL_BODY bool all_numbers(const view<const float>& x, const executor& run) {
  return detail::every_row(STENO_KERNEL(row_is_numbers), x, run);
}
STENO_KERNEL_BODY bool all_finite(const view<const float>& x, const executor& run) {
  return detail::every_row(STENO_KERNEL(row_is_finite), x, run);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
