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
using avx2::product::quants_of, avx2::product::four_of;

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

/// d[I] += four values of row I / C by vector J of group I % C, eight columns of one group after the other: all of them
/// at once would be spilled.
template <int Bits, int J, int C, int... I>
STENO_INLINE void dot_vector(std::integer_sequence<int, I...>, counts* d, const std::int8_t* x, const std::byte* block,
                             std::size_t next_group) {
  const auto dot = [&](__m256i sums, __m256i w, int row) __attribute__((always_inline)) {
    return _mm256_dpbusd_avx_epi32(sums, w, four_of(x + 4 * J + row * detail::block));
  };
  const auto group = [&](auto c, const std::byte* p) __attribute__((always_inline)) {
    asm volatile("" ::: "memory");
    const __m256i lo = reinterpret_cast<__m256i>(quants_of<Bits, J>(p));
    ((I % C == c() ? static_cast<void>(d[I].lo = dot(d[I].lo, lo, I / C)) : void()), ...);
    asm volatile("" ::: "memory");
    const __m256i hi = reinterpret_cast<__m256i>(quants_of<Bits, J>(p + 32));
    ((I % C == c() ? static_cast<void>(d[I].hi = dot(d[I].hi, hi, I / C)) : void()), ...);
  };
  group(std::integral_constant<int, 0>{}, block);
  if constexpr (C > 1) group(std::integral_constant<int, 1>{}, block + next_group);
}
template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, counts* d, const std::int8_t* x,
                           const std::byte* block, std::size_t next_group) {
  dot_vector<Bits, First, C>(all, d, x, block, next_group);
  dot_vector<Bits, First + 1, C>(all, d, x, block, next_group);
  dot_vector<Bits, First + 2, C>(all, d, x, block, next_group);
  dot_vector<Bits, First + 3, C>(all, d, x, block, next_group);
}

inline extent int8_few(int bits) noexcept { return few_rows(bits); }

}  // namespace product
}  // namespace kernels::avxvnni
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
