// steno/kernels/generic/attention.inl - the tiles of attention; compiled per instruction set by attention.hpp.
//
// Both products run on one register tile. Its sums go over k in order, whatever the tile's shape, so every instruction
// set with FMA gives the same bits.
// SPDX-License-Identifier: Apache-2.0

/// 16 stored values: floats, or halves.
STENO_INLINE f32x16 load_lanes(const float* p) { return load(p); }
STENO_INLINE f32x16 load_lanes(const std::uint16_t* p) { return load_f16(p); }

/// c[r][16 v ..] (+)= sum_k a[r][k] b[k][16 v ..] for r < rows, v < V, rows * V = sizeof...(I). Fully expanded: an
/// array indexed in a loop would be spilled.
template <int V, class B, int... I>
STENO_INLINE void product_tile(std::integer_sequence<int, I...>, const float* a, extent a_stride, const B* b,
                               extent b_stride, float* c, extent c_stride, extent depth, bool add) {
  f32x16 sum[sizeof...(I)] = {(add ? load(c + I / V * c_stride + I % V * 16) : zero())...};
  for (extent k = 0; k < depth; ++k)
    ((sum[I] = fma(broadcast(a[I / V * a_stride + k]), load_lanes(b + k * b_stride + I % V * 16), sum[I])), ...);
  (store(c + I / V * c_stride + I % V * 16, sum[I]), ...);
}

template <int R, int V, class B>
[[gnu::noinline]] void product_rows(const float* a, extent a_stride, const B* b, extent b_stride, float* c,
                                    extent c_stride, extent rows, extent depth, bool add) {
  for (extent r = 0; r < rows; r += R)
    product_tile<V>(std::make_integer_sequence<int, R * V>{}, a + r * a_stride, a_stride, b, b_stride, c + r * c_stride,
                    c_stride, depth, add);
}

/// c [rows, 16 vectors] (+)= a [rows, depth] b [depth, 16 vectors], b in panels; rows is a multiple of tile_rows, or 1.
/// Blocks of b small enough for the first cache meet all rows before the next one.
template <class B>
inline void tile_product(bool add, const float* a, extent a_stride, const B* b, extent panel_stride, float* c,
                         extent c_stride, extent rows, extent vectors, extent depth) {
  constexpr extent panel = detail::attention_panel;
  for (extent v = 0; v < vectors;) {
    // Four vectors, two or one at a time, as many as are left and the instruction set has registers for.
    const extent left = vectors - v;
    const int n = left >= 4 && tile_vectors >= 4 ? 4 : left >= 2 && tile_vectors >= 2 ? 2 : 1;
    const B* column = b + 16 * v / panel * panel_stride + 16 * v % panel;
    for (extent k = 0; k < depth; k += panel) {
      const auto block = [&](auto* product) {
        product(a + k, a_stride, column + k * panel, panel, c + 16 * v, c_stride, rows, std::min(panel, depth - k),
                add || k > 0);
      };
      constexpr int R = tile_rows;
      if (n == 1) block(rows == 1 ? product_rows<1, 1, B> : product_rows<R, 1, B>);
      if constexpr (tile_vectors >= 2)
        if (n == 2) block(rows == 1 ? product_rows<1, 2, B> : product_rows<R, 2, B>);
      if constexpr (tile_vectors >= 4)
        if (n == 4) block(rows == 1 ? product_rows<1, 4, B> : product_rows<R, 4, B>);
    }
    v += n;
  }
}

/// Transposes the keys and copies the values of one head and tile.
inline void attention_pack(const detail::attention_job& job, extent head, extent tile, float* keys,
                           float* values) noexcept {
  constexpr extent step = detail::attention_keys, panel = detail::attention_panel;
  const extent first = tile * step, count = std::min(step, job.keys - first);
  const float* k = job.keys_of(head) + first * job.k_stride;
  const extent depth = detail::round_up(job.width, 16);
  for (extent j = 0; j < count; j += 16) {
    float* const to = keys + j / panel * panel * depth + j % panel;
    for (extent i = 0; i < depth; i += 16) {
      const int n = static_cast<int>(std::min<extent>(16, job.width - i));
      if (n == 16 && j + 16 <= count) {
        for (extent b = 0; b < 16; ++b) __builtin_prefetch(k + std::min(j + b + 16, count - 1) * job.k_stride + i);
        transpose(k + j * job.k_stride + i, job.k_stride, to + i * panel, panel);
        continue;
      }
      alignas(64) float block[256];
      for (extent b = 0; b < 16; ++b)
        store(block + 16 * b, j + b < count ? load_n(k + (j + b) * job.k_stride + i, n) : zero());
      transpose(block, 16, to + i * panel, panel);
    }
  }
  const float* v = job.values_of(head) + first * job.v_stride;
  for (extent j = 0; j < count; ++j)
    for (extent i = 0; i < job.value_width; i += 16) {
      __builtin_prefetch(v + std::min(j + 8, count - 1) * job.v_stride + i);
      store(values + i / panel * panel * step + j * panel + i % panel,
            load_n(v + j * job.v_stride + i, static_cast<int>(std::min<extent>(16, job.value_width - i))));
    }
}

/// Whole vectors to halves and back.
inline void attention_narrow(const float* from, extent count, std::uint16_t* to) noexcept {
  for (extent i = 0; i < count; i += 16) store_f16(to + i, load(from + i));
}
inline void attention_widen(const std::uint16_t* from, extent count, float* to) noexcept {
  for (extent i = 0; i < count; i += 16) store(to + i, load_f16(from + i));
}

/// One head and one query: keys and values where they lie, 16 keys at a time. `scores` holds a float for every key.
inline void attention_row(const detail::attention_job& job, extent head, extent query, float* scores) noexcept {
  const extent from = job.first_key(query), to = job.last_key(query), d = job.width, dv = job.value_width;
  const float* const q = job.q + query * job.q_stride + head * d;
  float* const out = job.out + query * job.out_stride + head * dv;
  std::fill(out, out + dv, 0.0f);
  if (from >= to) return;
  const float* const k = job.keys_of(head);
  const float* const v = job.values_of(head);
  const f32x16 scale = broadcast(job.options.scale);
  for (extent j = from; j < to; j += 16) {
    // One sum of 16 lanes for each key, then all of them turned and added.
    alignas(64) float sums[256], turned[256];
    for (extent b = 0; b < 16; ++b) {
      const float* const key = k + job.row_of(std::min(j + b, to - 1)) * job.k_stride;
      f32x16 s0 = zero(), s1 = zero();
      extent i = 0;
      for (; i + 32 <= d; i += 32) {
        s0 = fma(load(q + i) * scale, load(key + i), s0);
        s1 = fma(load(q + i + 16) * scale, load(key + i + 16), s1);
      }
      for (; i < d; i += 16) {
        const int n = static_cast<int>(std::min<extent>(16, d - i));
        s0 = fma(load_n(q + i, n) * scale, load_n(key + i, n), s0);
      }
      store(sums + 16 * b, s0 + s1);
    }
    transpose(sums, 16, turned, 16);
    f32x16 dots = load(turned);
    for (extent b = 1; b < 16; ++b) dots = dots + load(turned + 16 * b);
    store(scores + (j - from), dots);
  }
  if (const float* const bias = job.bias_of(head, query)) attention_bias(scores, bias + from, to - from);
  const extent count = to - from, padded = detail::round_up(count, 16);
  std::fill(scores + count, scores + padded, -std::numeric_limits<float>::infinity());
  f32x16 m = load(scores);
  for (extent j = 16; j < padded; j += 16) m = max(load(scores + j), m);
  const f32x16 shift = broadcast(reduce_max(m));
  f32x16 sum = zero();
  for (extent j = 0; j < padded; j += 16) {
    const f32x16 e = exp_bounded(load(scores + j) - shift);
    store(scores + j, e);
    sum = sum + e;
  }
  const f32x16 share = broadcast(1.0f / reduce_add(sum));
  // Four vectors of columns at a time, so that their chains of additions overlap.
  for (extent i = 0; i < dv; i += 64) {
    const extent vectors = std::min<extent>(4, (dv - i + 15) / 16);
    f32x16 a = zero(), b = zero(), c = zero(), e = zero();
    const bool whole = i + 64 <= dv;
    for (extent j = 0; j < count; ++j) {
      const float* const row = v + job.row_of(from + j) * job.v_stride + i;
      const f32x16 p = broadcast(scores[j]);
      if (whole) {
        a = fma(p, load(row), a);
        b = fma(p, load(row + 16), b);
        c = fma(p, load(row + 32), c);
        e = fma(p, load(row + 48), e);
        continue;
      }
      const auto part = [&](extent n) { return static_cast<int>(std::clamp<extent>(dv - i - 16 * n, 0, 16)); };
      a = fma(p, load_n(row, part(0)), a);
      if (vectors > 1) b = fma(p, load_n(row + 16, part(1)), b);
      if (vectors > 2) c = fma(p, load_n(row + 32, part(2)), c);
      if (vectors > 3) e = fma(p, load_n(row + 48, part(3)), e);
    }
    const f32x16 all[] = {a, b, c, e};
    for (extent n = 0; n < vectors; ++n)
      store_n(out + i + 16 * n, all[n] * share, static_cast<int>(std::min<extent>(16, dv - i - 16 * n)));
  }
}

