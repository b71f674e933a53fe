// steno/kernels/product/float_rows.inl - products with stored float rows (f32, f16, bf16), compiled per instruction
// set.
//
// Few rows of x: a tile of R rows of x and 2 or 4 rows of w, 16 lanes along K each, so weights stream through once and stay
// as they are stored. Many rows: pieces of w, [chunk of K][columns], are widened and transposed into scratch
// (first-level cache) and each meets all panels of x in a tile of H rows by `panel_vectors` vectors, one FMA chain per
// output over ascending k. A tile is one pack expansion over its accumulators: what they share is loaded once (common
// subexpressions), they stay in registers, and it compiles ten times faster than nested loops unrolled by lambdas.
// Constants per instruction set: dot_rows, dot_columns, panel_rows, panel_vectors, panel_chunk.

template <dtype F>
STENO_INLINE f32x16 load_stored(const std::byte* p) {
  if constexpr (F == dtype::f32) return load(reinterpret_cast<const float*>(p));
  if constexpr (F == dtype::f16) return load_f16(reinterpret_cast<const std::uint16_t*>(p));
  if constexpr (F == dtype::bf16) return load_bf16(reinterpret_cast<const std::uint16_t*>(p));
}

/// sums[r * sums_stride + c] = dot(row r of x, row c of w) for R rows of x and C rows of w, sizeof...(I) = R * C.
template <dtype F, int C, int... I>
[[gnu::noinline]] void dot_tile(std::integer_sequence<int, I...>, const float* x, extent x_stride, const std::byte* w,
                                extent w_stride, extent cols, float* sums, extent sums_stride) noexcept {
  constexpr extent R = sizeof...(I) / C, size = F == dtype::f32 ? 4 : 2;
  f32x16 acc[] = {(static_cast<void>(I), zero())...};
  extent k = 0;
  for (; k + 16 <= cols; k += 16)
    ((acc[I] = fma(load(x + I / C * x_stride + k), load_stored<F>(w + I % C * w_stride + k * size), acc[I])), ...);
  if (k < cols) {  // the rest, filled up with zeros
    alignas(64) float xs[static_cast<std::size_t>(R) * 16] = {};
    alignas(64) std::byte ws[static_cast<std::size_t>(C * 16 * size)] = {};
    const auto rest = static_cast<std::size_t>(cols - k), width = static_cast<std::size_t>(size);
    for (extent r = 0; r < R; ++r) std::memcpy(xs + 16 * r, x + r * x_stride + k, rest * 4);
    for (extent c = 0; c < C; ++c) std::memcpy(ws + 16 * size * c, w + c * w_stride + k * size, rest * width);
    ((acc[I] = fma(load(xs + I / C * 16), load_stored<F>(ws + I % C * 16 * size), acc[I])), ...);
  }
  ((sums[I / C * sums_stride + I % C] = reduce_add(acc[I])), ...);
}

using dot_tile_function = void (*)(const float* x, extent x_stride, const std::byte* w, extent w_stride, extent cols,
                                   float* sums, extent sums_stride) noexcept;

template <dtype F, int R>
inline void dot_tile(const float* x, extent x_stride, const std::byte* w, extent w_stride, extent cols, float* sums,
                     extent sums_stride) noexcept {
  dot_tile<F, dot_columns>(std::make_integer_sequence<int, R * dot_columns>{}, x, x_stride, w, w_stride, cols, sums,
                           sums_stride);
}
template <int R>
inline dot_tile_function dot_tile_of(dtype format) noexcept {
  switch (format) {
    case dtype::f16:
      return dot_tile<dtype::f16, R>;
    case dtype::bf16:
      return dot_tile<dtype::bf16, R>;
    default:
      return dot_tile<dtype::f32, R>;
  }
}

