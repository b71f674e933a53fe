// steno/kernels/product/float_rows.inl - products with float weights (f32 rows; f16 and bf16 packed by column),
// compiled per instruction set.
//
// Few rows of x by f32: a tile of R rows of x and 2 or 4 rows of w, 16 lanes (AVX2: 8) along K each, so weights stream
// through once and stay as they are stored. Otherwise pieces of w, [chunk of K][columns], are widened (f32: transposed)
// into scratch (first-level cache) and each meets all panels of x in a tile of H rows by `panel_vectors` vectors, one
// FMA chain per output over ascending k. A tile is one pack expansion over its accumulators: what they share is loaded
// once (common subexpressions), they stay in registers, and it compiles ten times faster than nested loops unrolled by
// lambdas. Up to half_panels panels meet f16 or bf16 that each widens in registers. vdpbf16ps is not used: it would
// round x to 8 bits (avx512bf16.hpp does for bf16_a16).
// Constants per instruction set: dot_rows, dot_columns, panel_rows, panel_vectors, panel_chunk, half_pair_rows
// (table.hpp), half_panels, panel_fetches (whether a tile has so much to do that fetching ahead costs nothing).
// SPDX-License-Identifier: Apache-2.0

/// sums[r * float_columns + c] = dot(row r of x, row c of w): rows of x in lines of 16 values, [cols / 16][rows][16],
/// by dot_columns rows of w. Of as many further rows of w, which lie at `next`, a line each is fetched every 16 values,
/// and `next` goes on by `step`.
template <int... R, int... I>  // rows, and accumulators
[[gnu::noinline]] void dot_tile(std::integer_sequence<int, R...>, std::integer_sequence<int, I...>, const float* x,
                                const float* w, extent w_stride, extent cols, float* sums, const float* next,
                                extent step) noexcept {
  constexpr int C = dot_columns, H = sizeof...(R);
  // Of its rows and columns, the fewer stay in registers while the others pass by.
  constexpr auto turn = [](int i) { return H < C ? i % H * C + i / H : i; };
  f32x16 acc[] = {(static_cast<void>(I), zero())...};
  extent k = 0;
  for (; k + 16 <= cols; k += 16, x += 16 * sizeof...(R), next += step) {
    ((I < C ? __builtin_prefetch(next + I * cols, 0, 2) : void()), ...);
    ((acc[turn(I)] = add_dots(load(x + turn(I) / C * 16), load(w + turn(I) % C * w_stride + k), acc[turn(I)])), ...);
    ((acc[turn(I)] = add_last_dots(load(x + turn(I) / C * 16), load(w + turn(I) % C * w_stride + k), acc[turn(I)])),
     ...);
  }
  if (const int rest = static_cast<int>(cols - k); rest > 0) {
    ((acc[I] = add_dots(load_n(x + I / C * 16, rest), load_n(w + I % C * w_stride + k, rest), acc[I])), ...);
    ((acc[I] = add_last_dots(load_n(x + I / C * 16, rest), load_n(w + I % C * w_stride + k, rest), acc[I])), ...);
  }
  (store_sums(sums + R * float_columns, acc + R * C), ...);
}
using dot_tile_function = void (*)(const float* x, const float* w, extent w_stride, extent cols, float* sums,
                                   const float* next, extent step) noexcept;
template <int R>
inline void dot_tile(const float* x, const float* w, extent w_stride, extent cols, float* sums, const float* next,
                     extent step) noexcept {
  dot_tile(std::make_integer_sequence<int, R>{}, std::make_integer_sequence<int, R * dot_columns>{}, x, w, w_stride,
           cols, sums, next, step);
}
template <int... I>
inline dot_tile_function dot_tile_of(std::integer_sequence<int, I...>, extent height) noexcept {
  static constexpr dot_tile_function tiles[] = {dot_tile<I + 1>...};
  return tiles[height - 1];
}

