// steno/kernels/product/tables.hpp - the product kernels of each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/cpu.hpp>
#include <steno/kernels/product/table.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {

STENO_KERNEL_API const product_table& table_of(isa level) noexcept;

}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#include <steno/kernels/product/reference.hpp>
#if defined(__x86_64__)
#include <steno/kernels/product/amx.hpp>
#include <steno/kernels/product/avx512bf16.hpp>
#include <steno/kernels/product/avxvnni.hpp>
#elif defined(__aarch64__)
#include <steno/kernels/product/neon_i8mm.hpp>
#elif defined(__wasm_simd128__)
#include <steno/kernels/product/simd128.hpp>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY const detail::product_table& detail::table_of(isa level) noexcept {
#if defined(__x86_64__)
  switch (level) {
    case isa::amx:
      return amx::product_kernels<>;
    case isa::avx512vnni:
      return multiplies_bfloats_fast() ? avx512bf16::product_kernels<> : avx512vnni::product_kernels<>;
    case isa::avx512:
      return avx512::product_kernels<>;
    case isa::avxvnni:
      return avxvnni::product_kernels<>;
    case isa::avx2:
      return avx2::product_kernels<>;
    default:
      break;
  }
#elif defined(__aarch64__)
  switch (level) {
    case isa::neon_i8mm:
      return neon_i8mm::product_kernels<>;
    case isa::neon_dotprod:
      return neon_dotprod::product_kernels<>;
    case isa::neon:
      return neon::product_kernels<>;
    default:
      break;
  }
#elif defined(__wasm_simd128__)
  if (level == isa::simd128) return simd128::product_kernels<>;
#endif
  (void)level;
  return scalar::product_kernels<>;
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
