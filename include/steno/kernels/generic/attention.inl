// steno/kernels/generic/attention.inl - the tiles of attention; compiled per instruction set by attention.hpp.
//
// Both products run on one register tile. Its sums go over k in order, whatever the tile's shape, so every instruction
// set with FMA gives the same bits.

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

/// y[j] += bias[j] for j < count.
inline void attention_bias(float* y, const float* bias, extent count) {
  for (extent j = 0; j < count; j += 16) {
    const int n = static_cast<int>(std::min<extent>(16, count - j));
    store_n(y + j, load_n(y + j, n) + load_n(bias + j, n), n);
  }
}

/// Scores of some queries and one tile of `keys` keys, [rows][attention_keys], of which query r sees [from(r), to(r)),
/// become weights e^(score - largest) (0 for the others); what was summed before is scaled where the largest score has
/// grown. Sweeps over all rows: one row's reductions would wait for one another.
template <class From, class To>
STENO_INLINE void attention_weigh(float* scores, extent rows, extent keys, From from, To to, float* values,
                                  extent value_stride, float* largest, float* sums) {
  constexpr extent step = detail::attention_keys, most = detail::attention_queries;
  const extent padded = detail::round_up(keys, 16);
  alignas(64) float now[most], factor[most];
  for (extent r = 0; r < rows; ++r) {
    float* const row = scores + r * step;
    const extent first = from(r), last = std::max(first, to(r));
    std::fill(row, row + first, -std::numeric_limits<float>::infinity());
    std::fill(row + last, row + padded, -std::numeric_limits<float>::infinity());
    f32x16 m = load(row);
    for (extent j = 16; j < padded; j += 16) m = max(load(row + j), m);
    now[r] = reduce_max(m);
  }
  for (extent r = 0; r < rows; r += 16) {
    const int n = static_cast<int>(std::min<extent>(16, rows - r));
    const f32x16 before = load_n(largest + r, n), after = max(load_n(now + r, n), before);
    // 0 for a query's first keys, where before is -infinity
    const f32x16 scale = where_less(before, after, exp_bounded(before - after), broadcast(1.0f));
    store_n(now + r, after, n);
    store_n(largest + r, after, n);
    store_n(factor + r, scale, n);
    store_n(sums + r, load_n(sums + r, n) * scale, n);
  }
  for (extent r = 0; r < rows; ++r) {
    float* const row = scores + r * step;
    if (from(r) >= to(r)) {
      std::fill(row, row + padded, 0.0f);
      continue;
    }
    if (factor[r] != 1.0f)
      for (extent i = 0; i < value_stride; i += 16)
        store(values + r * value_stride + i, load(values + r * value_stride + i) * broadcast(factor[r]));
    const f32x16 shift = broadcast(now[r]);
    f32x16 s = zero();
    for (extent j = 0; j < padded; j += 16) {
      const f32x16 e = exp_bounded(load(row + j) - shift);
      store(row + j, e);
      s = s + e;
    }
    sums[r] += reduce_add(s);
  }
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

/// One head and one tile of queries against all keys; scratch holds job.worker_floats() values.
inline void attention_tile(const detail::attention_job& job, extent head, extent slot, extent tile,
                           float* scratch) noexcept {
  constexpr extent step = detail::attention_keys;
  const extent first = tile * job.query_tile, count = std::min(job.query_tile, job.queries - first);
  const extent rows = count == 1 ? 1 : detail::round_up(count, tile_rows);
  const extent value_stride = job.value_stride();
  // Halves are widened once for many rows; a few rows read them as they are.
  const extent key_tile = job.key_tile(), value_tile = job.value_tile();
  const bool halves = job.half_keys != nullptr, widened = halves && rows > tile_rows;
  float* const wide = scratch;
  float* const scores = scratch + job.widened_floats();  // multiples of 16 floats first, so that they stay aligned
  float* const values = scores + rows * step;
  float* const queries = values + rows * value_stride;
  float* const largest = queries + rows * job.width;
  float* const sums = largest + rows;

  const float* q = job.q + first * job.q_stride + head * job.width;
  const f32x16 scale = broadcast(job.options.scale);
  for (extent r = 0; r < rows; ++r)
    for (extent i = 0; i < job.width; i += 16) {
      const int n = static_cast<int>(std::min<extent>(16, job.width - i));
      __builtin_prefetch(q + std::min(r + 8, count - 1) * job.q_stride + i);
      store_n(queries + r * job.width + i, r < count ? load_n(q + r * job.q_stride + i, n) * scale : zero(), n);
    }
  for (extent i = 0; i < rows * value_stride; i += 16) store(values + i, zero());
  std::fill(largest, largest + rows, -std::numeric_limits<float>::infinity());
  std::fill(sums, sums + rows, 0.0f);

  // Limits grow with the query, so the first query's first key and the last one's last key bound the tile's.
  const extent begin = job.first_key(first) / step, end = (job.last_key(first + count - 1) + step - 1) / step;
  for (extent t = begin; t < end; ++t) {
    const extent keys = std::min(step, job.keys - t * step);
    const auto score = [&](const auto* k) {
      tile_product(false, queries, job.width, k, detail::attention_panel * detail::round_up(job.width, 16), scores,
                   step, rows, (keys + 15) / 16, job.width);
    };
    if (widened) {
      attention_widen(job.half_keys + (slot * job.key_tiles + t) * key_tile, key_tile, wide);
      attention_widen(job.half_values + (slot * job.key_tiles + t) * value_tile, value_tile, wide + key_tile);
      score(wide);
    } else if (halves) {
      score(job.half_keys + (slot * job.key_tiles + t) * key_tile);
    } else {
      score(job.keys_at(slot, t));
    }
    if (job.options.bias != nullptr)
      for (extent r = 0; r < count; ++r)
        attention_bias(scores + r * step, job.bias_of(head, first + r) + t * step, keys);
    attention_weigh(
        scores, count, keys, [&](extent r) { return std::clamp<extent>(job.first_key(first + r) - t * step, 0, keys); },
        [&](extent r) { return std::clamp<extent>(job.last_key(first + r) - t * step, 0, keys); }, values, value_stride,
        largest, sums);
    const auto sum = [&](const auto* v) {
      tile_product(true, scores, step, v, detail::attention_panel * step, values, value_stride, rows, value_stride / 16,
                   keys);
    };
    if (widened)
      sum(wide + key_tile);
    else if (halves)
      sum(job.half_values + (slot * job.key_tiles + t) * value_tile);
    else
      sum(job.values_at(slot, t));
  }

  float* out = job.out + first * job.out_stride + head * job.value_width;
  for (extent r = 0; r < count; ++r) {
    const f32x16 factor = broadcast(sums[r] > 0 ? 1.0f / sums[r] : 0.0f);
    for (extent i = 0; i < job.value_width; i += 16)
      store_n(out + r * job.out_stride + i, load(values + r * value_stride + i) * factor,
              static_cast<int>(std::min<extent>(16, job.value_width - i)));
  }
}
