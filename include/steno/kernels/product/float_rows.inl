// steno/kernels/product/float_rows.inl - products with stored float rows (f32, f16, bf16), compiled per instruction set.
//
// Few rows of x: a tile of R rows of x and C rows of w, 16 lanes along K each, so weights stream through once and stay as
// they are stored. Many rows: pieces of w, [chunk of K][columns], are widened and transposed into scratch (first-level
// cache) and each meets all panels of x in a tile of H rows by `panel_vectors` vectors, one FMA chain per output over
// ascending k. Constants per instruction set: dot_rows, panel_rows, panel_vectors, panel_chunk.

template <dtype F>
STENO_INLINE f32x16 load_stored(const std::byte* p) {
  if constexpr (F == dtype::f32) return load(reinterpret_cast<const float*>(p));
  if constexpr (F == dtype::f16) return load_f16(reinterpret_cast<const std::uint16_t*>(p));
  if constexpr (F == dtype::bf16) return load_bf16(reinterpret_cast<const std::uint16_t*>(p));
}
template <dtype F>
STENO_INLINE f32x16 load_stored_n(const std::byte* p, int n) {
  constexpr std::size_t size = F == dtype::f32 ? 4 : 2;
  std::byte whole[16 * size] = {};
  std::memcpy(whole, p, static_cast<std::size_t>(n) * size);
  return load_stored<F>(whole);
}

/// sums[r * sums_stride + c] = dot(row r of x, row c of w) for R rows; w[c] points at a stored row.
template <dtype F, int R, int C>
[[gnu::noinline]] void dot_tile(const float* x, extent stride, const std::byte* const* w, extent cols, float* sums,
                                extent sums_stride) noexcept {
  constexpr extent size = F == dtype::f32 ? 4 : 2;
  f32x16 acc[many(R * C)];
  each<R * C>([&](auto i) __attribute__((always_inline)) { acc[i] = zero(); });
  const std::byte* row[many(C)];
  each<C>([&](auto c) __attribute__((always_inline)) { row[c] = w[c]; });
  extent k = 0;
  for (; k + 16 <= cols; k += 16) {
    f32x16 v[many(R)];
    each<R>([&](auto r) __attribute__((always_inline)) { v[r] = load(x + r * stride + k); });
    each<C>([&](auto c) __attribute__((always_inline)) {
      const f32x16 u = load_stored<F>(row[c] + k * size);
      each<R>([&](auto r) __attribute__((always_inline)) { acc[r * C + c] = fma(v[r], u, acc[r * C + c]); });
    });
  }
  if (k < cols) {
    const int n = static_cast<int>(cols - k);
    each<C>([&](auto c) __attribute__((always_inline)) {
      const f32x16 u = load_stored_n<F>(row[c] + k * size, n);
      each<R>([&](auto r) __attribute__((always_inline)) {
        acc[r * C + c] = fma(load_n(x + r * stride + k, n), u, acc[r * C + c]);
      });
    });
  }
  each<R>([&](auto r) __attribute__((always_inline)) {
    each<C>([&](auto c) __attribute__((always_inline)) { sums[r * sums_stride + c] = reduce_add(acc[r * C + c]); });
  });
}

/// All columns of the strip for R rows from m.
template <dtype F, int R>
inline void dot_rows_by_strip(const detail::strip& s, extent m, float* sums) noexcept {
  constexpr int wide = dot_columns(R);
  for (extent n = s.n0; n < s.n1; n += wide) {
    const std::byte* w[many(wide)];
    for (int c = 0; c < wide; ++c) w[c] = s.w->row(std::min(n + c, s.n1 - 1));
    dot_tile<F, R, wide>(s.x->x + m * s.x->stride, s.x->stride, w, s.x->cols, sums + (n - s.n0), float_columns);
  }
}

template <dtype F>
inline void float_row_strip_of(const detail::strip& s) noexcept {
  const detail::panel_split split(s.last - s.first, dot_rows);
  for (extent p = 0; p < split.count; ++p) {
    const extent m = s.first + split.first(p), height = split.height(p);
    each<dot_rows>([&](auto r) __attribute__((always_inline)) {
      if (height == r + 1) dot_rows_by_strip<F, r + 1>(s, m, s.scratch);
    });
    finish(s, s.scratch, float_columns, m, height);
  }
}
inline void float_row_strip(const detail::strip& s) noexcept {
  switch (s.w->format) {
    case dtype::f16: return float_row_strip_of<dtype::f16>(s);
    case dtype::bf16: return float_row_strip_of<dtype::bf16>(s);
    default: return float_row_strip_of<dtype::f32>(s);
  }
}

