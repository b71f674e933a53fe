// steno/kernels/product/avx2_rows.hpp - one or two rows of x by block-scaled weights with vpmaddubsw.
//
// Quants of four, five and six bits stay unsigned: times int8, sums of eight such products of four or five bits, and of
// four of six bits, fit in 16 bits (8 * 31 * 127, 4 * 63 * 127), so that little is widened. Those of eight bits are
// multiplied as in avx2.hpp. The walk: product/int8_rows.inl.
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/isa/avx2.hpp>
#include <steno/kernels/product/table.hpp>

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <steno/kernels/isa/region_avx2_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx2 {
namespace product {

inline constexpr int byte_lanes = 32;
#include <steno/kernels/product/unpack.inl>

/// The same four values in all columns.
STENO_INLINE __m256i four_of(const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  return _mm256_set1_epi32(four);
}
/// v, of which the compiler knows nothing: gcc 12 would add up a block's sums as a tree, for which registers are too
/// few.
STENO_INLINE __m256i opaque(__m256i v) {
  asm("" : "+x"(v));
  return v;
}
/// Eight columns' products of four values: size = |w| as u8, x with the sign of w, in pairs and then fours.
STENO_INLINE __m256i dot_fours(__m256i d, __m256i w, __m256i size, const std::int8_t* x) {
  const __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(four_of(x), w));
  return _mm256_add_epi32(d, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
/// Four values of eight columns.
STENO_INLINE __m256i eight_of(const std::byte* quants) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(quants));
}
STENO_INLINE __m256i weights_of(const std::byte* quants) {
  return _mm256_xor_si256(eight_of(quants), _mm256_set1_epi8(-128));
}

struct counts {
  __m256i lo, hi;
};
inline constexpr bool signed_bytes = true, sums_in_registers = false;
inline constexpr int few_rows(int) { return 2; }
inline constexpr int pair_rows = 1;

STENO_INLINE counts start_at(float start) {
  const __m256i all = _mm256_castps_si256(_mm256_set1_ps(start));
  return {all, all};
}
STENO_INLINE f32x16 as_floats(counts d) { return {_mm256_castsi256_ps(d.lo), _mm256_castsi256_ps(d.hi)}; }

template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...>, counts* d, const std::int8_t* x, const std::byte* block,
                           std::size_t next_group);

#include <steno/kernels/product/int8_rows.inl>

/// d[I] += four values of row I / C by 16 columns of group I % C.
template <int C, int... I>
STENO_INLINE void dot_bytes(std::integer_sequence<int, I...>, counts* d, const std::int8_t* x, const std::byte* vector,
                            std::size_t next_group) {
  const auto dot = [&](__m256i sums, const std::byte* eight, extent row) __attribute__((always_inline)) {
    asm volatile("" ::: "memory");
    const __m256i w = weights_of(eight);
    return opaque(dot_fours(sums, w, _mm256_abs_epi8(w), x + row * detail::block));
  };
  ((d[I].lo = dot(d[I].lo, vector + I % C * next_group, I / C)), ...);
  ((d[I].hi = dot(d[I].hi, vector + I % C * next_group + 32, I / C)), ...);
}
/// Eight columns' sums of pairs of products by vector J.
template <int Bits, int J>
STENO_INLINE __m256i pairs_of(const std::byte* block, const std::int8_t* x) {
  return _mm256_maddubs_epi16(reinterpret_cast<__m256i>(quants_of<Bits, J>(block)), four_of(x + 4 * J));
}
/// Eight columns by vectors First to First + 3.
template <int Bits, int First>
STENO_INLINE __m256i dot_quants(__m256i d, const std::byte* block, const std::int8_t* x) {
  asm volatile("" ::: "memory");  // otherwise gcc keeps what was loaded for other rows and halves
  const __m256i one = _mm256_set1_epi16(1);
  __m256i pairs = opaque(_mm256_add_epi16(pairs_of<Bits, First>(block, x), pairs_of<Bits, First + 1>(block, x)));
  if constexpr (Bits == 6) {
    d = opaque(_mm256_add_epi32(d, _mm256_madd_epi16(pairs, one)));
    pairs = pairs_of<Bits, First + 2>(block, x);
  } else {
    pairs = opaque(_mm256_add_epi16(pairs, pairs_of<Bits, First + 2>(block, x)));
  }
  pairs = _mm256_add_epi16(pairs, pairs_of<Bits, First + 3>(block, x));
  return opaque(_mm256_add_epi32(d, _mm256_madd_epi16(pairs, one)));
}
template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, counts* d, const std::int8_t* x,
                           const std::byte* block, std::size_t next_group) {
  const auto group = [&](int i) __attribute__((always_inline)) { return block + (i % C == 0 ? 0 : next_group); };
  if constexpr (Bits == 8) {
    for (int j = First; j < First + 4; ++j) dot_bytes<C>(all, d, x + 4 * j, block + 64 * j, next_group);
  } else {
    ((d[I].lo = dot_quants<Bits, First>(d[I].lo, group(I), x + I / C * detail::block)), ...);
    ((d[I].hi = dot_quants<Bits, First>(d[I].hi, group(I) + 32, x + I / C * detail::block)), ...);
  }
}

inline extent int8_few(int bits) noexcept { return few_rows(bits); }

}  // namespace product
}  // namespace kernels::avx2
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