// A few rows of w meet all rows of x while they are in the first-level cache, and each tile fetches its share of those
// behind them: weights come from memory while tiles work.
template <class = void>
void float_row_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  // The last columns come with those before them; where there are fewer than a tile has, the same again.
  const bool narrow = s.n1 - s.n0 < dot_columns;
  const extent stride = narrow ? 0 : s.w->cols, length = detail::padded_lines(x.cols);
  for (extent n = s.n0; n < s.n1; n += narrow ? 1 : dot_columns) {
    const extent from = narrow ? n : std::min(n, s.n1 - dot_columns);
    const auto* const w = reinterpret_cast<const float*>(s.w->row(from));
    for (extent p = 0; p < x.split.count; ++p) {
      const extent m = x.split.first(p);
      const auto tile = dot_tile_of(std::make_integer_sequence<int, dot_rows>{}, x.split.height(p));
      tile(x.lines + m * length, w, stride, x.cols, s.sums + m * float_columns + (from - s.n0),
           w + dot_columns * x.cols + x.cols * p / x.split.count, 16 / x.split.count);
    }
  }
  finish(s, s.sums, float_columns, 0, x.rows);
}

/// out[k * float_columns + c] = w[n0 + c, k0 + k], zero beyond n1 and cols; count is rounded up to 16. f32.
template <class = void>
void transpose_rows(const weights::weight_ref& w, extent n0, extent n1, extent k0, extent count,
                           float* out) noexcept {
  for (extent c = 0; c < float_columns; c += 16)
    for (extent k = 0; k < count; k += 16) {
      const extent rows = std::clamp<extent>(n1 - n0 - c, 0, 16);
      const int cols = static_cast<int>(std::min<extent>(16, w.cols - k0 - k));
      const auto row = [&](extent r) __attribute__((always_inline)) {
        return reinterpret_cast<const float*>(w.row(n0 + c + r)) + k0 + k;
      };
      float* to = out + k * float_columns + c;
      if (rows == 16 && cols == 16) {
        transpose(row(0), w.cols, to, float_columns);
        continue;
      }
      alignas(64) float piece[16 * 16];
      for (extent r = 0; r < 16; ++r) store(piece + 16 * r, r >= rows ? zero() : load_n(row(r), cols));
      transpose(piece, 16, to, float_columns);
    }
}

/// The same of packed groups of 16 columns: in[(c / 16) * next + k * 16 + c % 16].
template <dtype F>
inline void widen(const std::uint16_t* in, extent next, extent count, float* out) noexcept {
  // The next piece comes while this one is multiplied.
  const extent ahead = panel_fetches ? 512 : 16 * count;
  for (extent k = 0; k < count; ++k, in += 16, out += float_columns)
    for (extent c = 0; c < panel_vectors; ++c) {
      __builtin_prefetch(in + c * next + ahead);
      store(out + 16 * c, F == dtype::f16 ? load_f16(in + c * next) : load_bf16(in + c * next));
    }
}

/// Rows of w that will be wanted next, a power of two up to 16: of every row a line is fetched per 16 values of K.
struct rows_ahead {
  const float* first;
  extent stride, count;
};

/// sums[r * float_columns + n] (+)= sum over k of x[k * H + r] * w[k * float_columns + n]
template <int... I>  // H * V accumulators
[[gnu::noinline]] void panel_tile(std::integer_sequence<int, I...>, const float* x, const float* w, extent count,
                                  float* sums, bool first, const rows_ahead& ahead) noexcept {
  constexpr int V = panel_vectors, H = sizeof...(I) / V;
  f32x16 acc[] = {(first ? zero() : load(sums + 16 * I))...};
  [[maybe_unused]] const float* const next = ahead.first;
  [[maybe_unused]] const extent stride = ahead.stride, others = ahead.count - 1;
  for (extent k = 0; k < count; ++k, x += H, w += 16 * V) {
    if constexpr (panel_fetches) __builtin_prefetch(next + (k & others) * stride + (k & ~extent{15}), 0, 2);
    ((acc[I] = fma(broadcast(x[I / V]), load(w + I % V * 16), acc[I])), ...);
  }
  (store(sums + 16 * I, acc[I]), ...);
}
using panel_tile_function = void (*)(const float* x, const float* w, extent count, float* sums, bool first,
                                     const rows_ahead& ahead) noexcept;
