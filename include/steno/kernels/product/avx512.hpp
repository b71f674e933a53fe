// steno/kernels/product/avx512.hpp - the product kernels for AVX-512: 12 x 32 float tiles; int8 tiles are those of AVX2
// without VNNI, and 6 x 32 with it.
//
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/avx2.hpp>

#include <steno/kernels/isa/avx512.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512 {
namespace product {

inline constexpr int dot_rows = 6, dot_columns = 4, panel_rows = 12, panel_vectors = 2;
inline constexpr extent panel_chunk = 128, float_columns = 16 * panel_vectors;
inline constexpr int half_pair_rows = 0, half_panels = 9;
inline constexpr bool panel_fetches = true;
inline constexpr int byte_lanes = 64;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>
#include <steno/kernels/product/unpack.inl>

}  // namespace product

template <class = void>
inline constexpr detail::product_table product_kernels{
    .int8_panel = avx2::product::int8_rows,
    .int8_groups = avx2::product::int8_groups,
    .int8_rows = 256,
    .int8_tile_fetches = true,
    .int8_tile_biased = false,
    .sum_origin = detail::sum_origin,
    .float_dot_rows = product::dot_rows,
    .float_panel = product::panel_rows,
    .float_panels_from = 32,
    .float_columns = product::float_columns,
    .half_pair_rows = product::half_pair_rows,
    .float_rows = 600,
    .float_panel_scratch = product::panel_chunk* product::float_columns,
    .quantise = product::quantise,
    .interleave = product::interleave,
    .unpack = product::unpack,
    .int8_tile = avx2::product::int8_tile,
    .finish = product::finish,
    .float_panel_strip = product::float_panel_strip,
    .float_row_strip = product::float_row_strip,
    .int8_few = avx2::product::int8_few,
    .int8_row_strip = avx2::product::int8_row_strip,
};

}  // namespace kernels::avx512
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
