// steno/kernels/product/neon_dotprod.hpp - int8 tiles of 5 rows by 16 columns with sdot; floats as with NEON.
//
// sdot is written as assembly: compilers declare its intrinsic under different conditions, and not all inside a target
// region. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp, which tests/aarch64 runs on
// an emulator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/neon.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_dotprod_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::neon_dotprod {
using neon::load_four;
using neon::store_four;
namespace product {
using neon::product::quad, neon::product::quad_counts, neon::product::add_times;

inline constexpr int int8_rows = 5, quads = 4;
/// Counter C: row C % R, quad C / R, so that all rows meet the same weights in turn.
template <int R>
inline constexpr int counters = quads* R;

template <int R, int C>
STENO_INLINE int32x4_t start(const float*) {
  return vdupq_n_s32(0);
}
/// d[c] += the four products of column c's values of w by values 4 Step .. of x.
template <int Step>
STENO_INLINE int32x4_t dot_fours(int32x4_t d, int8x16_t w, int8x16_t x) {
  asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(d) : "w"(w), "w"(x), "i"(Step));
  return d;
}
/// Apart: the weights of a quad are loaded when those before it have been used.
template <int R, int Step, bool Apart, int... C>
STENO_INLINE void count_step(std::integer_sequence<int, C...>, int32x4_t* d, const int8x16_t* x,
                             const std::byte* quants) {
  const auto begin_quad = []() __attribute__((always_inline)) { asm volatile("" ::: "memory"); };
  ((Apart && C % R == 0 ? begin_quad() : void(),
    d[C] = dot_fours<Step>(d[C], neon::product::weights_of(quants + 64 * Step + 16 * (C / R)), x[C % R])),
   ...);
}
STENO_INLINE int8x16_t sixteen_of(const std::int8_t* x) { return vld1q_s8(x); }
template <bool Apart, int... r, int... C>
STENO_INLINE void count_rows(std::integer_sequence<int, r...>, std::integer_sequence<int, C...> all, int32x4_t* d,
                             const std::int8_t* x, const std::byte* quants) {
  constexpr int R = sizeof...(r);
  const int8x16_t rows[] = {sixteen_of(x + r * detail::block)...};
  count_step<R, 0, Apart>(all, d, rows, quants);
  count_step<R, 1, Apart>(all, d, rows, quants);
  count_step<R, 2, Apart>(all, d, rows, quants);
  count_step<R, 3, Apart>(all, d, rows, quants);
}
template <int R, bool Apart, int... C>
STENO_INLINE void count_half(std::integer_sequence<int, C...> all, int32x4_t* d, const std::int8_t* x,
                             const std::byte* quants) {
  count_rows<Apart>(std::make_integer_sequence<int, R>{}, all, d, x, quants);
}
template <int R, int I>
STENO_INLINE float32x4_t total(const int32x4_t* d) {
  return vcvtq_f32_s32(d[I % quads * R + I / quads]);
}

#include <steno/kernels/product/quad_int8.inl>

}  // namespace product

template <class = void>
constexpr detail::product_table with_dotprod(detail::product_table t) {
  t.int8_panel = product::int8_rows;
  t.int8_tile = product::int8_tile;
  return t;
}
template <class = void>
inline constexpr detail::product_table product_kernels = with_dotprod(neon::product_kernels<>);

}  // namespace kernels::neon_dotprod
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
