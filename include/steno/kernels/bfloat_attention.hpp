// steno/kernels/bfloat_attention.hpp - attention of many queries in bfloat16, for models whose weights are rounded far
// more.
//
// With AMX, queries, keys, weights and values are rounded to sums of two bfloat16 numbers, that is to 16 bits: three
// would be as exact as float arithmetic, but twice the work, and no faster than float tiles where others share the
// processor. Processors of AMD with vdpbf16ps multiply bfloat16 numbers twice as fast as floats, so that one number is
// all that pays (8 bits). Body: generic/bfloat_attention.inl. Tested in tests/kernels/attention_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/attention.hpp>
#include <steno/kernels/bfloat_tiles.hpp>
#include <steno/kernels/product/table.hpp>

#include <cstring>
#include <utility>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_amx_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::amx {

using avx512::broadcast, avx512::store_n;
#include <steno/kernels/generic/attention_tile.inl>

inline constexpr int terms = 2;
inline void multiply_panels(const std::uint16_t* x, extent rows, extent steps, extent all, const std::uint16_t* by,
                            float* sums, extent stride, bool first) noexcept {
  fetcher nothing({}, 1);
  const extent panel = all * terms * tile_values;
  for (extent p = 0; p < rows / tile_rows; p += 2) {
    const tile_job job{.x = {x + p * panel, x + (p + 1) * panel},
                       .next_x = {tile_values, tile_values},
                       .weights = by,
                       .steps = steps,
                       .sums = {sums + p * tile_rows * stride, sums + (p + 1) * tile_rows * stride},
                       .sums_stride = stride,
                       .first = first,
                       .fetch = &nothing,
                       .fetch_results = nullptr};
    (p + 1) * tile_rows < rows ? bfloat_tiles<terms, terms, 2>(job) : bfloat_tiles<terms, terms, 1>(job);
  }
}
#include <steno/kernels/generic/bfloat_attention.inl>

inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept {
  shape_tiles();
  attention_tile_of<tile_products>(job, head, slot, tile, scratch);
  _tile_release();
}

}  // namespace kernels::amx
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>

#include <steno/kernels/isa/region_avx512bf16_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512bf16 {

using avx512::f32x16, avx512::load, avx512::load_n, avx512::store, avx512::zero, avx512::broadcast, avx512::store_n;
using avx512::fma, avx512::max, avx512::reduce_max, avx512::reduce_add, avx512::where_less, avx512::operator*,
    avx512::operator-, avx512::operator+, avx512::exp_bounded;
using avx512::tile_values, avx512::put_terms, avx512::split_rows, avx512::load_pairs, avx512::row_pairs;
#include <steno/kernels/generic/attention_tile.inl>

inline constexpr int terms = 1;
/// Two numbers of a row in all lanes. As floats: such instructions are about bits.
STENO_INLINE __m512 pair_of(const std::uint16_t* x) {
  float pair;
  std::memcpy(&pair, x, sizeof pair);
  return _mm512_set1_ps(pair);
}
/// Written out, as gcc 12 copies sums around such intrinsics (avx512vnni.hpp).
STENO_INLINE __m512 dot_pairs(__m512 sum, __m512 x, __m512 w) {
  asm("vdpbf16ps\t%2, %1, %0" : "+v"(sum) : "v"(x), "vm"(w));
  return sum;
}
/// sizeof...(I) / 2 rows of a panel by a pair of groups.
template <int... I>
[[gnu::noinline]] void multiply_rows(std::integer_sequence<int, I...>, const std::uint16_t* x, extent steps,
                                     const std::uint16_t* by, float* sums, extent stride, bool first) noexcept {
  __m512 sum[] = {(first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + I / 2 * stride + I % 2 * 16))...};
  for (extent s = 0; s < steps; ++s, x += tile_values, by += 2 * tile_values)
    for (extent p = 0; p < 32; p += 2) {
      const __m512 w[] = {_mm512_loadu_ps(by + 16 * p), _mm512_loadu_ps(by + tile_values + 16 * p)};
      ((sum[I] = dot_pairs(sum[I], pair_of(x + I / 2 * 32 + p), w[I % 2])), ...);
    }
  (_mm512_storeu_ps(sums + I / 2 * stride + I % 2 * 16, sum[I]), ...);
}
inline void multiply_panels(const std::uint16_t* x, extent rows, extent steps, extent all, const std::uint16_t* by,
                            float* sums, extent stride, bool first) noexcept {
  for (extent r = 0; r < rows; r += 8)
    multiply_rows(std::make_integer_sequence<int, 16>{}, x + r / 16 * all * tile_values + r % 16 * 32, steps, by,
                  sums + r * stride, stride, first);
}
#include <steno/kernels/generic/bfloat_attention.inl>

inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept {
  attention_tile_of<tile_products>(job, head, slot, tile, scratch);
}

}  // namespace kernels::avx512bf16
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
