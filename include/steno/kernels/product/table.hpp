// steno/kernels/product/table.hpp - what the product kernels of one instruction set offer, and what they are handed.
//
// A product is cut into strips: a few panels (or rows) of x by a few columns of y. Strips depend on the shapes alone,
// and each value of y is computed in one strip, so the bits of y do not depend on the number of workers.
// Tables, and the functions that they name, are templates with nothing to choose: they are compiled where a product is
// called, and not wherever a header is read (config.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/kernels/cpu.hpp>
#include <steno/kernels/epilogue.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/kernels/read_ahead.hpp>
#include <steno/weights/weight.hpp>

#include <cstddef>
#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

namespace detail {
/// Rows cut into the fewest panels of up to `max_rows` rows, as equal as possible, the higher ones first. With a
/// `step`, which divides max_rows, panels have a multiple of so many rows, but for the last.
struct panel_split {
  panel_split() = default;
  panel_split(extent all_rows, extent max_rows, extent row_step = 1)
      : rows(all_rows), step(row_step), count((rows + max_rows - 1) / max_rows) {
    const extent steps = (rows + step - 1) / step;
    base = steps / std::max<extent>(count, 1);
    extra = steps - base * count;
  }
  extent first(extent panel) const { return (panel * base + std::min(panel, extra)) * step; }
  extent height(extent panel) const { return std::min((base + (panel < extra ? 1 : 0)) * step, rows - first(panel)); }

  extent rows = 0, step = 1, count = 0;
  extent base = 0, extra = 0;  // in steps
};
/// Scales of a row of x, one for every `span` blocks, as they are counted.
constexpr extent padded_scales(extent cols, extent span) { return (cols / (span * block) + 15) / 16 * 16; }
/// Values of a row in lines of 16.
constexpr extent padded_lines(extent cols) { return (cols + 15) / 16 * 16; }
/// Steps of 32 values of a row.
constexpr extent steps_of(extent cols) { return (cols + 31) / 32; }
}  // namespace detail

/// Rows of x prepared by prepare() for one family of formats. Refers to x and to the frame it was prepared in.
class operand {
 public:
  weight_family family = weight_family::none;
  isa level = isa::scalar;  ///< whose kernels read it
  extent rows = 0, cols = 0;
  const float* x = nullptr;  ///< the rows themselves, `stride` apart; null if they were made on the way
  extent stride = 0;
  detail::panel_split split;      ///< of the panels below
  const float* panels = nullptr;  ///< columns, and float_rows with many rows: [cols][height] per panel
  /// float_rows with few rows: [cols / 16][height][16] per panel; rounded_columns without panels: rounded rows.
  const float* lines = nullptr;
  /// int8_blocks and int8_spans: [blocks][height][32] per panel, or with `paired` [blocks / 2][height][64].
  const std::int8_t* quants = nullptr;
  bool paired = false;
  extent span = 1;                ///< blocks that share a scale
  const float* scales = nullptr;  ///< [blocks / span][height] per panel
  /// As scales are: the table's sum_origin - 128 * sum of their quants; then, where a scale is a block's, [2] planes of
  /// its halves.
  const float* starts = nullptr;
  const float* offsets = nullptr;  ///< the same of scale * sum of the quants: what a weight of 1 for all would give
  extent plane = 0;
  /// Many rows, where there are tiles of bfloat16: [steps of 32 values][count][height][32] per panel (product/amx.hpp);
  /// with vdpbf16ps pairs of values, [cols / 2][height] per panel (product/avx512bf16.hpp).
  const std::uint16_t* terms = nullptr;
  int term_count = 0;
};

