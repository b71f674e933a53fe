// steno/kernels/attention.hpp - attention of all heads: softmax(scale q k^T) v.
//
//   out[i][h] = sum_j softmax_j(scale q[i][h] . k[j][h] + bias[h][i][j]) v[j][h],  columns [h * d, (h + 1) * d) belong
//   to head h; keys j that query i may not see (causal, window) are left out
// The score matrix never exists as a whole: tiles of queries walk over tiles of 128 keys in order and keep the largest
// score, the sum and the weighted values so far (the online softmax). Keys are transposed and values copied once per
// head into scratch. A few queries (a decoder's step) read keys and values where they lie instead. Keys and values that
// many calls read (those of an encoder's output, in a decoder) may be packed once, as floats or halves
// (packed_keys_values). Many queries of models with quantised weights are multiplied as bfloat16 numbers where that is
// faster (attention_options::rounds, bfloat_attention.hpp). Bodies: generic/attention.inl and attention_tile.inl.
// Tested in tests/kernels/attention_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/dtype.hpp>
#include <steno/core/half.hpp>
#include <steno/kernels/processor_family.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

struct attention_options {
  float scale = 1.0f;  ///< multiplies q before the product, as FunASR and torch do
  /// q, k, v and the weights of values may be rounded, to 16 bits where the processor has tiles of bfloat16 (2^-16 of
  /// each), to 8 where it multiplies bfloat16 numbers twice as fast as floats (2^-9): little where a model's weights
  /// are quantised, and faster.
  bool rounds = false;
  /// Heads of k and v; 0: as many as q has. Query head h reads head h / (heads / key_heads) (grouped-query attention).
  extent key_heads = 0;
  /// Query i sees keys j <= i + causal_offset; keys - queries makes the last query see all. Negative limits are
  /// allowed: a query that sees nothing gives zeros.
  bool causal = false;
  extent causal_offset = 0;
  /// With `causal`: of these keys only the last `window` (0: all).
  extent window = 0;
  /// Floats from one head's keys (values) to the next's; 0: heads are column blocks, as in q.
  extent key_head_stride = 0, value_head_stride = 0;
  /// Row of k and v that holds key j: key_rows[j], `key_count` of them (a beam's rows among those of others). They are
  /// read in place, however many queries there are. Null: row j.
  const extent* key_rows = nullptr;
  extent key_count = 0;
  /// Added to the scaled scores: bias[h * bias_head_stride + i * bias_stride + j]; head stride 0 shares it. Null: none.
  const float* bias = nullptr;
  extent bias_stride = 0, bias_head_stride = 0;
};

namespace detail {

inline constexpr extent attention_panel = 64;    // columns and depth of a block that stays in the first cache: 16 KiB
inline constexpr extent attention_keys = 128;    // keys in a tile, a multiple of the panel
inline constexpr extent attention_queries = 96;  // the largest number of queries in a tile
inline constexpr extent attention_rows = 12;     // a multiple of tile_rows of every instruction set
inline constexpr extent attention_few = 8;       // up to as many queries read keys and values in place
inline constexpr extent attention_tiles_from = 64;  // queries for which tiles of bfloat16 pay

constexpr extent round_up(extent n, extent step) { return (n + step - 1) / step * step; }

}  // namespace detail

/// q [Tq, heads * d], k [Tk, key_heads * d], v [Tk, key_heads * dv], out [Tq, heads * dv]; views may be column blocks
/// of one fused matrix (with head strides: k [Tk, d] of the first head). A query without keys gives 0. out must not
/// overlap the inputs. Tiles of heads and queries run on c.run.
STENO_KERNEL_API void attention(const view<const float>& q, const view<const float>& k, const view<const float>& v,
                                extent heads, const attention_options& options, const view<float>& out, context& c);

/// The same with nothing but a scale.
template <class = void>
void attention(const view<const float>& q, const view<const float>& k, const view<const float>& v, extent heads,
               float scale, const view<float>& out, context& c) {
  attention(q, k, v, heads, attention_options{.scale = scale}, out, c);
}

/// Keys and values of heads that are packed once for many calls: tiles of keys of one head after the other, then tiles
/// of values, as detail::attention_job describes them.
struct packed_keys_values {
  std::byte* data = nullptr;          ///< bytes() of them, best on a cache line
  dtype format = dtype::f32;          ///< or f16
  extent heads = 0, keys = 0;         ///< the same heads as q has
  extent width = 0, value_width = 0;  ///< of one head

