// steno/kernels/product/simd128.hpp - the product kernels for WebAssembly's vectors: 3 x 16 float tiles, 3 x 8 int8
// tiles.
//
// Floats are those of isa/scalar.hpp, whose vectors of four are registers there. int8: weights and x are widened to 16
// bits, i32x4.dot_i16x8_s multiplies and adds pairs: exact, and one instruction on the processors below. Nothing is
// fetched ahead: there is no such instruction.
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp, which tools/check-on wasm runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/isa/scalar.hpp>
#include <steno/kernels/product/table.hpp>

#include <wasm_simd128.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::simd128 {
using scalar::f32x16, scalar::four;
using scalar::load, scalar::load_n, scalar::load_f16, scalar::load_bf16, scalar::load_i8, scalar::broadcast;
using scalar::store, scalar::store_n, scalar::store_i8, scalar::zero, scalar::sums_i8, scalar::transpose;

/// acc + x y: in two steps where registers are few (isa/avx2.hpp).
STENO_INLINE f32x16 add_dots(f32x16 x, f32x16 y, f32x16 acc) { return fma(x, y, acc); }
STENO_INLINE f32x16 add_last_dots(f32x16, f32x16, f32x16 acc) { return acc; }
/// p[i] = reduce_add(a[i]), for two of them.
STENO_INLINE void store_sums(float* p, const f32x16* a) {
  p[0] = reduce_add(a[0]);
  p[1] = reduce_add(a[1]);
}

namespace product {

inline constexpr int dot_rows = 2, dot_columns = 2, panel_rows = 3, panel_vectors = 1;
inline constexpr extent panel_chunk = 256, float_columns = 16 * panel_vectors;
inline constexpr int half_pair_rows = 0, half_panels = 1;
inline constexpr bool panel_fetches = false;
inline constexpr int byte_lanes = 16;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>
#include <steno/kernels/product/unpack.inl>

using quad = four;
using quad_counts = v128_t;
STENO_INLINE quad load_four(const float* p) { return scalar::load_four(p); }
STENO_INLINE void store_four(float* p, quad x) { scalar::store_four(p, x); }
/// sum + x * factor, rounded twice
STENO_INLINE quad add_times(quad sum, quad x, float factor) { return x * factor + sum; }

inline constexpr int int8_rows = 3, quads = 2;
/// Two vectors for four columns: each column's sum is in two parts.
template <int R>
inline constexpr int counters = 2 * quads* R;

template <int R, int C>
STENO_INLINE v128_t start(const float*) {
  return wasm_i32x4_const_splat(0);
}
/// 16 weights as signed numbers.
STENO_INLINE v128_t weights_of(const std::byte* quants) {
  return wasm_v128_xor(wasm_v128_load(quants), wasm_i8x16_const_splat(-128));
}
/// The counters of a row in one step; w: four values of two columns each.
template <int... I>
STENO_INLINE void count_row(std::integer_sequence<int, I...>, v128_t* d, const std::int8_t* x, const v128_t* w) {
  const v128_t fours = wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(x));
  ((d[I] = wasm_i32x4_add(d[I], wasm_i32x4_dot_i16x8(w[I], fours))), ...);
}
template <int... r>
STENO_INLINE void count_step(std::integer_sequence<int, r...>, v128_t* d, const std::int8_t* x,
                             const std::byte* quants) {
  const v128_t one = weights_of(quants), two = weights_of(quants + 16);
  const v128_t w[] = {wasm_i16x8_extend_low_i8x16(one), wasm_i16x8_extend_high_i8x16(one),
                      wasm_i16x8_extend_low_i8x16(two), wasm_i16x8_extend_high_i8x16(two)};
  (count_row(std::make_integer_sequence<int, 4>{}, d + 4 * r, x + r * detail::block, w), ...);
}
template <int R, bool, int... C>
STENO_INLINE void count_half(std::integer_sequence<int, C...>, v128_t* d, const std::int8_t* x,
                             const std::byte* quants) {
  constexpr auto rows = std::make_integer_sequence<int, R>{};
  count_step(rows, d, x, quants);
  count_step(rows, d, x + 4, quants + 64);
  count_step(rows, d, x + 8, quants + 128);
  count_step(rows, d, x + 12, quants + 192);
}
template <int R, int I>
STENO_INLINE quad total(const v128_t* d) {
  const v128_t a = d[2 * I], b = d[2 * I + 1];
  const v128_t sums = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
  return reinterpret_cast<quad>(wasm_f32x4_convert_i32x4(sums));
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

}  // namespace kernels::simd128
}  // namespace STENO_ABI
}  // namespace steno
