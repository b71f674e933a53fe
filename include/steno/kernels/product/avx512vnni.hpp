// steno/kernels/product/avx512vnni.hpp - int8 tiles of 6 rows by 32 columns with vpdpbusd; floats as with AVX-512.
//
// The weights are unsigned (w + 128), so a block's accumulator starts at -128 * sum(x), as detail::sum_origin counts.
// One tile serves all formats with a scale for a block: it may have two (halves) and minima, which are looked at once
// per block. Spans (q8_128) have one of their own. Specification: product/reference.hpp. Tested in
// tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/avx512vnni_rows.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512vnni {
namespace product {

inline constexpr int int8_rows = 6, int8_groups = 2;

/// d[I] += four values of row I / C by four of each column of group I % C.
template <int C, int... I>
STENO_INLINE void dot_fours(std::integer_sequence<int, I...>, __m512i* d, const std::int8_t* x, const std::byte* quants,
                            std::size_t next_group) {
  ((d[I] =
        _mm512_dpbusd_epi32(d[I], _mm512_loadu_si512(quants + I % C * next_group), four_of(x + I / C * detail::block))),
   ...);
}
/// acc[I] += d[I] * scale of each column of group I % C * scale of row I / C
template <int C, int... I>
STENO_INLINE void add_scaled(std::integer_sequence<int, I...>, __m512* acc, const __m512i* d, const float* scales,
                             const float* weight_scales, extent next) {
  static_assert(C == 2);
  const column_scales w[] = {column_scales(load(weight_scales)), column_scales(load(weight_scales + next))};
  ((acc[I] = _mm512_fmadd_ps(w[I % C].times(d[I]).v, _mm512_set1_ps(scales[16 * (I / C)]), acc[I])), ...);
}
/// acc[I] += offset of row I / C * minimum of each column of group I % C
template <int C, int... I>
STENO_INLINE void add_minima(std::integer_sequence<int, I...>, __m512* acc, const float* offsets, const float* minima,
                             extent next) {
  ((acc[I] = _mm512_fmadd_ps(_mm512_loadu_ps(minima + I % C * next), _mm512_set1_ps(offsets[16 * (I / C)]), acc[I])),
   ...);
}

/// Lines [First, Last) of each group, into the second cache.
template <int C, int First, int Last>
STENO_INLINE void fetch(const std::byte* p, std::size_t next_group) {
  for (std::size_t c = 0; c < C; ++c, p += next_group)
    for (std::size_t line = First; line < Last; ++line) __builtin_prefetch(p + 64 * line, 0, 2);
}

/// Sixteen values: half a block.
template <int C, int... I>
STENO_INLINE void dot_sixteen(std::integer_sequence<int, I...> all, __m512i* d, const std::int8_t* x,
                              const std::byte* quants, std::size_t next) {
  dot_fours<C>(all, d, x, quants, next);
  dot_fours<C>(all, d, x + 4, quants + 64, next);
  dot_fours<C>(all, d, x + 8, quants + 128, next);
  dot_fours<C>(all, d, x + 12, quants + 192, next);
}

/// With each block of a tile, lines that will be wanted next.
template <int C>
struct line_fetcher {
  const std::byte* ahead;
  std::size_t next_group, step;
  int lines;

  explicit line_fetcher(const detail::int8_job& job)
      : ahead(job.ahead), next_group(job.next_ahead), step(job.ahead_bytes), lines(job.ahead_lines) {}
  STENO_INLINE void operator()() {
    fetch<C, 0, 1>(ahead, next_group);
    if (lines > 1) fetch<C, 1, 3>(ahead, next_group);
    if (lines > 3) fetch<C, 3, 5>(ahead, next_group);
    ahead += step;
  }
};

/// sizeof...(I) / C rows and C groups; a scale for every block; Plain: no halves and no minima. The eight steps of a
/// block are written out: as a loop, gcc 12 copies accumulators around vpdpbusd, which overwrites its first operand.
template <bool Plain, int C, int... I>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, I...> all, const detail::int8_job& job) noexcept {
  constexpr extent R = sizeof...(I) / C;
  const std::int8_t* x = job.x;
  const float *scales = job.scales, *offsets = job.offsets;
  const float* starts = job.starts;
  const std::byte* quants = job.quants;
  const std::size_t next = job.next_quants;
  const float *ws = job.weight_scales, *minima = Plain ? nullptr : job.minima;
  const extent next_scales = job.next_scales;
  const bool halves = !Plain && job.layout.halves;
  float* const sums = job.sums;
  __m512 acc[] = {(job.first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + I * 16))...};
  line_fetcher<C> fetch_ahead(job);
  for (extent b = job.blocks; b != 0; --b) {
    __m512i d[] = {start_at(starts[16 * (I / C)])...};
    fetch_ahead();
    dot_sixteen<C>(all, d, x, quants, next);
    if (halves) {
      const float* same = scales;
      asm volatile("" : "+r"(same));  // otherwise gcc loads the scales before the branch and has a register too few
      add_scaled<C>(all, acc, d, same, ws, next_scales);
      ((d[I] = start_at(starts[job.plane + 16 * (I / C)])), ...);
      ws += 16;
      if (minima != nullptr) {
        add_minima<C>(all, acc, offsets, minima, next_scales);
        minima += 16;
      }
    }
    dot_sixteen<C>(all, d, x + 16, quants + 256, next);
    add_scaled<C>(all, acc, d, scales, ws, next_scales);
    if (minima != nullptr) {
      add_minima<C>(all, acc, halves ? offsets + job.plane : offsets, minima, next_scales);
      minima += 16;
    }
    x += R * detail::block;
    ++scales, ++starts, ++offsets;
    quants += detail::group_quants;
    ws += 16;
  }
  (_mm512_storeu_ps(sums + I * 16, acc[I]), ...);
}

