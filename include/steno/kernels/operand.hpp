// steno/kernels/operand.hpp - the left side of a product, prepared once for all weights of a family.
//
// float_rows: few rows in lines of 16 values, [cols / 16][R][16] for R rows at a time, the last line filled up with
// zeros (one row is read where it is); many rows, and always for columns, in panels of R rows, [cols][R], so that
// a register tile reads the values of one column from one place. int8_blocks: blocks of 32 values with one scale: a =
// max|x|, scale = a / 127, q = nearest_even(x * (127 / a)); blocks with a <= 2^-100 (where 127 / a may overflow) are
// zeros. int8_spans: the same of spans of four blocks, 128 values, with one scale; S is the number of scales of a row.
// Panels of R rows:
//   quants [blocks][R][32] s8 (spans for tiles of int8: [blocks / 2][R][64]), scales [S / 16][R][16] f32, starts of the
//   same form, f32 = -128 * sum(q), counted from detail::sum_origin on where the kernels want it, offsets, f32 = scale
//   * sum(q), for weights with minima. Starts and offsets have two more planes, of the sums of the first and of the
//   last 16 values, for weights whose 16 values share a scale.
// Where the processor multiplies tiles of bfloat16, many rows become sums of such numbers instead (product/amx.hpp).
// rounded_columns: as columns, but rounded to bfloat16; pairs of them where vdpbf16ps is fast (product/avx512bf16.hpp).
// Rows may be made while they are prepared (row_source): those of a convolution, which are nine times its input, then
// never exist as a whole.
// Panels are of nearly equal height, no higher than the table's; for tiles full but for the last. q is that of ggml's
// Q8_0, but the scale is not rounded to half. Tested in tests/kernels/operand_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/core/workspace.hpp>
#include <steno/kernels/cpu.hpp>
#include <steno/kernels/product/tables.hpp>

#include <algorithm>
#include <cassert>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Rows of x for weights of `weight_format`. Memory comes from `frame` and must outlive all products, as must x.
STENO_KERNEL_API operand prepare(const view<const float>& x, dtype weight_format, core::workspace::frame& frame,
                                 const executor& run);

/// Reference to something that makes rows of a product's left side: write(first, count, out) writes rows [first, first
/// + count) to out [count, cols]. It is called by several threads at once.
class row_source {
 public:
  template <class S>
  requires requires(const S& s, float* out) { s.write(extent{}, extent{}, out); }
  row_source(const S& s, extent row_count, extent col_count) noexcept
      : rows(row_count), cols(col_count), self_(&s), write_([](const void* self, extent first, extent n, float* out) {
          static_cast<const S*>(self)->write(first, n, out);
        }) {}

  void write(extent first, extent count, float* out) const { write_(self_, first, count, out); }

  extent rows, cols;

 private:
  const void* self_;
  void (*write_)(const void*, extent, extent, float*);
};

/// The same of rows that are made on the way. The operand serves weights of the family of `weight_format` only.
STENO_KERNEL_API operand prepare(const row_source& x, dtype weight_format, core::workspace::frame& frame,
                                 const executor& run);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
