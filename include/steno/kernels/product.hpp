// steno/kernels/product.hpp - y[M, N] = act(scale * x[M, K] w[N, K]^T + bias) + residual, for weights of any product
// format.
//
//   workspace::frame scratch(c.scratch);
//   const operand o = prepare(x, w.format, scratch, c.run);     // once for q, k, v or gate, up
//   multiply(o, w, {.bias = b}, y, c);
// The result has the same bits for any number of workers. What is summed in which order: product/reference.hpp.
// Tested in tests/kernels/product_test.cpp, measured by bench/kernels/product_bench.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/kernels/operand.hpp>

#include <cassert>
#include <limits>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// y[M, N] = act(scale * x w^T + bias) + residual. Throws steno::error where sizes do not agree. y must not overlap x
/// or w (checked in debug builds). Takes scratch from c.scratch only. An operand of another family than the weight's is
/// prepared anew from its rows, which costs time. A format without a product (has_product() is false) gives NaN:
/// whoever loads weights refuses it by name.
STENO_KERNEL_API void multiply(const operand& x, const weights::weight_ref& w, const epilogue& e, const view<float>& y,
                               context& c);

namespace detail {
/// multiply() by weights of the operand's family, which fetches so far ahead: for multiply(), tests and tuning.
STENO_KERNEL_API void multiply_ahead(const operand& x, const weights::weight_ref& w, const epilogue& e, view<float>& y,
                                     const read_ahead& ahead, context& c);
}  // namespace detail