/// out[k * float_columns + c] = w[n0 + c, k0 + k], zero beyond n1 and cols; count is rounded up to 16.
template <dtype F>
inline void widen(const weight_ref& w, extent n0, extent n1, extent k0, extent count, float* out) noexcept {
  constexpr extent size = F == dtype::f32 ? 4 : 2;
  for (extent c = 0; c < float_columns; c += 16)
    for (extent k = 0; k < count; k += 16) {
      const extent rows = std::clamp<extent>(n1 - n0 - c, 0, 16);
      const int cols = static_cast<int>(std::min<extent>(16, w.cols - k0 - k));
      float* to = out + k * float_columns + c;
      if (F == dtype::f32 && rows == 16 && cols == 16) {
        transpose(reinterpret_cast<const float*>(w.row(n0 + c)) + k0 + k, w.cols, to, float_columns);
        continue;
      }
      alignas(64) float piece[16 * 16];
      for (extent r = 0; r < 16; ++r) {
        const std::byte* from = w.row(std::min(n0 + c + r, w.rows - 1)) + (k0 + k) * size;
        store(piece + 16 * r, r >= rows ? zero() : cols == 16 ? load_stored<F>(from) : load_stored_n<F>(from, cols));
      }
      transpose(piece, 16, to, float_columns);
    }
}

/// sums[r * float_columns + n] (+)= sum over k of x[k * H + r] * w[k * float_columns + n]
template <int H>
[[gnu::noinline]] void panel_tile(const float* x, const float* w, extent count, float* sums, bool first) noexcept {
  constexpr int V = panel_vectors;
  f32x16 acc[many(H * V)];
  if (first) {
    each<H * V>([&](auto i) __attribute__((always_inline)) { acc[i] = zero(); });
  } else {
    each<H * V>([&](auto i) __attribute__((always_inline)) { acc[i] = load(sums + i * 16); });
  }
  for (extent k = 0; k < count; ++k, x += H, w += 16 * V) {
    f32x16 u[many(V)];
    each<V>([&](auto c) __attribute__((always_inline)) { u[c] = load(w + 16 * c); });
    each<H>([&](auto r) __attribute__((always_inline)) {
      const f32x16 v = broadcast(x[r]);
      each<V>([&](auto c) __attribute__((always_inline)) { acc[r * V + c] = fma(v, u[c], acc[r * V + c]); });
    });
  }
  each<H * V>([&](auto i) __attribute__((always_inline)) { store(sums + i * 16, acc[i]); });
}

inline void float_panel_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  float* wide = s.scratch;
  float* sums = wide + panel_chunk * float_columns;
  for (extent k = 0; k < x.cols; k += panel_chunk) {
    const extent count = std::min(panel_chunk, x.cols - k);
    switch (s.w->format) {
      case dtype::f16: widen<dtype::f16>(*s.w, s.n0, s.n1, k, count, wide); break;
      case dtype::bf16: widen<dtype::bf16>(*s.w, s.n0, s.n1, k, count, wide); break;
      default: widen<dtype::f32>(*s.w, s.n0, s.n1, k, count, wide);
    }
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      const float* panel = x.panels + m * x.cols + k * height;
      float* own = sums + (m - x.split.first(s.first)) * float_columns;
      // With at least two full panels of rows, equal panels are never lower than two thirds of the highest.
      each<panel_rows - panel_rows * 2 / 3 + 1>([&](auto i) __attribute__((always_inline)) {
        constexpr int H = panel_rows - i;
        if (height == H) panel_tile<H>(panel, wide, count, own, k == 0);
      });
      if (k + count == x.cols) finish(s, own, float_columns, m, height);
    }
  }
}

inline void interleave(const float* x, extent stride, extent rows, extent cols, float* out) noexcept {
  for (extent k = 0; k < cols; ++k, out += rows)
    for (extent r = 0; r < rows; ++r) out[r] = x[r * stride + k];
}