/// The same of spans, with their scales as they are packed. So seldom as scales are wanted, sums may stay in memory.
template <int C, int... I>
[[gnu::noinline]] void int8_span_tile(std::integer_sequence<int, I...> all, const detail::int8_job& job) noexcept {
  static_assert(C == 2);
  constexpr extent R = sizeof...(I) / C;
  const std::int8_t* x = job.x;
  const float *scales = job.scales, *starts = job.starts;
  const std::byte *quants = job.quants, *half_scales = job.half_scales;
  const std::size_t next = job.next_quants;
  float* const sums = job.sums;
  line_fetcher<C> fetch_ahead(job);
  __mmask16 before = job.first ? 0 : 0xffff;
  for (extent s = job.blocks / detail::long_span; s != 0; --s) {
    __m512i d[] = {start_at(starts[16 * (I / C)])...};
    for (extent b = detail::long_span; b != 0; --b) {
      fetch_ahead();
      dot_sixteen<C>(all, d, x, quants, next);
      dot_sixteen<C>(all, d, x + 16, quants + 256, next);
      x += R * detail::block;
      quants += detail::group_quants;
    }
    const column_scales w[] = {column_scales(half_vector(half_scales)), column_scales(half_vector(half_scales + next))};
    (_mm512_storeu_ps(sums + I * 16, _mm512_fmadd_ps(w[I % C].times(d[I]).v, _mm512_set1_ps(scales[16 * (I / C)]),
                                                     _mm512_maskz_loadu_ps(before, sums + I * 16))),
     ...);
    before = 0xffff;
    ++scales, ++starts;
    half_scales += detail::group_scales;
  }
}

/// f(std::integer_sequence) of the sums of a tile with so many rows; of one or two, int8_row_strip takes care.
STENO_INLINE void with_rows(extent rows, auto&& f) {
  constexpr int C = int8_groups;
  switch (rows) {
    case 3:
      return f(std::make_integer_sequence<int, 3 * C>{});
    case 4:
      return f(std::make_integer_sequence<int, 4 * C>{});
    case 5:
      return f(std::make_integer_sequence<int, 5 * C>{});
    default:
      return f(std::make_integer_sequence<int, 6 * C>{});
  }
}
template <class = void>
void int8_tile(const detail::int8_job& job) noexcept {
  constexpr int C = int8_groups;
  if (job.layout.span > 1)
    with_rows(job.rows, [&](auto all) { int8_span_tile<C>(all, job); });
  else if (job.layout.halves || job.minima != nullptr)
    with_rows(job.rows, [&](auto all) { int8_tile<false, C>(all, job); });
  else
    with_rows(job.rows, [&](auto all) { int8_tile<true, C>(all, job); });
}

}  // namespace product

template <class = void>
constexpr detail::product_table with_vnni(detail::product_table t) {
  t.int8_panel = product::int8_rows;
  t.int8_groups = product::int8_groups;
  t.int8_few = product::int8_few;
  t.int8_row_strip = product::int8_row_strip;
  t.int8_tile = product::int8_tile;
  t.int8_tile_fetches = true;
  t.int8_tile_biased = true;
  t.int8_tile_widens = true;
  return t;
}
template <class = void>
inline constexpr detail::product_table product_kernels = with_vnni(avx512::product_kernels<>);

}  // namespace kernels::avx512vnni
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
