// steno/kernels/product/quad_int8.inl - the int8 tile of R rows by 16 columns, in vectors of four: included once for
// each NEON level and for WebAssembly's SIMD128.
//
// What a level brings: quad (four floats), quad_counts (four integers), load_four(), store_four(), add_times(sum, x,
// factor), which is sum + x * factor in as many roundings as the reference has; `quads` (of columns taken at a time:
// four, or two where the counters would not fit), counters<R> (vectors that count a block's integer sums), start<R,
// I>(starts) of counter I, count_half<R, Apart>(...) which adds 16 values (Apart: in steps that gcc must not mix, as it
// does where no branch follows, and then spills), and total<R, I>(counters), the sums of row I / quads in the four
// columns of quad I % quads as floats. Integers are exact, so the levels have the bits of product/reference.hpp. The
// floating-point sums stay in memory (first-level cache): they are wanted once per block, the registers in every step.
// SPDX-License-Identifier: Apache-2.0

/// sums[16 r + i] += counted * scale of the column * scale of the row, a quad for each I
template <int R, int r, int... I>
STENO_INLINE void add_row(std::integer_sequence<int, I...>, const quad_counts* d, float scale,
                          const quad* weight_scales, float* sums) {
  asm volatile("" ::: "memory");  // otherwise gcc loads the sums of all rows first and has too few registers
  (store_four(sums + 16 * r + 4 * I,
              add_times(load_four(sums + 16 * r + 4 * I), total<R, r * quads + I>(d) * weight_scales[I], scale)),
   ...);
}
template <int r, int... I>
STENO_INLINE void add_minima(std::integer_sequence<int, I...>, float offset, const quad* minima, float* sums) {
  asm volatile("" ::: "memory");
  (store_four(sums + 16 * r + 4 * I, add_times(load_four(sums + 16 * r + 4 * I), minima[I], offset)), ...);
}
template <int... r, int... I>
STENO_INLINE void add_rows(std::integer_sequence<int, r...>, std::integer_sequence<int, I...> each,
                           const quad_counts* d, const float* scales, const float* weight_scales, const float* offsets,
                           const float* minima, float* sums) {
  const quad ws[] = {load_four(weight_scales + 4 * I)...};
  (add_row<sizeof...(r), r>(each, d, scales[16 * r], ws, sums), ...);
  if (minima == nullptr) return;
  const quad ms[] = {load_four(minima + 4 * I)...};
  (add_minima<r>(each, offsets[16 * r], ms, sums), ...);
}

/// A scale for every Span blocks.
template <extent Span, int R, int... C>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, C...> all, const detail::int8_job& job) noexcept {
  constexpr auto rows = std::make_integer_sequence<int, R>{};
  constexpr auto each = std::make_integer_sequence<int, quads>{};
  if (job.first)
    for (extent i = 0; i < 16 * R; i += 4) store_four(job.sums + i, quad{});
  for (extent column = 0; column < detail::group; column += 4 * quads) {
    const std::int8_t* x = job.x;
    const float *scales = job.scales, *offsets = job.offsets;
    const float* starts = job.starts;
    const float *ws = job.weight_scales + column, *minima = job.minima == nullptr ? nullptr : job.minima + column;
    const std::byte* quants = job.quants + 4 * column;
    float* const sums = job.sums + column;
    for (extent s = 0; s < job.blocks / Span; ++s) {
      quad_counts d[] = {start<R, C>(starts)...};
      if constexpr (Span > 1) {
        for (extent b = 0; b < Span; ++b, x += R * detail::block)
#pragma GCC unroll 1  // both halves at once would be spilled
          for (extent half = 0; half < 2; ++half, quants += 256) count_half<R, true>(all, d, x + 16 * half, quants);
        add_rows(rows, each, d, scales, ws, offsets, nullptr, sums);
      } else {
        count_half<R, false>(all, d, x, quants);
        if (job.layout.halves) {
          add_rows(rows, each, d, scales, ws, offsets, minima, sums);
          ((d[C] = start<R, C>(starts + job.plane)), ...);
          ws += 16;
          if (minima != nullptr) minima += 16;
        }
        count_half<R, false>(all, d, x + 16, quants + 256);
        add_rows(rows, each, d, scales, ws, job.layout.halves ? offsets + job.plane : offsets, minima, sums);
        if (minima != nullptr) minima += 16;
        x += R * detail::block;
        quants += detail::group_quants;
      }
      ++scales, ++offsets, ++starts;
      ws += 16;
    }
  }
}
template <extent Span, int R>
inline void int8_tile(const detail::int8_job& job) noexcept {
  int8_tile<Span, R>(std::make_integer_sequence<int, counters<R>>{}, job);
}
template <extent Span, int... I>
inline void int8_tile_of(std::integer_sequence<int, I...>, const detail::int8_job& job) noexcept {
  using function = void (*)(const detail::int8_job&) noexcept;
  static constexpr function tiles[] = {int8_tile<Span, I + 1>...};
  tiles[job.rows - 1](job);
}
template <class = void>
void int8_tile(const detail::int8_job& job) noexcept {
  constexpr auto heights = std::make_integer_sequence<int, int8_rows>{};
  job.layout.span == 1 ? int8_tile_of<1>(heights, job) : int8_tile_of<detail::long_span>(heights, job);
}
