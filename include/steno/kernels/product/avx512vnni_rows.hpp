// steno/kernels/product/avx512vnni_rows.hpp - up to six rows of x by block-scaled weights with vpdpbusd.
//
// The walk: product/int8_rows.inl. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/avx512.hpp>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512vnni {
namespace product {
using avx512::f32x16, avx512::load, avx512::load_f16, avx512::load_i8, avx512::store, avx512::zero, avx512::broadcast;
using avx512::fma, avx512::operator*;
using avx512::product::quants_of;

STENO_INLINE __m512i four_of(const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  return _mm512_set1_epi32(four);
}

using counts = __m512i;
inline constexpr bool signed_bytes = false, sums_in_registers = true;
/// As many rows as there are registers for.
inline constexpr int few_rows(int bits) { return bits == 8 ? 6 : 3; }
inline constexpr int pair_rows = 6;

/// In all columns, the integer that a start's bits are.
STENO_INLINE __m512i start_at(float start) { return _mm512_castps_si512(_mm512_set1_ps(start)); }
STENO_INLINE f32x16 as_floats(__m512i d) { return {_mm512_castsi512_ps(d)}; }

template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...>, __m512i* d, const std::int8_t* x, const std::byte* block,
                           std::size_t next_group);

#include <steno/kernels/product/int8_rows.inl>

/// d[I] += four values of row I / C by vector J of group I % C.
template <int Bits, int J, int C, int... I>
STENO_INLINE void dot_vector(std::integer_sequence<int, I...>, __m512i* d, const std::int8_t* x, const std::byte* block,
                             std::size_t next_group) {
  const std::size_t other = C > 1 ? next_group : 0;
  const __m512i w[] = {reinterpret_cast<__m512i>(quants_of<Bits, J>(block)),
                       reinterpret_cast<__m512i>(quants_of<Bits, J>(block + other))};
  ((d[I] = _mm512_dpbusd_epi32(d[I], w[I % C], four_of(x + 4 * J + I / C * detail::block))), ...);
}
template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, __m512i* d, const std::int8_t* x,
                           const std::byte* block, std::size_t next_group) {
  dot_vector<Bits, First, C>(all, d, x, block, next_group);
  dot_vector<Bits, First + 1, C>(all, d, x, block, next_group);
  dot_vector<Bits, First + 2, C>(all, d, x, block, next_group);
  dot_vector<Bits, First + 3, C>(all, d, x, block, next_group);
}

inline extent int8_few(int bits) noexcept { return few_rows(bits); }

}  // namespace product
}  // namespace kernels::avx512vnni
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