  extent tiles() const noexcept { return (keys + detail::attention_keys - 1) / detail::attention_keys; }
  extent key_values() const noexcept { return heads * tiles() * detail::round_up(width, 16) * detail::attention_keys; }
  extent values() const noexcept {
    return key_values() +
           heads * tiles() * detail::round_up(value_width, detail::attention_panel) * detail::attention_keys;
  }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(values()) * (format == dtype::f16 ? 2 : 4); }
};

/// k [keys, heads * width] and v [keys, heads * value_width] into m.data.
STENO_KERNEL_API void pack_attention(const view<const float>& k, const view<const float>& v,
                                     const packed_keys_values& m, context& c);

/// attention() of q [Tq, heads * width] over all keys of `m`; out [Tq, heads * value_width].
STENO_KERNEL_API void attention(const view<const float>& q, const packed_keys_values& m, float scale,
                                const view<float>& out, context& c);

/// Keys of one head as rows: out [keys, width].
inline void unpack_keys(const packed_keys_values& m, extent head, view<float> out) noexcept {
  constexpr extent step = detail::attention_keys, panel = detail::attention_panel;
  const extent depth = detail::round_up(m.width, 16);
  for (extent j = 0; j < m.keys; ++j)
    for (extent i = 0; i < m.width; ++i) {
      const extent at =
          (head * m.tiles() + j / step) * depth * step + j % step / panel * panel * depth + i * panel + j % panel;
      out(j, i) = m.format == dtype::f16 ? core::half_to_float(reinterpret_cast<const std::uint16_t*>(m.data)[at])
                                         : reinterpret_cast<const float*>(m.data)[at];
    }
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno

#if STENO_KERNEL_BODIES
namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {

/// What all tiles of a call share. Packed matrices consist of panels [depth][64]: the transposed keys of one slot (a
/// head at work) and tile are two panels with depth d; their values are ceil(dv / 64) panels with depth 128. Lanes
/// behind the last key and the last column are zeros as far as vectors reach.
struct attention_job {
  const float *q, *k, *v;
  extent q_stride, k_stride, v_stride, out_stride;
  float* out;
  extent queries, keys;          // rows of q; of k and v
  extent width, value_width;     // d of q and k; of v
  extent key_tiles, query_tile;  // number of tiles of keys; queries in a tile
  extent sharing;                // heads of q that read one head of k and v
  attention_options options;
  float *packed_keys, *packed_values;
  const std::uint16_t *half_keys = nullptr, *half_values = nullptr;  // packed before, a slot for each head
  bool tiles = false;  // packed matrices are tiles of bfloat16 numbers, as generic/bfloat_attention.inl says

  /// Keys [first, last) that query i sees.
  extent last_key(extent i) const {
    return options.causal ? std::clamp<extent>(i + options.causal_offset + 1, 0, keys) : keys;
  }
  extent first_key(extent i) const {
    return options.causal && options.window > 0
               ? std::clamp<extent>(i + options.causal_offset + 1 - options.window, 0, keys)
               : 0;
  }
  const float* bias_of(extent head, extent i) const {
    return options.bias == nullptr ? nullptr : options.bias + head * options.bias_head_stride + i * options.bias_stride;
  }

  const float* keys_of(extent head) const { return k + head / sharing * options.key_head_stride; }
  const float* values_of(extent head) const { return v + head / sharing * options.value_head_stride; }
  extent row_of(extent key) const { return options.key_rows == nullptr ? key : options.key_rows[key]; }

  extent value_stride() const { return round_up(value_width, tiles ? 32 : 16); }
  /// Floats that a tile of keys, or of their values, takes; two bfloat16 numbers take as much as a float.
  extent key_tile() const { return round_up(width, tiles ? 32 : 16) * attention_keys; }
  extent value_tile() const { return round_up(value_width, tiles ? 32 : attention_panel) * attention_keys; }
  float* keys_at(extent slot, extent tile) const { return packed_keys + (slot * key_tiles + tile) * key_tile(); }
  float* values_at(extent slot, extent tile) const { return packed_values + (slot * key_tiles + tile) * value_tile(); }
  /// Chooses tiles of even height, so that the last one is not a small rest; it depends on the number of queries alone.
  /// Returns how many there are.
  extent cut_queries() {
    const extent fewest = (queries + attention_queries - 1) / attention_queries;
    query_tile = round_up((queries + fewest - 1) / fewest, tiles ? 32 : attention_rows);
    return (queries + query_tile - 1) / query_tile;
  }
  /// The largest number of rows of a tile of queries.
  extent rows() const { return round_up(query_tile, tiles ? 16 : attention_rows); }
  /// Floats of scratch that the products of a tile of queries need: of halves, a tile that is widened.
  extent product_floats() const {
    if (tiles) return rows() * (round_up(width, 32) + attention_keys);
    return half_keys == nullptr ? 0 : std::max(key_tile(), value_tile());
  }
  /// And one worker: scaled queries, scores, weighted values, largest scores, sums.
  extent worker_floats() const { return product_floats() + rows() * (width + attention_keys + value_stride() + 2); }
};

/// What a call over packed keys and values starts from.
inline attention_job job_of(const packed_keys_values& m) noexcept {
  attention_job job{};
  job.keys = m.keys;
  job.width = m.width;
  job.value_width = m.value_width;
  job.key_tiles = m.tiles();
  job.sharing = 1;
  if (m.format == dtype::f16) {
    job.half_keys = reinterpret_cast<const std::uint16_t*>(m.data);
    job.half_values = job.half_keys + m.key_values();
  } else {
    job.packed_keys = reinterpret_cast<float*>(m.data);
    job.packed_values = job.packed_keys + m.key_values();
  }
  return job;
}

}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno

#define STENO_KERNEL_FILE <steno/kernels/generic/attention_tile.inl>
#include <steno/kernels/isa/for_each.hpp>
#define STENO_KERNEL_FILE <steno/kernels/generic/attention.inl>
#include <steno/kernels/isa/for_each.hpp>
#if defined(__x86_64__)
#include <steno/kernels/isa/region_amx_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::amx {
inline void attention_pack(const detail::attention_job& job, extent head, extent tile, float* keys,
                           float* values) noexcept;
inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept;
}  // namespace kernels::amx
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>