namespace detail {
/// Sums of a block's products are integers within 2^21 of 0, so the bits of the float sum_origin, counted up by such a
/// sum, are those of the float sum_origin + sum: integers that are floats already. What a scale makes of the sum is
/// then one multiply-add, scale * (sum_origin + sum) - scale * sum_origin, whose last term is exact (scales have up
/// to 19 bits), so that the result is that of scale * sum.
inline constexpr float sum_origin = 0x1.8p23f;

struct product_table;

/// One task of a product.
struct strip {
  const product_table* table;
  const operand* x;
  const weights::weight_ref* w;
  const epilogue* e;
  float* y;
  extent y_stride;
  extent first, last;       // panels of x where it has any, else rows
  extent n0, n1;            // columns of y; n0 is a multiple of the strip's width
  extent k0, k1;            // terms: steps of 32 values of x; what was before k0 is in the sums
  const std::byte* packed;  // columns and int8: the group of column n0
  std::size_t next_group;   // bytes from group to group
  block_layout layout;      // int8
  read_ahead ahead;         // few rows
  float* sums;              // of its rows and columns, these rounded up to 32
  float* scratch;           // as much as the way of the product needs
};

/// Fetches the rows of y that a panel's results will be written to. Always inlined: gcc 12 takes a function that only
/// prefetches for one without effects and drops its calls.
STENO_INLINE void fetch_results(const strip& s, extent m, extent rows) noexcept {
  for (extent r = 0; r < rows; ++r)
    for (extent n = s.n0; n < s.n1; n += group) __builtin_prefetch(s.y + (m + r) * s.y_stride + n, 1);
}

/// Blocks of a group to be unpacked.
struct unpack_job {
  block_layout layout;
  const std::byte* in;     // a unit's begin; of q8_0: the first scales
  const std::byte* ahead;  // packed bytes that will be wanted next
  bool fetches = false;    // half of their lines; of q8_0 all scales are fetched in any case
  bool biased = true;      // add the layout's bias
  extent count;            // whole units
  std::byte* quants;       // not of q8_0
  float *scales, *minima;
};

/// A tile's part of a strip: blocks of a panel of x by groups of 16 columns.
struct int8_job {
  extent rows, groups;  // groups: what the instruction set's tiles have
  const std::int8_t* x;
  const float* scales;
  const float* starts;  // of scale s and row r: starts[16 r + s]; so are scales and offsets
  const float* offsets;
  extent plane;  // with halves: from starts and offsets of the first to those of the second
  extent blocks;
  const std::byte* quants;
  std::size_t next_quants;              // bytes from group to group
  const std::byte* ahead;               // bytes that will be wanted next: with each block so many lines of each group
  int ahead_lines;                      // are fetched: one, three or five
  std::size_t next_ahead, ahead_bytes;  // from group to group, block to block
  const float *weight_scales, *minima;  // [blocks / span][16], with halves [blocks][2][16]; minima may be null
  extent next_scales;                   // floats from group to group
  const std::byte* half_scales;  // of spans, where the table widens them: as they are packed, [blocks / span][16]
  block_layout layout;
  float* sums;           // [rows][groups][16]
  bool first;            // sums begin here
  const float* results;  // where the table's tiles of spans fetch them: the rows of y that are written next, or null
  extent next_result;    // from row to row
  extent result_lines;   // of a row
};

/// A panel of x to be quantised, with a scale for every `span` blocks; planes of starts and offsets are `plane` apart.
struct quantise_job {
  const float* x;
  extent stride, rows, blocks, span;
  bool paired;  // two blocks of a row side by side: of spans, where there are tiles of int8
  std::int8_t* quants;
  float* scales;
  float *starts, *offsets;  // of halves only where span is 1
  float origin;             // of starts
  extent plane;
};

/// Rows of a panel of x to become sums of bfloat16 numbers.
struct split_job {
  const float* x;
  extent stride, rows, cols;
  int count;  // of numbers for each value
  std::uint16_t* terms;
};

struct product_table {
  // int8
  extent tile_rows = 1;           // where there are tiles: what their panels have a multiple of, but for the last
  extent int8_panel;              // rows of a panel
  extent span_panel = 0;          // where there are tiles of int8: of a panel of int8_spans with more than few rows
  extent int8_groups;             // of 16 columns in a tile; a strip is one tile wide
  extent int8_rows;               // of a strip
  bool int8_tile_fetches;         // what comes next
  bool int8_tile_biased;          // it takes unpacked quants with the layout's bias, so that 128 is their zero
  bool int8_tile_widens = false;  // it takes scales of spans as they are packed, next_quants apart
  bool span_tile_fetches_results = false;  // not all at once before it begins
  float sum_origin;                        // that sums are counted from: 0, or detail::sum_origin
  // float_rows and columns
  extent float_dot_rows;  // rows of x in a tile where rows meet rows; 0: the rows are read where they are
  extent float_panel;
  extent float_panels_from;  // number of rows from which x is copied into panels; below, rows meet rows (f32)
  extent float_columns;
  extent half_pair_rows;  // rows of x up to which two groups of f16 or bf16 are taken at once
  extent float_rows;
  extent float_panel_scratch;  // floats for the widened weights of a strip

  void (*quantise)(const quantise_job&) noexcept;
  void (*interleave)(const float* x, extent stride, extent rows, extent cols, float* out) noexcept;
  void (*unpack)(const unpack_job&) noexcept;
  void (*int8_tile)(const int8_job&) noexcept;
  void (*finish)(const strip&, const float* sums, extent sums_stride, extent m0, extent rows) noexcept;
  void (*float_panel_strip)(const strip&) noexcept;
  void (*float_row_strip)(const strip&) noexcept;
  // Where there are such: rows of x, in one panel, up to which a strip of quants of so many bits is int8_row_strip's.
  extent (*int8_few)(int bits) noexcept = nullptr;
  void (*int8_strip)(const strip&) noexcept = nullptr;  // of more rows, where it is not detail::int8_strip
  void (*int8_row_strip)(const strip&) noexcept = nullptr;
  // Where there are tiles or dot products of bfloat16: numbers of rows from which they do the work (0: never), rows of
  // a panel, and scratch.
  extent f16_terms_from = 0, bf16_terms_from = 0, rounded_terms_from = 0, int8_terms_from = 0;
  extent term_panel = 0;
  extent term_multiple = 1;  // the number of columns is one of it
  extent term_scratch = 0;   // floats
  extent term_parts = 1;     // the largest number of parts of x's columns that are multiplied one after the other
  extent term_steps = 1;     // of 32 columns: a part has a multiple of so many, but for the last
  void (*split)(const split_job&) noexcept = nullptr;
  void (*term_strip)(const strip&) noexcept = nullptr;

  extent terms_from(weight_family family) const {
    return family == weight_family::f16_columns       ? f16_terms_from
           : family == weight_family::bf16_columns    ? bf16_terms_from
           : family == weight_family::rounded_columns ? rounded_terms_from
           : family == weight_family::int8_blocks     ? int8_terms_from
                                                      : 0;
  }
};
}  // namespace detail

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
