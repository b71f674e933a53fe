// steno/kernels/generic/attention_tile.inl - attention of a tile of queries: scores, their weights, sums of values.
// Body of attention.hpp, compiled per instruction set, and for bfloat16 numbers (bfloat_attention.hpp). Tested in
// tests/kernels/attention_test.cpp.
// SPDX-License-Identifier: Apache-2.0

/// y[j] += bias[j] for j < count.
inline void attention_bias(float* y, const float* bias, extent count) {
  for (extent j = 0; j < count; j += 16) {
    const int n = static_cast<int>(std::min<extent>(16, count - j));
    store_n(y + j, load_n(y + j, n) + load_n(bias + j, n), n);
  }
}

/// Scores of up to attention_queries queries and one tile of `keys` keys, [rows][attention_keys], of which query r sees
/// [from(r), to(r)), become weights e^(score - largest) (0 for the others), which go to products.put(); what was summed
/// before is scaled where the largest score has grown. Sweeps over all rows: one row's reductions would wait for one
/// another.
template <class From, class To, class Products>
STENO_INLINE void attention_weigh(float* scores, extent rows, extent keys, From from, To to, Products& products,
                                  float* values, extent value_stride, float* largest, float* sums) {
  constexpr extent step = detail::attention_keys, max_rows = detail::attention_queries;
  const extent padded = detail::round_up(keys, 32);
  alignas(64) float now[max_rows], factor[max_rows];
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
      for (extent j = 0; j < padded; j += 32) products.put(row + j, r, j, zero(), zero());
      continue;
    }
    if (factor[r] != 1.0f)
      for (extent i = 0; i < value_stride; i += 16)
        store(values + r * value_stride + i, load(values + r * value_stride + i) * broadcast(factor[r]));
    const f32x16 shift = broadcast(now[r]);
    f32x16 s = zero();
    for (extent j = 0; j < padded; j += 32) {
      const f32x16 low = exp_bounded(load(row + j) - shift), high = exp_bounded(load(row + j + 16) - shift);
      products.put(row + j, r, j, low, high);
      s = s + low;
      s = s + high;
    }
    sums[r] += reduce_add(s);
  }
}

/// One head and one tile of queries against all keys; scratch holds job.worker_floats() values. Products works for one
/// tile of queries:
///   rows_of(count)           rows that tiles of `count` queries have
///   Products(job, slot, rows, scratch)  scratch: job.product_floats()
///   begin(queries)           [rows][width], scaled
///   score(t, keys, scores)   of keys tile t, [rows][attention_keys]
///   put(scores, r, j, low, high)        the weights of keys j .. j + 31 of query r, where its scores were
///   sum(t, keys, scores, values)        adds the keys' values, weighted, [rows][value_stride]
template <class Products>
inline void attention_tile_of(const detail::attention_job& job, extent head, extent slot, extent tile,
                              float* scratch) noexcept {
  constexpr extent step = detail::attention_keys;
  const extent first = tile * job.query_tile, count = std::min(job.query_tile, job.queries - first);
  const extent rows = Products::rows_of(count), value_stride = job.value_stride();
  Products products(job, slot, rows, scratch);
  float* const scores = scratch + job.product_floats();  // multiples of 16 floats first, so that they stay aligned
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
  products.begin(queries);
  for (extent i = 0; i < rows * value_stride; i += 16) store(values + i, zero());
  std::fill(largest, largest + rows, -std::numeric_limits<float>::infinity());
  std::fill(sums, sums + rows, 0.0f);

  // Limits grow with the query, so the first query's first key and the last one's last key bound the tile's.
  const extent begin = job.first_key(first) / step, end = (job.last_key(first + count - 1) + step - 1) / step;
  for (extent t = begin; t < end; ++t) {
    const extent keys = std::min(step, job.keys - t * step);
    products.score(t, keys, scores);
    if (job.options.bias != nullptr)
      for (extent r = 0; r < count; ++r)
        attention_bias(scores + r * step, job.bias_of(head, first + r) + t * step, keys);
    attention_weigh(
        scores, count, keys, [&](extent r) { return std::clamp<extent>(job.first_key(first + r) - t * step, 0, keys); },
        [&](extent r) { return std::clamp<extent>(job.last_key(first + r) - t * step, 0, keys); }, products, values,
        value_stride, largest, sums);
    products.sum(t, keys, scores, values);
  }

  float* out = job.out + first * job.out_stride + head * job.value_width;
  for (extent r = 0; r < count; ++r) {
    const f32x16 factor = broadcast(sums[r] > 0 ? 1.0f / sums[r] : 0.0f);
    for (extent i = 0; i < job.value_width; i += 16)
      store_n(out + r * job.out_stride + i, load(values + r * value_stride + i) * factor,
              static_cast<int>(std::min<extent>(16, job.value_width - i)));
  }
}