#include <steno/kernels/isa/region_avx512bf16_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512bf16 {
inline void attention_pack(const detail::attention_job& job, extent head, extent tile, float* keys,
                           float* values) noexcept;
inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept;
}  // namespace kernels::avx512bf16
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

STENO_KERNEL_BODY void attention(const view<const float>& q, const view<const float>& k, const view<const float>& v,
                                 extent heads, const attention_options& options, const view<float>& out, context& c) {
  if (q.rows() == 0 || heads == 0) return;
  view<float> y(out);
  if (k.rows() == 0) {
    y.setZero();
    return;
  }
  const extent key_heads = options.key_heads > 0 ? options.key_heads : heads;
  const extent width = q.cols() / heads, value_width = y.cols() / heads;
  const extent keys = options.key_rows != nullptr ? options.key_count : k.rows();
  detail::attention_job job{
      .q = q.data(),
      .k = k.data(),
      .v = v.data(),
      .q_stride = q.outerStride(),
      .k_stride = k.outerStride(),
      .v_stride = v.outerStride(),
      .out_stride = y.outerStride(),
      .out = y.data(),
      .queries = q.rows(),
      .keys = keys,
      .width = width,
      .value_width = value_width,
      .key_tiles = (keys + detail::attention_keys - 1) / detail::attention_keys,
      .query_tile = 0,
      .sharing = heads / key_heads,
      .options = options,
      .packed_keys = nullptr,
      .packed_values = nullptr,
  };
  if (job.options.key_head_stride == 0) job.options.key_head_stride = width;
  if (job.options.value_head_stride == 0) job.options.value_head_stride = value_width;
  core::workspace::frame frame(c.scratch);
  if (job.queries <= detail::attention_few || options.key_rows != nullptr) {
    const extent each = detail::round_up(job.keys, 16);
    float* const scores = frame.take<float>(static_cast<std::size_t>(each * c.run.width()));
    const auto row = STENO_KERNEL(attention_row);
    c.run.run(heads * job.queries,
              [&](extent i, int worker) { row(job, i / job.queries, i % job.queries, scores + worker * each); });
    return;
  }
  auto pack = STENO_KERNEL(attention_pack);
  auto tile = STENO_KERNEL(attention_tile);
#if defined(__x86_64__)
  const bool rounds = options.rounds && job.queries >= detail::attention_tiles_from;
  if (rounds && active_isa() == isa::amx) {
    job.tiles = true;
    pack = amx::attention_pack;
    tile = amx::attention_tile;
  } else if (rounds && has_fast_bfloat16()) {
    job.tiles = true;
    pack = avx512bf16::attention_pack;
    tile = avx512bf16::attention_tile;
  }
#endif
  const extent query_tiles = job.cut_queries();
  // As many heads at a time as there are workers, so that what is packed is still near when it is used.
  const extent group = std::min<extent>(heads, c.run.width());
  job.packed_keys = frame.take<float>(static_cast<std::size_t>(group * job.key_tiles * job.key_tile()));
  job.packed_values = frame.take<float>(static_cast<std::size_t>(group * job.key_tiles * job.value_tile()));
  const extent each = detail::round_up(job.worker_floats(), 16);
  float* const private_scratch = frame.take<float>(static_cast<std::size_t>(each * c.run.width()));

  for (extent first = 0; first < heads; first += group) {
    const extent now = std::min(group, heads - first);
    c.run.run(now * job.key_tiles, [&](extent i, int) {
      const extent slot = i / job.key_tiles;
      pack(job, first + slot, i % job.key_tiles, job.keys_at(slot, i % job.key_tiles),
           job.values_at(slot, i % job.key_tiles));
    });
    c.run.run(now * query_tiles, [&](extent i, int worker) {
      const extent slot = i / query_tiles;
      tile(job, first + slot, slot, i % query_tiles, private_scratch + worker * each);
    });
  }
}