template <int H>
inline void panel_tile(const float* x, const float* w, extent count, float* sums, bool first,
                       const rows_ahead& ahead) noexcept {
  panel_tile(std::make_integer_sequence<int, H * panel_vectors>{}, x, w, count, sums, first, ahead);
}
template <int... I>
inline panel_tile_function panel_tile_of(std::integer_sequence<int, I...>, extent height) noexcept {
  static constexpr panel_tile_function tiles[] = {panel_tile<I + 1>...};
  return tiles[height - 1];
}

/// A tile's part of a strip of packed groups: a panel of x by V of them.
struct half_job {
  const float* x;
  const std::uint16_t* w;
  extent next;   // from group to group
  extent count;  // values of K
  bool bfloat;
  extent lead;                     // values of K that are fetched ahead
  const std::uint16_t* following;  // what is fetched behind the last one
  float* sums;
  bool first;
};
/// sums[r * 16 V + n] (+)= sum over k of x[k * R + r] * w[n, k], w widened in registers.
template <int V, int... I>  // R * V accumulators
[[gnu::noinline]] void half_tile(std::integer_sequence<int, I...>, const half_job& job) noexcept {
  constexpr int R = sizeof...(I) / V;
  const float* x = job.x;
  const std::uint16_t *w = job.w, *ahead = job.count > job.lead ? w + 16 * job.lead : job.following;
  const extent next = job.next, count = job.count, turn = count - job.lead;
  const bool bfloat = job.bfloat;
  float* const sums = job.sums;
  f32x16 acc[] = {(job.first ? zero() : load(sums + 16 * I))...};
  for (extent k = 0; k < count; ++k, x += R, w += 16, ahead += 16) {
    if (k == turn) ahead = job.following;
    ((I < V ? __builtin_prefetch(ahead + I * next, 0, 2) : void()), ...);
    if (bfloat) {
      ((acc[I] = fma(broadcast(x[I / V]), load_bf16(w + I % V * next), acc[I])), ...);
    } else {
      ((acc[I] = fma(broadcast(x[I / V]), load_f16(w + I % V * next), acc[I])), ...);
    }
  }
  (store(sums + 16 * I, acc[I]), ...);
}
using half_tile_function = void (*)(const half_job&) noexcept;
template <int V, int R>
inline void half_tile(const half_job& job) noexcept {
  half_tile<V>(std::make_integer_sequence<int, R * V>{}, job);
}
/// Of one to so many rows; up to half_pair_rows of them, which are all, meet two groups.
template <int... I>
inline half_tile_function half_tile_of(std::integer_sequence<int, I...>, extent height) noexcept {
  static_assert(half_pair_rows == 0 || panel_rows / 2 >= half_pair_rows, "panels of several are higher");
  static constexpr half_tile_function tiles[] = {half_tile<I < half_pair_rows ? 2 : panel_vectors, I + 1>...};
  return tiles[height - 1];
}

/// Few panels by packed groups. One waits for the weights: it fetches far ahead, and at the end what the next strip
/// begins with. Several meet pieces of the weights while these are in the first-level cache.
template <class = void>
void half_strip(const detail::strip& s) noexcept {
  constexpr extent piece = 512;
  const operand& x = *s.x;
  const bool one = x.split.count == 1, more = s.w->packed != nullptr && s.n1 < s.w->rows;
  const extent width = x.rows <= half_pair_rows ? 32 : float_columns, step = one ? x.cols : piece;
  const extent begin = 32 * s.k0, end = std::min(32 * s.k1, x.cols);
  for (extent k = begin; k < end; k += step) {
    const extent count = std::min(step, end - k);
    const bool ends = k + count == x.cols;
    const auto* const w = reinterpret_cast<const std::uint16_t*>(s.packed) + 16 * k;
    const extent following = k + count != end ? count : (more ? width / 16 * x.cols : 0) + begin - k;  // from w
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      float* const own = s.sums + (m - x.split.first(s.first)) * width;
      if (ends && !one) fetch_results(s, m, height);
      half_tile_of(std::make_integer_sequence<int, panel_rows>{}, height)(
          {.x = x.panels + m * x.cols + k * height,
           .w = w,
           .next = 16 * x.cols,
           .count = count,
           .bfloat = s.w->format != dtype::f16,
           .lead = one ? static_cast<extent>(s.ahead.halves) / (2 * detail::group) : 64,
           .following = w + 16 * following,
           .sums = own,
           .first = k == 0});
      if (ends) finish(s, own, width, m, height);
    }
  }
}