namespace steno {
inline namespace STENO_ABI {
namespace kernels {

namespace detail {
/// The rows of o in lines.
inline const float* lines_of(const operand& o, core::workspace::frame& frame) {
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

namespace detail {
/// To the nearest bfloat16 numbers, halves away from zero, as bfloat_terms.hpp rounds.
inline void round_to_bfloats(float* values, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = core::bit_cast<std::uint32_t>(values[i]);
    values[i] = core::bit_cast<float>((bits + 0x8000) & 0xffff0000);
  }
}

/// Rows as they lie.
struct plain_rows {
  view<const float> x;

  extent rows() const { return x.rows(); }
  extent cols() const { return x.cols(); }
  void reserve(extent, core::workspace::frame&, const executor&) {}
  view<const float> all(core::workspace::frame&, const executor&) const { return x; }
  view<const float> piece(extent first, extent count, int) const { return core::read(x.middleRows(first, count)); }
};
/// Rows that are made: all of them, or a panel at a time in memory of each worker.
struct made_rows {
  const row_source& x;
  float* panels = nullptr;
  extent each = 0;

  extent rows() const { return x.rows; }
  extent cols() const { return x.cols; }
  void reserve(extent height, core::workspace::frame& frame, const executor& run) {
    each = (height * x.cols + 15) / 16 * 16;
    panels = frame.take<float>(static_cast<std::size_t>(each * run.width()));
  }
  view<const float> all(core::workspace::frame& frame, const executor& run) const {
    auto* const to = frame.take<float>(static_cast<std::size_t>(x.rows * x.cols));
    constexpr extent step = 16;
    run.run((x.rows + step - 1) / step,
            [&](extent i, int) { x.write(i * step, std::min(step, x.rows - i * step), to + i * step * x.cols); });
    return core::make_view(static_cast<const float*>(to), x.rows, x.cols);
  }
  view<const float> piece(extent first, extent count, int worker) const {
    float* const to = panels + worker * each;
    x.write(first, count, to);
    return core::make_view(static_cast<const float*>(to), count, x.cols);
  }
};

template <class Rows>
operand prepare_rows(Rows x, dtype weight_format, core::workspace::frame& frame, const executor& run) {
  const isa level = active_isa();
  const product_table& table = table_of(level);
  operand o;
  o.family = family_of(weight_format);
  o.level = level;
  o.rows = x.rows();
  o.cols = x.cols();
  if (o.rows == 0) return o;
  const auto count = static_cast<std::size_t>(o.rows * o.cols);
  const bool int8 = is_int8(o.family), rounds = o.family == weight_family::rounded_columns;
  // f(first row, rows of x) for each panel of up to `height` rows.
  const auto each_panel = [&](extent height, extent step, auto&& f) {
    o.split = panel_split(o.rows, height, step);
    x.reserve(o.split.height(0), frame, run);
    run.run(o.split.count,
            [&](extent p, int worker) { f(o.split.first(p), x.piece(o.split.first(p), o.split.height(p), worker)); });
  };
  // A step of tiles is 32 values of K: of fewer, as a first convolution has, the larger part would be zeros.
  if (const extent from = table.terms_from(o.family);
      from != 0 && o.rows >= from && o.cols >= 32 && o.cols % table.term_multiple == 0) {
    o.term_count = o.family == weight_family::f16_columns || o.family == weight_family::bf16_columns ? 3 : 1;
    const extent length = steps_of(o.cols) * 32 * o.term_count;
    // Tiles read as many rows of a panel as the highest one has.
    auto* terms = frame.take<std::uint16_t>(static_cast<std::size_t>(o.rows * length + table.term_panel * 32));
    o.terms = terms;
    each_panel(table.term_panel, table.tile_rows, [&](extent m, const view<const float>& rows) {
      table.split({.x = rows.data(),
                   .stride = rows.outerStride(),
                   .rows = rows.rows(),
                   .cols = o.cols,
                   .count = o.term_count,
                   .terms = terms + m * length});
    });
  } else if (int8) {
    o.span = layout_of(weight_format).span;
    assert(o.cols % (o.span * block) == 0);
    o.paired = o.span > 1 && table.span_panel != 0 && o.rows > table.int8_few(8);
    // Tiles read as many rows of a panel as the highest one has.
    auto* quants = frame.take<std::int8_t>(count + static_cast<std::size_t>(64 * table.span_panel));
    const extent padded = padded_scales(o.cols, o.span);
    o.plane = o.rows * padded;
    auto* scales = frame.take<float>(static_cast<std::size_t>(o.plane));
    const extent planes = o.span == 1 ? 3 : 1;
    auto* starts = frame.take<float>(static_cast<std::size_t>(planes * o.plane));
    auto* offsets = frame.take<float>(static_cast<std::size_t>(planes * o.plane));
    o.quants = quants;
    o.scales = scales;
    o.starts = starts;
    o.offsets = offsets;
    const extent height = o.paired ? table.span_panel : table.int8_panel, step = o.paired ? table.tile_rows : 1;
    each_panel(height, step, [&](extent m, const view<const float>& rows) {
      table.quantise({.x = rows.data(),
                      .stride = rows.outerStride(),
                      .rows = rows.rows(),
                      .blocks = o.cols / block,
                      .span = o.span,
                      .paired = o.paired,
                      .quants = quants + m * o.cols,
                      .scales = scales + m * padded,
                      .starts = starts + m * padded,
                      .offsets = offsets + m * padded,
                      .origin = table.sum_origin,
                      .plane = o.plane});
    });
  } else if (table.float_panel != 0 &&
             (is_columns(o.family) || (o.family == weight_family::float_rows && o.rows >= table.float_panels_from))) {
    auto* panels = frame.take<float>(count);
    o.panels = panels;
    each_panel(table.float_panel, 1, [&](extent m, const view<const float>& rows) {
      float* const to = panels + m * o.cols;
      table.interleave(rows.data(), rows.outerStride(), rows.rows(), o.cols, to);
      if (rounds) round_to_bfloats(to, static_cast<std::size_t>(rows.size()));
    });
  } else {
    const view<const float> rows = x.all(frame, run);
    o.x = rows.data();
    o.stride = rows.outerStride();
    if (o.family == weight_family::float_rows && table.float_dot_rows != 0) {
      o.split = panel_split(o.rows, table.float_dot_rows);
      o.lines = o.rows == 1 ? o.x : lines_of(o, frame);
    }
    if (rounds) {
      auto* const lines = frame.take<float>(count);
      for (extent r = 0; r < o.rows; ++r) std::copy_n(o.x + r * o.stride, o.cols, lines + r * o.cols);
      round_to_bfloats(lines, count);
      o.lines = lines;
    }
  }
  return o;
}
}  // namespace detail

STENO_KERNEL_BODY operand prepare(const view<const float>& x, dtype weight_format, core::workspace::frame& frame,
                                  const executor& run) {
  operand o = detail::prepare_rows(detail::plain_rows{x}, weight_format, frame, run);
  o.x = x.data();
  o.stride = x.outerStride();
  return o;
}

STENO_KERNEL_BODY operand prepare(const row_source& x, dtype weight_format, core::workspace::frame& frame,
                                  const executor& run) {
  return detail::prepare_rows(detail::made_rows{x}, weight_format, frame, run);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