STENO_KERNEL_BODY void pack_attention(const view<const float>& k, const view<const float>& v,
                                      const packed_keys_values& m, context& c) {
  assert(k.rows() == m.keys && v.rows() == m.keys && k.cols() == m.heads * m.width);
  detail::attention_job job = detail::job_of(m);
  job.k = k.data();
  job.v = v.data();
  job.k_stride = k.outerStride();
  job.v_stride = v.outerStride();
  job.options.key_head_stride = m.width;
  job.options.value_head_stride = m.value_width;
  const auto pack = STENO_KERNEL(attention_pack);
  const auto narrow = STENO_KERNEL(attention_narrow);
  const bool halves = m.format == dtype::f16;
  const extent tiles = m.tiles(), of_keys = job.key_tile(), each = of_keys + job.value_tile();
  core::workspace::frame frame(c.scratch);
  float* const wide = halves ? frame.take<float>(static_cast<std::size_t>(each * c.run.width())) : nullptr;
  if (halves) std::fill(wide, wide + each * c.run.width(), 0.0f);
  c.run.run(m.heads * tiles, [&](extent i, int worker) {
    const extent head = i / tiles, tile = i % tiles;
    if (!halves) return pack(job, head, tile, job.keys_at(head, tile), job.values_at(head, tile));
    float* const own = wide + worker * each;
    pack(job, head, tile, own, own + of_keys);
    narrow(own, of_keys, const_cast<std::uint16_t*>(job.half_keys) + i * of_keys);
    narrow(own + of_keys, each - of_keys, const_cast<std::uint16_t*>(job.half_values) + i * (each - of_keys));
  });
}

STENO_KERNEL_BODY void attention(const view<const float>& q, const packed_keys_values& m, float scale,
                                 const view<float>& out, context& c) {
  if (q.rows() == 0 || m.heads == 0) return;
  view<float> y(out);
  if (m.keys == 0) {
    y.setZero();
    return;
  }
  detail::attention_job job = detail::job_of(m);
  job.q = q.data();
  job.q_stride = q.outerStride();
  job.out = y.data();
  job.out_stride = y.outerStride();
  job.queries = q.rows();
  const extent query_tiles = job.cut_queries();
  job.options.scale = scale;
  const extent each = detail::round_up(job.worker_floats(), 16);
  core::workspace::frame frame(c.scratch);
  float* const scratch = frame.take<float>(static_cast<std::size_t>(each * c.run.width()));
  const auto tile = STENO_KERNEL(attention_tile);
  c.run.run(m.heads * query_tiles, [&](extent i, int worker) {
    const extent head = i / query_tiles;
    tile(job, head, head, i % query_tiles, scratch + worker * each);
  });
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
#if defined(__x86_64__)
#include <steno/kernels/bfloat_attention.hpp>
#endif
#endif
