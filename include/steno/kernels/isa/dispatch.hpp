// steno/kernels/isa/dispatch.hpp - chooses one of the functions that for_each.hpp compiled, once per call.
//
// Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/cpu.hpp>

#include <algorithm>
#include <cstddef>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {

/// The function of the active level, or of the highest below it that has one of its own: vnni, dotprod and i8mm add
/// nothing for floats. (AVX-VNNI, between two that have, is handed the lower one's.)
template <class F, class... Higher>
F* choose(F* scalar, Higher*... higher) noexcept {
  F* const functions[] = {scalar, higher...};
  return functions[std::min(static_cast<std::size_t>(active_isa()), sizeof...(higher))];
}

}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno

// The function `name` for the active instruction set; used inside namespace steno::kernels only.
#if defined(__x86_64__)
#define STENO_KERNEL(name) detail::choose(&scalar::name, &avx2::name, &avx2::name, &avx512::name)
#elif defined(__aarch64__)
#define STENO_KERNEL(name) detail::choose(&scalar::name, &neon::name)
#else
#define STENO_KERNEL(name) (&scalar::name)
#endif
