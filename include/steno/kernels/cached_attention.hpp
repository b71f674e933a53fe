// steno/kernels/cached_attention.hpp - attention over keys and values that are kept in fewer bits than floats.
//
//   out[i][h] = sum_{j <= i + offset} softmax_j(scale q[i][h] . k[j][g]) v[j][g],   g = h / (heads / key heads)
//
// A row of a head is stored as halves, or as q8_0: a float for each 32 values (their largest / 127), then all values as
// bytes, filled up with zeros to whole blocks; ggml's Q8_0 but for the scale, which is no half. Few queries (a step of
// a decoder) widen 16 rows at a time and let all heads of a group meet them; for many (a prompt) a head is widened once
// and attention() does the rest. Body: generic/cached_attention.inl. Tested in tests/kernels/cached_attention_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/attention.hpp>

#include <cstddef>
#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Whether rows can be kept in this format: f32, f16 or q8_0.
constexpr bool cacheable(dtype format) noexcept {
  return format == dtype::f32 || format == dtype::f16 || format == dtype::q8_0;
}
/// Bytes of a stored row of `width` values.
constexpr std::size_t cached_row_bytes(dtype format, extent width) noexcept {
  const auto n = static_cast<std::size_t>(width);
  if (format == dtype::f32) return 4 * n;
  return format == dtype::f16 ? 2 * n : (n + 31) / 32 * 36;
}

/// Keys and values of all heads: rows of a head one after the other, heads `head_stride` bytes apart.
struct cached_rows {
  const std::byte *keys = nullptr, *values = nullptr;
  dtype format = dtype::f32;
  extent rows = 0, heads = 0, width = 0;
  std::size_t head_stride = 0;
  /// Stored row that holds row j: list[j], `rows` of them (a text's among those of others). Null: row j.
  const extent* list = nullptr;
};

/// `width` floats to a stored row, and back. f32 is copied.
STENO_KERNEL_API void store_cached(dtype format, const float* from, extent width, std::byte* to) noexcept;
STENO_KERNEL_API void load_cached(dtype format, const std::byte* from, extent width, float* to) noexcept;

/// q [Tq, heads * width], out the same; query i sees rows j <= i + causal_offset. `heads` is a multiple of m.heads.
/// Heads and queries run on c.run; scratch holds one head as floats when there are more than attention_few queries and
/// no list.
STENO_KERNEL_API void attention(const view<const float>& q, const cached_rows& m, extent heads, float scale,
                                extent causal_offset, const view<float>& out, context& c);

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {

/// A call with few queries: what one group of heads needs.
struct cached_job {
  cached_rows m;
  const float* q;
  float* out;
  extent q_stride, out_stride, sharing, offset;
  float scale;

  extent padded() const { return round_up(m.width, 32); }
  extent seen(extent query) const { return std::clamp<extent>(query + offset + 1, 0, m.rows); }
  /// Floats of scratch of a worker: 16 rows, queries and sums of a group, its scores.
  extent worker_floats() const { return padded() * (16 + 2 * sharing) + sharing * round_up(m.rows, 16); }
};

}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno

#define STENO_KERNEL_FILE <steno/kernels/generic/cached_attention.inl>
#include <steno/kernels/isa/for_each.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void store_cached(dtype format, const float* from, extent width, std::byte* to) noexcept {
  STENO_KERNEL(cached_store)(format, from, width, to);
}
STENO_KERNEL_BODY void load_cached(dtype format, const std::byte* from, extent width, float* to) noexcept {
  STENO_KERNEL(cached_load)(format, from, width, to);
}

STENO_KERNEL_BODY void attention(const view<const float>& q, const cached_rows& m, extent heads, float scale,
                                 extent causal_offset, const view<float>& out, context& c) {
  if (q.rows() == 0 || heads == 0) return;
  view<float> y(out);
  if (m.rows == 0) {
    y.setZero();
    return;
  }
  const extent sharing = heads / m.heads;
  core::workspace::frame frame(c.scratch);
  if (q.rows() <= detail::attention_few || m.list != nullptr) {
    const detail::cached_job job{.m = m,
                                 .q = q.data(),
                                 .out = y.data(),
                                 .q_stride = q.outerStride(),
                                 .out_stride = y.outerStride(),
                                 .sharing = sharing,
                                 .offset = causal_offset,
                                 .scale = scale};
    const extent each = detail::round_up(job.worker_floats(), 16);
    float* const scratch = frame.take<float>(static_cast<std::size_t>(each * c.run.width()));
    const auto group = STENO_KERNEL(cached_group);
    c.run.run(m.heads * q.rows(),
              [&](extent i, int worker) { group(job, i / q.rows(), i % q.rows(), scratch + worker * each); });
    return;
  }
  const std::size_t row = cached_row_bytes(m.format, m.width);
  const auto load = STENO_KERNEL(cached_load);
  auto keys = frame.matrix(m.rows, m.width), values = frame.matrix(m.rows, m.width);
  float* const k = keys.data();
  float* const v = values.data();
  constexpr extent task_rows = 64;
  for (extent g = 0; g < m.heads; ++g) {
    const std::size_t head = static_cast<std::size_t>(g) * m.head_stride;
    c.run.run((m.rows + task_rows - 1) / task_rows, [&](extent i, int) {
      for (extent j = i * task_rows; j < std::min(m.rows, (i + 1) * task_rows); ++j) {
        const std::size_t at = head + static_cast<std::size_t>(j) * row;
        load(m.format, m.keys + at, m.width, k + j * m.width);
        load(m.format, m.values + at, m.width, v + j * m.width);
      }
    });
    const extent first = g * sharing * m.width, count = sharing * m.width;
    attention(q.middleCols(first, count), core::read(keys), core::read(values), sharing,
              {.scale = scale, .key_heads = 1, .causal = true, .causal_offset = causal_offset},
              core::write(y.middleCols(first, count)), c);
  }
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#endif
