// steno/kernels/product/avx2_rows.hpp - up to three rows of x by block-scaled weights with vpmaddubsw.
//
// Quants of two to six bits stay unsigned: times int8, sums of eight such products of up to five bits, and of four of
// six bits, fit in 16 bits (8 * 31 * 127, 4 * 63 * 127), so that little is widened. Those of eight bits are
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
/// As many rows as there are registers for.
inline constexpr int few_rows(int bits) { return bits > 4 ? 2 : 3; }
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
/// Eight columns of a vector of a block whose bits are low ones of several vectors of a tile; without any in other
/// formats. gcc makes it an operand in memory of each of them, and so reads it several times, unless it is kept in a
/// register: of up to two rows there are enough.
template <int Bits, int N, int Rows>
STENO_INLINE __m256i shared_quants(const std::byte* block) {
  if constexpr (detail::low_bits(Bits) >= 4) return __m256i{};
  const __m256i v = eight_of(block + 64 * N);
  return Rows < 3 ? opaque(v) : v;
}
/// Eight columns of vector J of a tile, without bias.
template <int Bits, int J>
STENO_INLINE __m256i eight_quants(const std::byte* block, __m256i even, __m256i odd) {
  const __m256i lower = detail::low_bits(Bits) < 4 ? (J % 2 == 0 ? even : odd) : eight_of(block + lower_at<Bits, J>);
  const __m256i upper = has_upper<Bits> ? eight_of(block + upper_at<Bits, J>) : lower;
  return reinterpret_cast<__m256i>(
      quants_of<Bits, J>(reinterpret_cast<byte_vector>(lower), reinterpret_cast<byte_vector>(upper)));
}
/// d[R].*part += eight columns by values 4 First to 4 First + 15 of row R: a vector comes apart once for all rows. Of
/// one row, its values come in registers, by fours: read for each of the columns, they would take half of the loads.
template <int Bits, int First, int... R, class... Fours>
STENO_INLINE void dot_quants(std::integer_sequence<int, R...>, counts* d, __m256i counts::*part, const std::byte* block,
                             const std::int8_t* x, Fours... fours) {
  asm volatile("" ::: "memory");  // otherwise gcc keeps what was loaded for other groups and halves
  const __m256i even = shared_quants<Bits, 0, sizeof...(R)>(block), odd = shared_quants<Bits, 1, sizeof...(R)>(block);
  const __m256i kept[] = {fours..., __m256i{}};
  const auto four = [&](int j, int row) __attribute__((always_inline)) {
    return sizeof...(Fours) != 0 ? kept[j] : four_of(x + 4 * j + row * detail::block);
  };
  __m256i pairs[sizeof...(R)];
  const auto begin = [&](auto j) __attribute__((always_inline)) {
    const __m256i w = eight_quants<Bits, First + j()>(block, even, odd);
    ((pairs[R] = _mm256_maddubs_epi16(w, four(j(), R))), ...);
  };
  const auto add = [&](auto j) __attribute__((always_inline)) {
    const __m256i w = eight_quants<Bits, First + j()>(block, even, odd);
    ((pairs[R] = opaque(_mm256_add_epi16(pairs[R], _mm256_maddubs_epi16(w, four(j(), R))))), ...);
  };
  const auto widen = [&]() __attribute__((always_inline)) {
    const __m256i one = _mm256_set1_epi16(1);
    ((d[R].*part = opaque(_mm256_add_epi32(d[R].*part, _mm256_madd_epi16(pairs[R], one)))), ...);
  };
  begin(std::integral_constant<int, 0>{});
  add(std::integral_constant<int, 1>{});
  if constexpr (Bits == 6) {
    widen();
    begin(std::integral_constant<int, 2>{});
  } else {
    add(std::integral_constant<int, 2>{});
  }
  add(std::integral_constant<int, 3>{});
  widen();
}
template <int Bits, int First, int C, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, counts* d, const std::int8_t* x,
                           const std::byte* block, std::size_t next_group) {
  static_assert(C == 1 || sizeof...(I) == C, "one row by two groups, or rows by one");
  if constexpr (Bits == 8) {
    for (int j = First; j < First + 4; ++j) dot_bytes<C>(all, d, x + 4 * j, block + 64 * j, next_group);
  } else {
    constexpr std::make_integer_sequence<int, static_cast<int>(sizeof...(I)) / C> rows;
    x += 4 * First;
    const auto group = [&](auto* sums, const std::byte* p, auto... fours) __attribute__((always_inline)) {
      dot_quants<Bits, First>(rows, sums, &counts::lo, p, x, fours...);
      dot_quants<Bits, First>(rows, sums, &counts::hi, p + 32, x, fours...);
    };
    const auto groups = [&](auto... fours) __attribute__((always_inline)) {
      group(d, block, fours...);
      if constexpr (C > 1) group(d + 1, block + next_group, fours...);
    };
    if constexpr (sizeof...(I) == C && Bits % 2 == 0)  // an odd bit takes a mask more, and the last register
      groups(opaque(four_of(x)), opaque(four_of(x + 4)), opaque(four_of(x + 8)), opaque(four_of(x + 12)));
    else
      groups();
  }
}

inline extent int8_few(int bits) noexcept { return few_rows(bits); }

}  // namespace product
}  // namespace kernels::avx2
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