/// The same from plain rows: prepare() and multiply().
template <class = void>
void matmul(const view<const float>& x, const weights::weight_ref& w, const epilogue& e, const view<float>& y,
            context& c) {
  core::workspace::frame frame(c.scratch);
  multiply(prepare(x, w.format, frame, c.run), w, e, y, c);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
#include <steno/error.hpp>
#include <steno/kernels/product/int8_strip.hpp>

#include <cstdint>
#include <string>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

namespace detail {

/// How a product is cut: `down` pieces of panels (or rows) by `across` pieces of columns. Those of the same rows follow
/// one another: the rows then stay in the second cache while the weights stream by.
struct strip_plan {
  extent pieces;  // panels or rows in all
  extent deep;    // of them in a strip, a multiple of `step`
  extent columns;
  extent down, across;

  strip_plan(extent n, extent all, extent per_strip, extent step, extent strip_columns)
      : pieces(all),
        deep(step * even((all + step - 1) / step, std::max<extent>(per_strip / step, 1))),
        columns(strip_columns),
        down((all + deep - 1) / deep),
        across((n + columns - 1) / columns) {}

  // The fewest strips of up to `limit`, of equal height: a low last strip would prepare its weights for few rows.
  static constexpr extent even(extent all, extent limit) {
    const extent strips = (all + limit - 1) / limit;
    return strips == 0 ? 1 : (all + strips - 1) / strips;
  }
};

inline constexpr extent strip_bytes = 420 << 10;  // quants of x in a strip of an int8 product
inline constexpr extent part_bytes = 1000 << 10;  // of x in a part of a strip, which stay in the second cache

/// Groups of columns in a strip of spans in tiles: with few rows several times two, of sixteen strips or more.
constexpr extent span_groups(extent rows, extent columns) {
  return rows > 32 ? 2 : 2 * std::clamp<extent>(columns / 512, 1, 4);
}

/// Rows of a strip, and the columns of x in parts, one after the other, where those of all rows of the strip do not fit
/// the second cache together.
struct part_plan {
  extent rows;       // or fewer
  extent parts = 1;  // of the columns; more only where x is in terms, or panels of floats
  extent steps = 0;  // of 32 columns in a part, where there may be more
};
/// For x in terms: panels of `height` rows in pairs, of which `fitting` rows stay in the second cache; up to `limit`
/// parts, each of a multiple of `unit` steps, but for the last. With parts there are fewer strips, each of which reads
/// and widens all weights; but sums of a row go to memory and back with each, so columns must be many.
constexpr part_plan plan_parts(extent rows, extent columns, extent fitting, extent height, extent limit, extent unit) {
  const auto count = [](extent all, extent each) { return (all + each - 1) / each; };
  const extent whole = std::max(fitting, 4 * height), steps = steps_of(columns);
  const extent deep = strip_plan::even(rows, fitting * std::clamp<extent>(columns / (4 * fitting), 1, limit));
  if (deep <= whole) return {.rows = whole, .steps = steps};
  const extent in_part = count(count(steps, count(deep, fitting)), unit) * unit;
  return {.rows = count(deep, 2 * height) * 2 * height, .parts = count(steps, in_part), .steps = in_part};
}

/// For panels of floats, up to `limit` rows in a strip. In parts where a strip would read several times as much as the
/// second cache holds for each few columns of y, and sums, which go to memory and back with each part, are half of x or
/// less, as in the second product of a feed-forward. It saves time where others use the last cache, too, as on a
/// virtual machine.
constexpr part_plan plan_float_parts(extent rows, extent columns, extent outputs, extent limit) {
  const auto count = [](extent all, extent each) { return (all + each - 1) / each; };
  constexpr extent unit = 8;  // steps: whole pieces of widened weights on every instruction set
  const extent steps = steps_of(columns), bytes = strip_plan::even(rows, limit) * columns * 4;
  if (bytes <= 4 * part_bytes || 2 * outputs > columns) return {.rows = limit, .steps = steps};
  const extent in_part = count(count(steps, count(bytes, part_bytes)), unit) * unit;
  return {.rows = limit, .parts = count(steps, in_part), .steps = in_part};
}

/// One of the ways of doing a product: how it is cut, and who does a strip.
struct product_way {
  void (*strip)(const detail::strip&) noexcept;
  extent columns;  // of a strip
  part_plan part;
  extent scratch;  // floats of a worker, beside the sums
  extent step;     // panels or rows that are met at once
  bool panels;     // strips consist of panels of x, else of rows
  bool packed;     // weights are read in packed groups
};
inline product_way way_of(const operand& x, const weights::weight_ref& w, const product_table& table) noexcept {
  const extent height = x.split.count > 0 ? x.split.height(0) : 1;
  if (x.terms != nullptr) {
    const extent fitting = std::max<extent>(part_bytes / (2 * x.term_count * x.cols), 1);
    return {.strip = table.term_strip,
            .columns = 2 * group,
            .part = plan_parts(x.rows, x.cols, fitting, height, table.term_parts, table.term_steps),
            .scratch = table.term_scratch,
            .step = 2,
            .panels = true,
            .packed = true};
  }
  if (is_int8(x.family)) {
    const bool few = table.int8_few != nullptr && x.rows <= table.int8_few(layout_of(w.format).bits);
    return {.strip = few                           ? table.int8_row_strip
                     : table.int8_strip != nullptr ? table.int8_strip
                                                   : int8_strip,
            .columns = (few        ? 2
                        : x.paired ? span_groups(x.rows, w.rows)
                                   : table.int8_groups) *
                       group,
            .part = {.rows = std::clamp<extent>(strip_bytes / x.cols, 6 * height, table.int8_rows)},
            .scratch = unpack_floats,
            .step = 1,
            .panels = true,
            .packed = true};
  }
  const bool panels = x.panels != nullptr;
  const bool pairs = is_columns(x.family) && x.rows <= table.half_pair_rows;
  // Weights as stored would be packed anew with each part.
  const bool in_parts = panels && (!is_columns(x.family) || w.packed != nullptr);
  return {.strip = panels ? table.float_panel_strip : table.float_row_strip,
          .columns = pairs ? 2 * group : table.float_columns,
          .part = in_parts ? plan_float_parts(x.rows, x.cols, w.rows, table.float_rows)
                           : part_plan{.rows = table.float_rows, .steps = steps_of(x.cols)},
          .scratch = panels ? table.float_panel_scratch : 0,
          .step = 1,
          .panels = panels,
          .packed = is_columns(x.family) && (panels || w.packed != nullptr)};
}

STENO_KERNEL_BODY void multiply_ahead(const operand& x, const weights::weight_ref& w, const epilogue& e, view<float>& y,
                                      const read_ahead& ahead, context& c) {
  const product_table& table = table_of(x.level);
  const product_way way = way_of(x, w, table);
  const extent height = way.panels ? x.split.height(0) : 1;
  const strip_plan plan(w.rows, way.panels ? x.split.count : x.rows, way.part.rows / height, way.step, way.columns);

  // Scratch of one worker: sums of a strip, what its way needs, packed groups (of weights as stored).
  const extent sums = plan.deep * height * ((way.columns + 31) / 32 * 32);
  const block_layout layout = layout_of(w.format);
  const std::size_t next_group = way.packed ? group_bytes(w.format, w.cols) : 0;
  const std::size_t groups = w.packed == nullptr ? static_cast<std::size_t>(groups_of(way.columns)) * next_group : 0;
  const std::size_t floats = (static_cast<std::size_t>((way.part.parts == 1 ? sums : 0) + way.scratch) + 15) / 16 * 16;
  const std::size_t bytes = (floats * 4 + groups + 63) / 64 * 64;
  core::workspace::frame frame(c.scratch);
  auto* scratch = frame.take<std::byte>(bytes * static_cast<std::size_t>(c.run.width()));
  // Sums of a strip's rows by all columns, which wait for the next part of K.
  float* const kept = way.part.parts == 1 ? nullptr : frame.take<float>(static_cast<std::size_t>(sums * plan.across));

  const auto task = [&](extent i, int worker, extent part) noexcept {
    std::byte* own = scratch + bytes * static_cast<std::size_t>(worker);
    float* const floats_of_own = reinterpret_cast<float*>(own);
    const extent first = i / plan.across * plan.deep, n0 = i % plan.across * plan.columns;
    strip s{.table = &table,
            .x = &x,
            .w = &w,
            .e = &e,
            .y = y.data(),
            .y_stride = y.outerStride(),
            .first = first,
            .last = std::min(first + plan.deep, plan.pieces),
            .n0 = n0,
            .n1 = std::min(n0 + plan.columns, w.rows),
            .k0 = part * way.part.steps,
            .k1 = std::min((part + 1) * way.part.steps, steps_of(x.cols)),
            .packed = nullptr,
            .next_group = next_group,
            .layout = layout,
            .ahead = ahead,
            .sums = kept != nullptr ? kept + i % plan.across * sums : floats_of_own,
            .scratch = kept != nullptr ? floats_of_own : floats_of_own + sums};
    if (way.packed && w.packed != nullptr) {
      s.packed = w.packed + static_cast<std::size_t>(n0 / group) * next_group;
    } else if (way.packed) {
      std::byte* to = own + floats * 4;
      s.packed = to;
      const extent count = groups_of(s.n1 - s.n0);
      for (extent g = 0; g < count; ++g, to += next_group) pack_group(w, n0 / group + g, to);
    }
    way.strip(s);
  };
  // With parts one strip of rows after the other, so that no more sums wait than those of its rows.
  const extent at_once = kept == nullptr ? plan.down : 1;
  for (extent down = 0; down < plan.down; down += at_once)
    for (extent part = 0; part < way.part.parts; ++part)
      c.run.run(at_once * plan.across,
                [&](extent i, int worker) noexcept { task(down * plan.across + i, worker, part); });
}

[[noreturn]] STENO_COLD inline void refuse_extents(const operand& x, const weights::weight_ref& w,
                                                   const view<float>& y) {
  std::string found;
  for (const extent n : {x.rows, x.cols, w.rows, w.cols, y.rows(), y.cols()})
    found.append(found.empty() ? "" : " ").append(std::to_string(n));
  fail({.what = "extents of a product: x, weight, y", .expected = "m k, n k, m n", .found = found});
}

/// Whether y shares a value with the rows of x. Other columns of the same matrix do not.
inline bool overlap(const operand& x, const view<const float>& y) noexcept {
  if (x.x == nullptr || x.rows == 0 || y.size() == 0) return false;
  const auto first_x = reinterpret_cast<std::uintptr_t>(x.x), first_y = reinterpret_cast<std::uintptr_t>(y.data());
  const auto bytes = [](extent values) { return static_cast<std::uintptr_t>(values) * sizeof(float); };
  const auto whole = [&](extent rows, extent cols, extent stride) { return bytes((rows - 1) * stride + cols); };
  if (first_x + whole(x.rows, x.cols, x.stride) <= first_y) return false;
  if (first_y + whole(y.rows(), y.cols(), y.outerStride()) <= first_x) return false;
  if (x.stride != y.outerStride()) return true;
  const bool x_leads = first_x <= first_y;
  const std::uintptr_t shift = (x_leads ? first_y - first_x : first_x - first_y) % bytes(x.stride);
  return shift < bytes(x_leads ? x.cols : y.cols()) || shift + bytes(x_leads ? y.cols() : x.cols) > bytes(x.stride);
}
}  // namespace detail

STENO_KERNEL_BODY void multiply(const operand& x, const weights::weight_ref& w, const epilogue& e, const view<float>& y,
                                context& c) {
  // Loading compares the widths of neighbours; one that it forgets must not become a read of foreign memory.
  if (x.cols != w.cols || y.rows() != x.rows || y.cols() != w.rows) detail::refuse_extents(x, w, y);
  assert(!detail::overlap(x, y) && "a product may read what it has written");
  view<float> out = y;
  if (x.rows == 0 || w.rows == 0) return;
  if (!has_product(w.format)) {
    assert(false && "a weight format without a product");
    out.setConstant(std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const read_ahead& ahead = read_ahead_of(this_family());
  if (x.family == family_of(w.format)) return detail::multiply_ahead(x, w, e, out, ahead, c);
  assert(x.x != nullptr && "rows that were made for weights of another family");
  core::workspace::frame frame(c.scratch);
  const operand again =
      prepare(core::make_view<dynamic, dynamic>(x.x, x.rows, x.cols, x.stride), w.format, frame, c.run);
  detail::multiply_ahead(again, w, e, out, ahead, c);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
