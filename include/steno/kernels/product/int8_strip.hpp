// steno/kernels/product/int8_strip.hpp - the walk through a strip of an int8 product: the same for all formats and
// instruction sets.
//
// The strip's weights are taken in pieces of a few blocks that stay in the first-level cache, unpacked once each, and
// met by all panels of x; sums go on from piece to piece, so the order is that of product/reference.hpp. q8_0 quants
// are read where they lie. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/table.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {

/// Blocks of a group, times groups, that are unpacked at once: 16 KiB of quants, 4 KiB of scales, 4 KiB of minima.
inline constexpr extent unpacked_blocks = 32;
inline constexpr extent unpack_floats = unpacked_blocks * (static_cast<extent>(group_quants) / 4 + 2 * 2 * group);

/// Its scratch: unpack_floats.
inline void int8_strip(const strip& s) noexcept {
  const product_table& table = *s.table;
  const operand& x = *s.x;
  const extent groups = std::min(table.int8_groups, groups_of(s.n1 - s.n0));
  const extent blocks = x.cols / block, stride = groups * group;
  const block_layout& layout = s.layout;
  const bool in_place = layout.bits == 8;
  const bool widens = layout.span > 1 && table.int8_tile_widens;  // the tiles do: nothing is left to unpack
  const bool spreads = layout.span > 1 && table.span_tile_fetches_results;
  const std::size_t next_group = s.next_group;
  auto* const quants = reinterpret_cast<std::byte*>(s.scratch);
  float* const scales = s.scratch + unpacked_blocks * static_cast<extent>(group_quants) / 4;
  float* const minima = scales + unpacked_blocks * 2 * group;
  // 16 blocks of x have their scales together. With one panel, little at a time, so that unpacked weights stay in the
  // first-level cache beside those that stream in.
  const extent max_step = s.last - s.first > 1 || in_place ? std::min<extent>(unpacked_blocks / groups, 16) : 8;
  const extent step = std::min(max_step, blocks);
  const extent vectors = static_cast<extent>(layout.vectors());

  int8_job job{};
  job.groups = groups;
  job.next_scales = step / layout.span * vectors * group;
  job.weight_scales = scales;
  job.minima = layout.minima ? minima : nullptr;
  job.layout = layout;
  job.plane = x.plane;
  job.next_ahead = next_group;
  job.next_result = s.y_stride;
  job.result_lines = groups_of(s.n1 - s.n0);
  // The tiles of the first panels fetch the next piece, each a part of it from begin to end: the second-level cache
  // then reads on by itself.
  const std::size_t block_bytes = in_place ? group_quants : layout.block_bytes();
  const auto panels = static_cast<std::size_t>(s.last - s.first);
  const std::size_t share = (block_bytes + 64 * panels - 1) / (64 * panels);
  const int lines = share <= 1 ? 1 : share <= 3 ? 3 : 5;
  const extent padded = padded_scales(x.cols, x.span);
  const extent first_row = x.split.first(s.first);
  const bool more = s.w->packed != nullptr && s.n1 < s.w->rows;
  const std::byte* const ahead_of_strip = more ? s.packed + static_cast<std::size_t>(groups) * next_group : s.packed;
  for (extent b = 0; b < blocks; b += step) {
    job.blocks = std::min(step, blocks - b);
    job.first = b == 0;
    const auto from = static_cast<std::size_t>(b);
    // What follows: the next blocks of these groups, or the first of the next strip's.
    const std::size_t unit = in_place ? group_scales : layout.unit_bytes();
    const std::byte* const start = s.packed + (in_place ? static_cast<std::size_t>(blocks) * group_quants : 0);
    const std::byte* const here = start + from / static_cast<std::size_t>(layout.unit()) * unit;
    const bool ends = b + job.blocks == blocks;
    const std::byte* const ahead = !ends  ? here + static_cast<std::size_t>(job.blocks / layout.unit()) * unit
                                   : more ? start + static_cast<std::size_t>(groups) * next_group
                                          : start;
    if (widens)
      for (extent g = 0; g < groups; ++g)
        for (extent line = 0; line < job.blocks / layout.span; line += 2)
          __builtin_prefetch(ahead + static_cast<std::size_t>(g) * next_group + 32 * line, 0, 2);
    for (extent g = 0; g < groups && !widens; ++g) {
      table.unpack({.layout = layout,
                    .in = here + static_cast<std::size_t>(g) * next_group,
                    .ahead = ahead + static_cast<std::size_t>(g) * next_group,
                    .fetches = !table.int8_tile_fetches,
                    .biased = table.int8_tile_biased,
                    .count = job.blocks,
                    .quants = quants + static_cast<std::size_t>(g * step) * group_quants,
                    .scales = scales + g * job.next_scales,
                    .minima = minima + g * job.next_scales});
    }
    const std::byte* const next =
        ends ? ahead_of_strip : s.packed + (from + static_cast<std::size_t>(job.blocks)) * group_quants;
    job.quants = in_place ? s.packed + from * group_quants : quants;
    job.next_quants = in_place ? next_group : static_cast<std::size_t>(step) * group_quants;
    job.half_scales = here;
    const extent scale = b / x.span, lane = scale % 16, line = scale - lane;
    extent m = first_row;
    for (extent p = s.first; p < s.last; m += job.rows, ++p) {
      job.rows = x.split.height(p);
      job.x = x.quants + m * x.cols + b * job.rows * block;
      const extent at = m * padded + line * job.rows + lane;
      job.scales = x.scales + at;
      job.starts = x.starts + at + (layout.halves ? x.plane : 0);
      job.offsets = x.offsets + at + (layout.halves ? x.plane : 0);
      job.sums = s.sums + (m - first_row) * stride;
      const std::size_t part = static_cast<std::size_t>(job.blocks * lines) * 64;
      const std::size_t done = static_cast<std::size_t>(p - s.first) * part;
      const bool fetches = done < static_cast<std::size_t>(job.blocks) * block_bytes;
      job.ahead = (in_place ? next : ahead) + (fetches ? done : 0);
      job.ahead_lines = fetches ? lines : 1;
      job.ahead_bytes = fetches ? static_cast<std::size_t>(lines) * 64 : 0;
      if (spreads)
        job.results = ends ? s.y + m * s.y_stride + s.n0 : nullptr;
      else if (ends)
        fetch_results(s, m, job.rows);
      table.int8_tile(job);
      if (ends) table.finish(s, job.sums, stride, m, job.rows);
    }
  }
}

}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno
