// steno/kernels/generic/attention.inl - the tiles of attention; compiled per instruction set by attention.hpp.
//
// Both products run on one register tile. Its sums go over k in order, whatever the tile's shape, so every instruction
// set with FMA gives the same bits.

/// c[r][16 v ..] (+)= sum_k a[r][k] b[k][16 v ..] for r < rows, v < V, rows * V = sizeof...(I). Fully expanded: an
/// array indexed in a loop would be spilled.
template <int V, int... I>
STENO_INLINE void product_tile(std::integer_sequence<int, I...>, const float* a, extent a_stride, const float* b,
                               extent b_stride, float* c, extent c_stride, extent depth, bool add) {
  f32x16 sum[sizeof...(I)] = {(add ? load(c + I / V * c_stride + I % V * 16) : zero())...};
  for (extent k = 0; k < depth; ++k)
    ((sum[I] = fma(broadcast(a[I / V * a_stride + k]), load(b + k * b_stride + I % V * 16), sum[I])), ...);
  (store(c + I / V * c_stride + I % V * 16, sum[I]), ...);
}

template <int R, int V>
[[gnu::noinline]] void product_rows(const float* a, extent a_stride, const float* b, extent b_stride, float* c,
                                    extent c_stride, extent rows, extent depth, bool add) {
  for (extent r = 0; r < rows; r += R)
    product_tile<V>(std::make_integer_sequence<int, R * V>{}, a + r * a_stride, a_stride, b, b_stride, c + r * c_stride,
                    c_stride, depth, add);
}

/// c [rows, 16 vectors] (+)= a [rows, depth] b [depth, 16 vectors], b in panels; rows is a multiple of tile_rows, or 1.
/// Blocks of b small enough for the first cache meet all rows before the next one.
inline void tile_product(bool add, const float* a, extent a_stride, const float* b, extent panel_stride, float* c,
                         extent c_stride, extent rows, extent vectors, extent depth) {
  constexpr extent panel = detail::attention_panel;
  for (extent v = 0; v < vectors;) {
    // Four vectors, two or one at a time, as many as are left and the instruction set has registers for.
    const extent left = vectors - v;
    const int n = left >= 4 && tile_vectors >= 4 ? 4 : left >= 2 && tile_vectors >= 2 ? 2 : 1;
    const float* column = b + 16 * v / panel * panel_stride + 16 * v % panel;
    for (extent k = 0; k < depth; k += panel) {
      const auto block = [&](auto* product) {
        product(a + k, a_stride, column + k * panel, panel, c + 16 * v, c_stride, rows, std::min(panel, depth - k),
                add || k > 0);
      };
      constexpr int R = tile_rows;
      if (n == 1) block(rows == 1 ? product_rows<1, 1> : product_rows<R, 1>);
      if constexpr (tile_vectors >= 2)
        if (n == 2) block(rows == 1 ? product_rows<1, 2> : product_rows<R, 2>);
      if constexpr (tile_vectors >= 4)
        if (n == 4) block(rows == 1 ? product_rows<1, 4> : product_rows<R, 4>);
    }
    v += n;
  }
}

/// Transposes the keys and copies the values of one head and tile.
inline void attention_pack(const detail::attention_job& job, extent head, extent slot, extent tile) noexcept {
  constexpr extent step = detail::attention_keys, panel = detail::attention_panel;
  const extent first = tile * step, count = std::min(step, job.keys - first);
  const float* k = job.k + first * job.k_stride + head * job.width;
  float* const keys = job.keys_at(slot, tile);
  const extent depth = detail::round_up(job.width, 16);
  for (extent j = 0; j < count; j += 16) {
    float* const to = keys + j / panel * panel * depth + j % panel;
    for (extent i = 0; i < depth; i += 16) {
      const int n = static_cast<int>(std::min<extent>(16, job.width - i));
      // Rows of a fused matrix share few sets of the first cache, so each of their lines is read once, into a block.
      alignas(64) float block[256];
      for (extent b = 0; b < 16; ++b) {
        __builtin_prefetch(k + std::min(j + b + 16, count - 1) * job.k_stride + i);
        store(block + 16 * b, j + b < count ? load_n(k + (j + b) * job.k_stride + i, n) : zero());
      }
      transpose(block, 16, to + i * panel, panel);
    }
  }
  const float* v = job.v + first * job.v_stride + head * job.value_width;
  float* const values = job.values_at(slot, tile);
  for (extent j = 0; j < count; ++j)
    for (extent i = 0; i < job.value_width; i += 16) {
      __builtin_prefetch(v + std::min(j + 8, count - 1) * job.v_stride + i);
      store(values + i / panel * panel * step + j * panel + i % panel,
            load_n(v + j * job.v_stride + i, static_cast<int>(std::min<extent>(16, job.value_width - i))));
    }
}

/// Scores of one query and one tile of keys become weights e^(score - largest); what was summed before is scaled when
/// the largest score has grown.
inline void attention_weigh(float* scores, extent count, float* values, extent value_stride, float* largest,
                            float* sum) {
  const f32x16 least = broadcast(-std::numeric_limits<float>::infinity());
  const extent padded = detail::round_up(count, 16);
  if (count < padded) {
    float* const last = scores + padded - 16;
    store(last, first_n(static_cast<int>(count + 16 - padded), load(last), least));
  }
  f32x16 m = load(scores);
  for (extent j = 16; j < padded; j += 16) m = max(load(scores + j), m);
  const float now = std::max(reduce_max(m), *largest);
  if (now > *largest) {
    const f32x16 factor = exp_bounded(broadcast(*largest - now));  // 0 for the first tile: largest is -infinity
    *sum *= reduce_max(factor);
    for (extent i = 0; i < value_stride; i += 16) store(values + i, load(values + i) * factor);
    *largest = now;
  }
  const f32x16 shift = broadcast(now);
  f32x16 s = zero();
  for (extent j = 0; j < padded; j += 16) {
    const f32x16 e = exp_bounded(load(scores + j) - shift);
    store(scores + j, e);
    s = s + e;
  }
  *sum += reduce_add(s);
}

/// One head and one tile of queries against all keys; scratch holds job.worker_floats() values.
inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept {
  constexpr extent step = detail::attention_keys;
  const extent first = tile * job.query_tile, count = std::min(job.query_tile, job.queries - first);
  const extent rows = count == 1 ? 1 : detail::round_up(count, tile_rows);
  const extent value_stride = job.value_stride();
  float* const scores = scratch;  // multiples of 16 floats first, so that they stay aligned
  float* const values = scores + rows * step;
  float* const queries = values + rows * value_stride;
  float* const largest = queries + rows * job.width;
  float* const sums = largest + rows;

  const float* q = job.q + first * job.q_stride + head * job.width;
  const f32x16 scale = broadcast(job.scale);
  for (extent r = 0; r < rows; ++r)
    for (extent i = 0; i < job.width; i += 16) {
      const int n = static_cast<int>(std::min<extent>(16, job.width - i));
      __builtin_prefetch(q + std::min(r + 8, count - 1) * job.q_stride + i);
      store_n(queries + r * job.width + i, r < count ? load_n(q + r * job.q_stride + i, n) * scale : zero(), n);
    }
  for (extent i = 0; i < rows * value_stride; i += 16) store(values + i, zero());
  std::fill(largest, largest + rows, -std::numeric_limits<float>::infinity());
  std::fill(sums, sums + rows, 0.0f);

  for (extent t = 0; t < job.key_tiles; ++t) {
    const extent keys = std::min(step, job.keys - t * step);
    tile_product(false, queries, job.width, job.keys_at(slot, t),
                 detail::attention_panel * detail::round_up(job.width, 16), scores, step, rows, (keys + 15) / 16,
                 job.width);
    for (extent r = 0; r < count; ++r)
      attention_weigh(scores + r * step, keys, values + r * value_stride, value_stride, largest + r, sums + r);
    tile_product(true, scores, step, job.values_at(slot, t), detail::attention_panel * step, values, value_stride, rows,
                 value_stride / 16, keys);
  }

  float* out = job.out + first * job.out_stride + head * job.value_width;
  for (extent r = 0; r < count; ++r) {
    const f32x16 factor = broadcast(1.0f / sums[r]);
    for (extent i = 0; i < job.value_width; i += 16)
      store_n(out + r * job.out_stride + i, load(values + r * value_stride + i) * factor,
              static_cast<int>(std::min<extent>(16, job.value_width - i)));
  }
}
