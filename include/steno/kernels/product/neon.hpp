// steno/kernels/product/neon.hpp - the product kernels for NEON: 5 x 16 float tiles, 4 x 8 int8 tiles.
//
// int8: smull and smlal add the products of two steps in 16 bits, which cannot exceed 2 * 128 * 127 = 32512; sadalp
// adds pairs of them to counters of 32 bits. Weights are stored with 128 added: a flipped bit takes it off again.
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp, which tests/aarch64 runs on an
// emulator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/isa/neon.hpp>
#include <steno/kernels/product/table.hpp>

#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::neon {
namespace product {

inline constexpr int dot_rows = 2, dot_columns = 2, panel_rows = 5, panel_vectors = 1;
inline constexpr extent panel_chunk = 256, float_columns = 16 * panel_vectors;
inline constexpr int half_pair_rows = 0, half_panels = 1;
inline constexpr bool panel_fetches = false;
inline constexpr int byte_lanes = 16;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>
#include <steno/kernels/product/unpack.inl>

using quad = float32x4_t;
using quad_counts = int32x4_t;
/// sum + x * factor, rounded once
STENO_INLINE quad add_times(quad sum, quad x, float factor) { return vfmaq_n_f32(sum, x, factor); }
/// 16 weights as signed numbers.
STENO_INLINE int8x16_t weights_of(const std::byte* quants) {
  return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(quants)), vdupq_n_u8(0x80)));
}

inline constexpr int int8_rows = 4, quads = 2;
/// Two vectors for four columns: each column's sum is in two parts.
template <int R>
inline constexpr int counters = 2 * quads* R;

template <int R, int C>
STENO_INLINE int32x4_t start(const float*) {
  return vdupq_n_s32(0);
}
/// The same four values in each quarter.
STENO_INLINE int8x16_t four_of(const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
/// Two of four columns in two steps, the first two for even C.
template <int C>
STENO_INLINE int32x4_t count_two(int32x4_t d, int8x16_t w0, int8x16_t w1, int8x16_t x0, int8x16_t x1) {
  if constexpr (C % 2 == 0)
    return vpadalq_s16(d, vmlal_s8(vmull_s8(vget_low_s8(w0), vget_low_s8(x0)), vget_low_s8(w1), vget_low_s8(x1)));
  return vpadalq_s16(d, vmlal_high_s8(vmull_high_s8(w0, x0), w1, x1));
}
/// The counters of a row in two steps; w: two quads of the first step, then of the second.
template <int... I>
STENO_INLINE void count_row(std::integer_sequence<int, I...>, int32x4_t* d, const std::int8_t* x, const int8x16_t* w) {
  asm volatile("" ::: "memory");  // otherwise gcc loads the values of all rows first and has too few registers
  const int8x16_t x0 = four_of(x), x1 = four_of(x + 4);
  ((d[I] = count_two<I>(d[I], w[I / 2], w[2 + I / 2], x0, x1)), ...);
}
template <int... r>
STENO_INLINE void count_rows(std::integer_sequence<int, r...>, int32x4_t* d, const std::int8_t* x,
                             const std::byte* quants) {
  const int8x16_t w[] = {weights_of(quants), weights_of(quants + 16), weights_of(quants + 64), weights_of(quants + 80)};
  (count_row(std::make_integer_sequence<int, 4>{}, d + 4 * r, x + r * detail::block, w), ...);
}
template <int R, bool, int... C>
STENO_INLINE void count_half(std::integer_sequence<int, C...>, int32x4_t* d, const std::int8_t* x,
                             const std::byte* quants) {
  constexpr auto rows = std::make_integer_sequence<int, R>{};
  count_rows(rows, d, x, quants);
  count_rows(rows, d, x + 8, quants + 128);
}
template <int R, int I>
STENO_INLINE float32x4_t total(const int32x4_t* d) {
  return vcvtq_f32_s32(vpaddq_s32(d[2 * I], d[2 * I + 1]));
}

#include <steno/kernels/product/quad_int8.inl>

}  // namespace product

template <class = void>
inline constexpr detail::product_table product_kernels{
    .int8_panel = product::int8_rows,
    .int8_groups = 1,
    .int8_rows = 256,
    .int8_tile_fetches = false,
    .int8_tile_biased = true,
    .sum_origin = 0,
    .float_dot_rows = product::dot_rows,
    .float_panel = product::panel_rows,
    .float_panels_from = 24,
    .float_columns = product::float_columns,
    .half_pair_rows = product::half_pair_rows,
    .float_rows = 600,
    .float_panel_scratch = product::panel_chunk* product::float_columns,
    .quantise = product::quantise,
    .interleave = product::interleave,
    .unpack = product::unpack,
    .int8_tile = product::int8_tile,
    .finish = product::finish,
    .float_panel_strip = product::float_panel_strip,
    .float_row_strip = product::float_row_strip,
};

}  // namespace kernels::neon
}  // namespace STENO_ABI
}  // namespace steno
