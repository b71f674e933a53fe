// steno/kernels/product/avxvnni_rows.hpp - up to five rows of x by block-scaled weights with vpdpbusd of 256 bits.
//
// The walk: product/int8_rows.inl. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/avx2.hpp>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avxvnni_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avxvnni {
namespace product {
using avx2::f32x16, avx2::load, avx2::load_f16, avx2::load_i8, avx2::store, avx2::zero, avx2::broadcast, avx2::fma;
using avx2::operator*;
using avx2::product::quants_of, avx2::product::four_of, avx2::product::eight_quants, avx2::product::shared_quants;

/// Not avx2::product::counts: by that type its functions would be found beside these.
struct counts {
  __m256i lo, hi;
};
inline constexpr bool signed_bytes = false, sums_in_registers = false;
/// As many rows as are faster so than in tiles.
inline constexpr int few_rows(int bits) { return bits == 8 ? 5 : 3; }
inline constexpr int pair_rows = 1;

/// In all columns, the integer that a start's bits are.
STENO_INLINE counts start_at(float start) {
  const __m256i all = _mm256_castps_si256(_mm256_set1_ps(start));
  return {all, all};
}
STENO_INLINE f32x16 as_floats(counts d) { return {_mm256_castsi256_ps(d.lo), _mm256_castsi256_ps(d.hi)}; }

template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...>, counts* d, const std::int8_t* x, const std::byte* block,
                           std::size_t next_group);

#include <steno/kernels/product/int8_rows.inl>

/// d[I].lo and .hi += four values of row I by vector J.
template <int Bits, int J, int... I>
STENO_INLINE void dot_vector(std::integer_sequence<int, I...>, counts* d, const std::int8_t* x,
                             const std::byte* block) {
  const auto eight = [&](__m256i counts::*part, const std::byte* p) __attribute__((always_inline)) {
    asm volatile("" ::: "memory");  // both at once would be spilled
    const auto w = reinterpret_cast<__m256i>(quants_of<Bits, J>(p));
    ((d[I].*part = _mm256_dpbusd_avx_epi32(d[I].*part, w, four_of(x + 4 * J + I * detail::block))), ...);
  };
  eight(&counts::lo, block);
  eight(&counts::hi, block + 32);
}
/// sums + eight columns by sixteen values of one row, from 4 First on.
template <int Bits, int First>
STENO_INLINE __m256i dot_sixteen(__m256i sums, const std::byte* block, __m256i a, __m256i b, __m256i c, __m256i d) {
  asm volatile("" ::: "memory");  // otherwise gcc keeps what was loaded for other groups and halves
  const __m256i even = shared_quants<Bits, 0, 1>(block), odd = shared_quants<Bits, 1, 1>(block);
  sums = _mm256_dpbusd_avx_epi32(sums, eight_quants<Bits, First>(block, even, odd), a);
  sums = _mm256_dpbusd_avx_epi32(sums, eight_quants<Bits, First + 1>(block, even, odd), b);
  sums = _mm256_dpbusd_avx_epi32(sums, eight_quants<Bits, First + 2>(block, even, odd), c);
  return _mm256_dpbusd_avx_epi32(sums, eight_quants<Bits, First + 3>(block, even, odd), d);
}
template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, counts* d, const std::int8_t* x,
                           const std::byte* block, std::size_t next_group) {
  static_assert(C == 1 || sizeof...(I) == C, "one row by two groups, or rows by one");
  if constexpr (sizeof...(I) == C) {  // a row's values stay in registers for all columns
    x += 4 * First;
    const __m256i fours[] = {four_of(x), four_of(x + 4), four_of(x + 8), four_of(x + 12)};
    const auto eight = [&](auto& sums, const std::byte* p) __attribute__((always_inline)) {
      sums = dot_sixteen<Bits, First>(sums, p, fours[0], fours[1], fours[2], fours[3]);
    };
    ((eight(d[I].lo, block + I * next_group), eight(d[I].hi, block + I * next_group + 32)), ...);
  } else {
    dot_vector<Bits, First>(all, d, x, block);
    dot_vector<Bits, First + 1>(all, d, x, block);
    dot_vector<Bits, First + 2>(all, d, x, block);
    dot_vector<Bits, First + 3>(all, d, x, block);
  }
}

inline extent int8_few(int bits) noexcept { return few_rows(bits); }

}  // namespace product
}  // namespace kernels::avxvnni
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