/// What attention_tile_of() needs, in floats. Halves are widened once for many rows; a few rows read them as they
/// are.
class float_products {
 public:
  static extent rows_of(extent count) { return count == 1 ? 1 : detail::round_up(count, tile_rows); }

  float_products(const detail::attention_job& job, extent slot, extent rows, float* scratch)
      : job_(job),
        slot_(slot),
        rows_(rows),
        halves_(job.half_keys != nullptr),
        widened_(halves_ && rows > tile_rows),
        wide_(scratch) {}

  void begin(const float* queries) { queries_ = queries; }
  void score(extent tile, extent keys, float* scores) {
    const auto from = [&](const auto* k) {
      tile_product(false, queries_, job_.width, k, detail::attention_panel * detail::round_up(job_.width, 16), scores,
                   detail::attention_keys, rows_, (keys + 15) / 16, job_.width);
    };
    const extent at = (slot_ * job_.key_tiles + tile) * job_.key_tile();
    if (!halves_) return from(job_.packed_keys + at);
    if (!widened_) return from(job_.half_keys + at);
    attention_widen(job_.half_keys + at, job_.key_tile(), wide_);
    from(wide_);
  }
  STENO_INLINE void put(float* scores, extent, extent, f32x16 low, f32x16 high) {
    store(scores, low);
    store(scores + 16, high);
  }
  void sum(extent tile, extent keys, const float* weights, float* values) {
    const auto from = [&](const auto* v) {
      tile_product(true, weights, detail::attention_keys, v, detail::attention_panel * detail::attention_keys, values,
                   job_.value_stride(), rows_, job_.value_stride() / 16, keys);
    };
    const extent at = (slot_ * job_.key_tiles + tile) * job_.value_tile();
    if (!halves_) return from(job_.packed_values + at);
    if (!widened_) return from(job_.half_values + at);
    attention_widen(job_.half_values + at, job_.value_tile(), wide_);
    from(wide_);
  }

 private:
  const detail::attention_job& job_;
  extent slot_, rows_;
  bool halves_, widened_;
  float* wide_;
  const float* queries_ = nullptr;
};

inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept {
  attention_tile_of<float_products>(job, head, slot, tile, scratch);
}
