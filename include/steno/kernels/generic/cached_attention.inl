// steno/kernels/generic/cached_attention.inl - rows in few bits and few queries over them; compiled per instruction set
// by cached_attention.hpp.
//
// Sums run over columns in lanes and over rows in order, so every instruction set with FMA gives the same bits.
// SPDX-License-Identifier: Apache-2.0

/// One row.
inline void cached_store(dtype format, const float* from, extent width, std::byte* to) noexcept {
  if (format == dtype::f32) {
    std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(float));
    return;
  }
  if (format == dtype::f16) {
    auto* const halves = reinterpret_cast<std::uint16_t*>(to);
    extent i = 0;
    for (; i + 16 <= width; i += 16) store_f16(halves + i, load(from + i));
    if (i < width) {
      std::uint16_t rest[16];
      store_f16(rest, load_n(from + i, static_cast<int>(width - i)));
      std::memcpy(halves + i, rest, static_cast<std::size_t>(width - i) * 2);
    }
    return;
  }
  const extent blocks = (width + 31) / 32;
  auto* const quants = reinterpret_cast<std::int8_t*>(to + 4 * blocks);
  for (extent b = 0; b < blocks; ++b) {
    const auto part = [&](extent i) {
      return load_n(from + std::min(i, width), static_cast<int>(std::clamp<extent>(width - i, 0, 16)));
    };
    const f32x16 x = part(32 * b), y = part(32 * b + 16);
    const float largest = reduce_max(max(abs(x), abs(y)));
    const float scale = largest / 127.0f;
    const f32x16 by = broadcast(largest > 0x1p-100f ? 127.0f / largest : 0.0f);
    std::memcpy(to + 4 * b, &scale, sizeof scale);
    store_i8(quants + 32 * b, x * by);
    store_i8(quants + 32 * b + 16, y * by);
  }
}

/// One row; `to` holds `width` floats.
inline void cached_load(dtype format, const std::byte* from, extent width, float* to) noexcept {
  if (format == dtype::f32) {
    std::memcpy(to, from, static_cast<std::size_t>(width) * sizeof(float));
    return;
  }
  if (format == dtype::f16) {
    const auto* const halves = reinterpret_cast<const std::uint16_t*>(from);
    extent i = 0;
    for (; i + 16 <= width; i += 16) store(to + i, load_f16(halves + i));
    if (i < width) {
      std::uint16_t rest[16] = {};
      std::memcpy(rest, halves + i, static_cast<std::size_t>(width - i) * 2);
      store_n(to + i, load_f16(rest), static_cast<int>(width - i));
    }
    return;
  }
  const extent blocks = (width + 31) / 32;
  const auto* const quants = reinterpret_cast<const std::int8_t*>(from + 4 * blocks);
  for (extent b = 0; b < blocks; ++b) {
    float scale;
    std::memcpy(&scale, from + 4 * b, sizeof scale);
    for (extent i = 32 * b; i < std::min(width, 32 * b + 32); i += 16)
      store_n(to + i, load_i8(quants + i) * broadcast(scale), static_cast<int>(std::min<extent>(16, width - i)));
  }
}

/// Heads of one group and one query. Columns behind the width are zeros in rows and queries.
inline void cached_group(const detail::cached_job& job, extent group, extent query, float* scratch) noexcept {
  const extent d = job.m.width, wide = job.padded(), to = job.seen(query), padded = detail::round_up(to, 16);
  float* const rows = scratch;
  float* const queries = rows + 16 * wide;
  float* const sums = queries + job.sharing * wide;
  float* const scores = sums + job.sharing * wide;
  const extent first = group * job.sharing * d;
  float* const out = job.out + query * job.out_stride + first;
  if (to == 0) {
    std::fill(out, out + job.sharing * d, 0.0f);
    return;
  }
  std::fill(rows, scores, 0.0f);
  for (extent s = 0; s < job.sharing; ++s)
    for (extent i = 0; i < d; ++i)
      queries[s * wide + i] = job.q[query * job.q_stride + first + s * d + i] * job.scale;

  const std::size_t row = cached_row_bytes(job.m.format, d);
  const auto widen = [&](const std::byte* from, extent j) __attribute__((always_inline)) {
    const std::byte* const all = from + static_cast<std::size_t>(group) * job.m.head_stride;
    for (extent b = 0; b < std::min<extent>(16, to - j); ++b) {
      const extent at = job.m.list == nullptr ? j + b : job.m.list[j + b];
      cached_load(job.m.format, all + static_cast<std::size_t>(at) * row, d, rows + b * wide);
    }
  };
  for (extent j = 0; j < to; j += 16) {
    widen(job.m.keys, j);
    for (extent s = 0; s < job.sharing; ++s) {
      alignas(64) float each[256], turned[256];
      const float* const q = queries + s * wide;
      for (extent b = 0; b < 16; ++b) {
        const float* const k = rows + b * wide;
        f32x16 s0 = zero(), s1 = zero();
        for (extent i = 0; i < wide; i += 32) {
          s0 = fma(load(q + i), load(k + i), s0);
          s1 = fma(load(q + i + 16), load(k + i + 16), s1);
        }
        store(each + 16 * b, s0 + s1);
      }
      transpose(each, 16, turned, 16);
      f32x16 dots = load(turned);
      for (extent b = 1; b < 16; ++b) dots = dots + load(turned + 16 * b);
      store(scores + s * padded + j, dots);
    }
  }
  for (extent s = 0; s < job.sharing; ++s) {
    float* const p = scores + s * padded;
    std::fill(p + to, p + padded, -std::numeric_limits<float>::infinity());
    f32x16 m = load(p);
    for (extent j = 16; j < padded; j += 16) m = max(load(p + j), m);
    const f32x16 shift = broadcast(reduce_max(m));
    f32x16 sum = zero();
    for (extent j = 0; j < padded; j += 16) {
      const f32x16 e = exp_bounded(load(p + j) - shift);
      store(p + j, e);
      sum = sum + e;
    }
    const f32x16 share = broadcast(1.0f / reduce_add(sum));
    for (extent j = 0; j < padded; j += 16) store(p + j, load(p + j) * share);
  }
  // Weights behind the last row are zeros, and the rows they meet are finite.
  for (extent j = 0; j < to; j += 16) {
    widen(job.m.values, j);
    for (extent s = 0; s < job.sharing; ++s)
      for (extent i = 0; i < d; i += 16) {
        f32x16 a = load(sums + s * wide + i), e = zero();
        for (extent b = 0; b < 16; b += 2) {
          a = fma(broadcast(scores[s * padded + j + b]), load(rows + b * wide + i), a);
          e = fma(broadcast(scores[s * padded + j + b + 1]), load(rows + (b + 1) * wide + i), e);
        }
        store(sums + s * wide + i, a + e);
      }
  }
  for (extent s = 0; s < job.sharing; ++s)
    for (extent i = 0; i < d; i += 16)
      store_n(out + s * d + i, load(sums + s * wide + i), static_cast<int>(std::min<extent>(16, d - i)));
}
