// steno/kernels/product/neon.hpp - the product kernels for NEON: 6 x 16 float tiles; int8 as in the reference.
//
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp, which tests/aarch64 runs on an
// emulator.
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/isa/neon.hpp>
#include <steno/kernels/product/reference.hpp>
#include <steno/kernels/product/table.hpp>

#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace steno::inline STENO_ABI::kernels::neon {
namespace product {

inline constexpr int dot_rows = 2, dot_columns = 2, panel_rows = 6, panel_vectors = 1;
inline constexpr extent panel_chunk = 256, float_columns = 16 * panel_vectors;
inline constexpr int byte_lanes = 16;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/unpack.inl>

}  // namespace product

inline constexpr detail::product_table product_kernels{
    .int8_panel = scalar::product_kernels.int8_panel,
    .int8_groups = scalar::product_kernels.int8_groups,
    .int8_groups_one = scalar::product_kernels.int8_groups_one,
    .int8_rows = scalar::product_kernels.int8_rows,
    .float_panel = product::panel_rows,
    .float_panels_from = 24,
    .float_columns = product::float_columns,
    .float_rows = 600,
    .float_panel_scratch = product::panel_chunk * product::float_columns,
    .quantise = scalar::quantise,
    .interleave = product::interleave,
    .unpack = product::unpack,
    .int8_tile = scalar::int8_tile,
    .finish = product::finish,
    .float_panel_strip = product::float_panel_strip,
    .float_row_strip = product::float_row_strip,
};

}  // namespace steno::inline STENO_ABI::kernels::neon