inline void float_row_strip(const detail::strip& s) noexcept {
  const auto w_stride = static_cast<extent>(s.w->row_bytes());
  float* sums = s.scratch;
  for (extent m = s.first; m < s.last;) {
    const extent left = s.last - m, rows = left >= dot_rows ? dot_rows : left >= 2 ? 2 : 1;
    const dot_tile_function tile = rows == dot_rows ? dot_tile_of<dot_rows>(s.w->format)
                                   : rows == 2      ? dot_tile_of<2>(s.w->format)
                                                    : dot_tile_of<1>(s.w->format);
    const float* x = s.x->x + m * s.x->stride;
    // The last columns come with those before them; where there are fewer than a tile has, the same again.
    const bool narrow = s.n1 - s.n0 < dot_columns;
    for (extent n = s.n0; n < s.n1; n += narrow ? 1 : dot_columns) {
      const extent from = narrow ? n : std::min(n, s.n1 - dot_columns);
      tile(x, s.x->stride, s.w->row(from), narrow ? 0 : w_stride, s.x->cols, sums + (from - s.n0), float_columns);
    }
    m += rows;
    sums += rows * float_columns;
  }
  finish(s, s.scratch, float_columns, s.first, s.last - s.first);
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
        alignas(64) std::byte rest[static_cast<std::size_t>(16 * size)] = {};
        if (cols < 16) from = static_cast<std::byte*>(std::memcpy(rest, from, static_cast<std::size_t>(cols * size)));
        store(piece + 16 * r, r >= rows ? zero() : load_stored<F>(from));
      }
      transpose(piece, 16, to, float_columns);
    }
}

/// sums[r * float_columns + n] (+)= sum over k of x[k * H + r] * w[k * float_columns + n]
template <int... I>  // H * V accumulators
[[gnu::noinline]] void panel_tile(std::integer_sequence<int, I...>, const float* x, const float* w, extent count,
                                  float* sums, bool first) noexcept {
  constexpr int V = panel_vectors, H = sizeof...(I) / V;
  f32x16 acc[] = {(first ? zero() : load(sums + 16 * I))...};
  for (extent k = 0; k < count; ++k, x += H, w += 16 * V)
    ((acc[I] = fma(broadcast(x[I / V]), load(w + I % V * 16), acc[I])), ...);
  (store(sums + 16 * I, acc[I]), ...);
}
template <int H>
inline void panel_tile(const float* x, const float* w, extent count, float* sums, bool first) noexcept {
  panel_tile(std::make_integer_sequence<int, H * panel_vectors>{}, x, w, count, sums, first);
}

inline void float_panel_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  float* wide = s.scratch;
  float* sums = wide + panel_chunk * float_columns;
  for (extent k = 0; k < x.cols; k += panel_chunk) {
    const extent count = std::min(panel_chunk, x.cols - k);
    switch (s.w->format) {
      case dtype::f16:
        widen<dtype::f16>(*s.w, s.n0, s.n1, k, count, wide);
        break;
      case dtype::bf16:
        widen<dtype::bf16>(*s.w, s.n0, s.n1, k, count, wide);
        break;
      default:
        widen<dtype::f32>(*s.w, s.n0, s.n1, k, count, wide);
    }
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      const float* panel = x.panels + m * x.cols + k * height;
      float* own = sums + (m - x.split.first(s.first)) * float_columns;
      // With at least two full panels of rows, equal panels are never lower than two thirds of the highest.
      constexpr int H = panel_rows;
      if (height == H) panel_tile<H>(panel, wide, count, own, k == 0);
      if (height == H - 1) panel_tile<H - 1>(panel, wide, count, own, k == 0);
      if (height == H - 2) panel_tile<H - 2>(panel, wide, count, own, k == 0);
      if constexpr (H > 6) {
        if (height == H - 3) panel_tile<H - 3>(panel, wide, count, own, k == 0);
        if (height == H - 4) panel_tile<H - 4>(panel, wide, count, own, k == 0);
      }
      if (k + count == x.cols) finish(s, own, float_columns, m, height);
    }
  }
}

inline void interleave(const float* x, extent stride, extent rows, extent cols, float* out) noexcept {
  for (extent k = 0; k < cols; ++k, out += rows)
    for (extent r = 0; r < rows; ++r) out[r] = x[r * stride + k];
}
