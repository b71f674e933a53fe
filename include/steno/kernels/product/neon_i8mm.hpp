// steno/kernels/product/neon_i8mm.hpp - int8 tiles of 4 rows by 16 columns with usmmla; floats as with NEON.
//
// usmmla multiplies two columns by two rows, eight values each; the weights stay unsigned (w + 128), so counters start
// at -128 * sum(x). Eight values of a column are those of two steps, which lie 64 bytes
// apart: they are brought together on the way. An odd last row is paired with itself. Assembly as in neon_dotprod.hpp.
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp, which tests/aarch64 runs on an
// emulator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/neon.hpp>
#include <steno/kernels/product/neon_dotprod.hpp>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_i8mm_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::neon_i8mm {
using neon::load_four;
using neon::store_four;
namespace product {
using neon::product::quad, neon::product::quad_counts, neon::product::add_times;

inline constexpr int int8_rows = 4, quads = 4;
template <int R>
inline constexpr int pairs = (R + 1) / 2;
/// Counter C: pair C % pairs of rows, pair C / pairs of columns.
template <int R>
inline constexpr int counters = 8 * pairs<R>;
/// The second row of pair p.
template <int R>
constexpr int second_of(int p) {
  return 2 * p + 1 < R ? 2 * p + 1 : 2 * p;
}

template <int R, int C>
STENO_INLINE int32x4_t start(const float* starts) {
  constexpr int p = C % pairs<R>;
  const int32x2_t two = vcvt_s32_f32(vset_lane_f32(starts[16 * second_of<R>(p)], vdup_n_f32(starts[32 * p]), 1));
  return vcombine_s32(two, two);
}
/// Eight values of two columns, [column][8]: the first or the second two of four.
template <int Half>
STENO_INLINE uint32x4_t two_columns(const std::byte* quants) {
  const uint32x4_t first = vreinterpretq_u32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(quants)));
  const uint32x4_t second = vreinterpretq_u32_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(quants + 64)));
  return Half == 0 ? vzip1q_u32(first, second) : vzip2q_u32(first, second);
}
/// d[c][r] += the eight products of column c by row r.
STENO_INLINE int32x4_t multiply_pairs(int32x4_t d, uint32x4_t w, int64x2_t x) {
  asm("usmmla %0.4s, %1.16b, %2.16b" : "+w"(d) : "w"(w), "w"(x));
  return d;
}
/// Eight values of two rows, [row][8].
STENO_INLINE int64x2_t two_rows(const std::int8_t* first, const std::int8_t* second) {
  return vreinterpretq_s64_s8(vcombine_s8(vld1_s8(first), vld1_s8(second)));
}
template <int R, int... p, int... C>
STENO_INLINE void count_pairs(std::integer_sequence<int, p...>, std::integer_sequence<int, C...>, int32x4_t* d,
                              const std::int8_t* x, const std::byte* quants) {
  constexpr int P = sizeof...(p);
  const int64x2_t rows[] = {two_rows(x + 2 * p * detail::block, x + second_of<R>(p) * detail::block)...};
  ((d[C] = multiply_pairs(d[C], two_columns<C / P % 2>(quants + C / P / 2 * 16), rows[C % P])), ...);
}
template <int R, bool Apart, int... C>
STENO_INLINE void count_half(std::integer_sequence<int, C...> all, int32x4_t* d, const std::int8_t* x,
                             const std::byte* quants) {
  constexpr auto each = std::make_integer_sequence<int, pairs<R>>{};
  count_pairs<R>(each, all, d, x, quants);
  if constexpr (Apart) asm volatile("" ::: "memory");
  count_pairs<R>(each, all, d, x + 8, quants + 128);
}
template <int R, int I>
STENO_INLINE float32x4_t total(const int32x4_t* d) {
  constexpr int r = I / quads, from = I % quads * 2 * pairs<R> + r / 2;
  const int32x4_t one = d[from], two = d[from + pairs<R>];
  return vcvtq_f32_s32(r % 2 == 0 ? vuzp1q_s32(one, two) : vuzp2q_s32(one, two));
}

#include <steno/kernels/product/quad_int8.inl>

}  // namespace product

template <class = void>
constexpr detail::product_table with_i8mm(detail::product_table t) {
  t.int8_panel = product::int8_rows;
  t.int8_tile = product::int8_tile;
  return t;
}
template <class = void>
inline constexpr detail::product_table product_kernels = with_i8mm(neon_dotprod::product_kernels<>);

}  // namespace kernels::neon_i8mm
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