template <class = void>
void float_panel_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  float* const wide = s.scratch;
  const auto* packed = reinterpret_cast<const std::uint16_t*>(s.packed);
  if (packed != nullptr && x.split.count <= half_panels) return half_strip(s);
  // One panel: little at a time, so that widened weights stay in the first-level cache beside those that stream in.
  const extent step = s.last - s.first > 1 ? panel_chunk : 48;
  extent share = 1;
  while (share < 16 && share * (s.last - s.first) < float_columns) share *= 2;
  const extent begin = 32 * s.k0, end = std::min(32 * s.k1, x.cols);
  for (extent k = begin; k < end; k += step) {
    const extent count = std::min(step, end - k);
    if (packed == nullptr) {
      transpose_rows(*s.w, s.n0, s.n1, k, count, wide);
    } else if (s.w->format == dtype::f16) {
      widen<dtype::f16>(packed + 16 * k, 16 * x.cols, count, wide);
    } else {
      widen<dtype::bf16>(packed + 16 * k, 16 * x.cols, count, wide);
    }
    // Rows of f32 that the next piece, or the next strip, begins with: each panel fetches its share.
    const bool ends = k + count == x.cols, part_ends = k + count == end;
    const extent from = part_ends ? s.n1 : s.n0;
    const extent till = packed != nullptr ? from : std::min(from + float_columns, s.w->rows);
    extent fetched = from;
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      rows_ahead ahead{wide, 0, 1};
      if (fetched + share <= till)
        ahead = {reinterpret_cast<const float*>(s.w->row(fetched)) + (part_ends ? begin : k + count), x.cols, share};
      fetched += share;
      float* own = s.sums + (m - x.split.first(s.first)) * float_columns;
      if (ends) fetch_results(s, m, height);
      panel_tile_of(std::make_integer_sequence<int, panel_rows>{}, height)(x.panels + m * x.cols + k * height, wide,
                                                                           count, own, k == 0, ahead);
      if (ends) finish(s, own, float_columns, m, height);
    }
  }
}

/// out[k * rows + r] = x[r * stride + k], four by four where it goes.
template <class = void>
void interleave(const float* x, extent stride, extent rows, extent cols, float* out) noexcept {
  typedef float quad __attribute__((vector_size(16)));
  extent r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* from = x + r * stride;
    extent k = 0;
    for (; k + 4 <= cols; k += 4) {
      quad a, b, c, d;
      std::memcpy(&a, from + k, 16);
      std::memcpy(&b, from + stride + k, 16);
      std::memcpy(&c, from + 2 * stride + k, 16);
      std::memcpy(&d, from + 3 * stride + k, 16);
      const quad ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), bd = __builtin_shufflevector(b, d, 0, 4, 1, 5);
      const quad ca = __builtin_shufflevector(a, c, 2, 6, 3, 7), db = __builtin_shufflevector(b, d, 2, 6, 3, 7);
      const quad columns[] = {__builtin_shufflevector(ac, bd, 0, 4, 1, 5), __builtin_shufflevector(ac, bd, 2, 6, 3, 7),
                              __builtin_shufflevector(ca, db, 0, 4, 1, 5), __builtin_shufflevector(ca, db, 2, 6, 3, 7)};
      for (extent i = 0; i < 4; ++i) std::memcpy(out + (k + i) * rows + r, columns + i, 16);
    }
    for (; k < cols; ++k)
      for (extent i = 0; i < 4; ++i) out[k * rows + r + i] = from[i * stride + k];
  }
  for (; r < rows; ++r)
    for (extent k = 0; k < cols; ++k) out[k * rows + r] = x[r * stride + k];
}
