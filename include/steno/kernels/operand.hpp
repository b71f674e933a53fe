// steno/kernels/operand.hpp - the left side of a product, prepared once for all weights of a family.
//
// float_rows: few rows in lines of 16 values, [cols / 16][R][16] for R rows at a time, the last line filled up with
// zeros (one row is read where it is); many rows, and always for half_columns, in panels of R rows, [cols][R], so that
// a register tile reads the values of one column from one place. int8_blocks: blocks of 32 values with one scale: a =
// max|x|, scale = a / 127, q = nearest_even(x * (127 / a)); blocks with a <= 2^-100 (where 127 / a may overflow) are
// zeros. Panels of R rows:
//   quants [blocks][R][32] s8, scales [blocks / 16][R][16] f32, starts of the same form, s32 = -128 * sum(q), offsets,
//   f32 = scale * sum(q), for weights with minima. Starts and offsets have two more planes, of the sums of the first
//   and of the last 16 values, for weights whose 16 values share a scale.
// Where the processor multiplies tiles of bfloat16, many rows become sums of such numbers instead (product/amx.hpp).
// Panels are of nearly equal height, at most the table's. q is that of ggml's Q8_0, but the scale is not rounded to
// half. Tested in tests/kernels/operand_test.cpp.
#pragma once
#include <steno/core/view.hpp>
#include <steno/core/workspace.hpp>
#include <steno/kernels/cpu.hpp>
#include <steno/kernels/product/tables.hpp>

#include <algorithm>
#include <cassert>

namespace steno::inline STENO_ABI::kernels {

/// Rows of x for weights of `weight_format`. Memory comes from `frame` and must outlive all products, as must x.
STENO_KERNEL_API operand prepare(const view<const float>& x, dtype weight_format, workspace::frame& frame,
                                 const executor& run);

}  // namespace steno::inline STENO_ABI::kernels

#if STENO_KERNEL_BODIES
namespace steno::inline STENO_ABI::kernels {

namespace detail {
/// The rows of o in lines.
inline const float* lines_of(const operand& o, workspace::frame& frame) {
  const extent length = padded_lines(o.cols);
  auto* const lines = frame.take<float>(static_cast<std::size_t>(o.rows * length));
  float* to = lines;
  for (extent p = 0; p < o.split.count; ++p)
    for (extent k = 0; k < o.cols; k += 16)
      for (extent r = 0; r < o.split.height(p); ++r, to += 16) {
        const float* const from = o.x + (o.split.first(p) + r) * o.stride + k;
        const extent n = std::min<extent>(16, o.cols - k);
        std::copy_n(from, n, to);
        std::fill(to + n, to + 16, 0.0f);
      }
  return lines;
}
}  // namespace detail

STENO_KERNEL_API operand prepare(const view<const float>& x, dtype weight_format, workspace::frame& frame,
                                 const executor& run) {
  const isa level = active_isa();
  const detail::product_table& table = detail::table_of(level);
  operand o;
  o.family = family_of(weight_format);
  o.level = level;
  o.rows = x.rows();
  o.cols = x.cols();
  o.x = x.data();
  o.stride = x.outerStride();
  if (o.rows == 0) return o;
  const auto count = static_cast<std::size_t>(o.rows * o.cols);
  const bool int8 = o.family == weight_family::int8_blocks;
  if (const extent from = table.terms_from(o.family); from != 0 && o.rows >= from) {
    o.split = detail::panel_split(o.rows, table.term_panel);
    o.term_count = int8 ? 1 : 3;
    const extent length = detail::steps_of(o.cols) * 32 * o.term_count;
    auto* terms = frame.take<std::uint16_t>(static_cast<std::size_t>(o.rows * length));
    o.terms = terms;
    run.run(o.split.count, [&](extent p, int) {
      const extent m = o.split.first(p);
      table.split({.x = o.x + m * o.stride,
                   .stride = o.stride,
                   .rows = o.split.height(p),
                   .cols = o.cols,
                   .count = o.term_count,
                   .terms = terms + m * length});
    });
    return o;
  }
  if (int8) {
    assert(o.cols % detail::block == 0);
    o.split = detail::panel_split(o.rows, table.int8_panel);
    const extent blocks = o.cols / detail::block;
    auto* quants = frame.take<std::int8_t>(count);
    const extent padded = detail::padded_blocks(o.cols);
    o.plane = o.rows * padded;
    auto* scales = frame.take<float>(static_cast<std::size_t>(o.plane));
    auto* starts = frame.take<std::int32_t>(static_cast<std::size_t>(3 * o.plane));
    auto* offsets = frame.take<float>(static_cast<std::size_t>(3 * o.plane));
    o.quants = quants;
    o.scales = scales;
    o.starts = starts;
    o.offsets = offsets;
    run.run(o.split.count, [&](extent p, int) {
      const extent m = o.split.first(p);
      table.quantise({.x = o.x + m * o.stride,
                      .stride = o.stride,
                      .rows = o.split.height(p),
                      .blocks = blocks,
                      .quants = quants + m * o.cols,
                      .scales = scales + m * padded,
                      .starts = starts + m * padded,
                      .offsets = offsets + m * padded,
                      .plane = o.plane});
    });
  } else if (table.float_panel != 0 && (o.family == weight_family::half_columns ||
                                        (o.family == weight_family::float_rows && o.rows >= table.float_panels_from))) {
    o.split = detail::panel_split(o.rows, table.float_panel);
    auto* panels = frame.take<float>(count);
    o.panels = panels;
    run.run(o.split.count, [&](extent p, int) {
      const extent m = o.split.first(p);
      table.interleave(o.x + m * o.stride, o.stride, static_cast<int>(o.split.height(p)), o.cols, panels + m * o.cols);
    });
  } else if (o.family == weight_family::float_rows && table.float_dot_rows != 0) {
    o.split = detail::panel_split(o.rows, table.float_dot_rows);
    o.lines = o.rows == 1 ? o.x : detail::lines_of(o, frame);
  }
  return o;
}

}  // namespace steno::inline STENO_ABI::kernels
#endif
