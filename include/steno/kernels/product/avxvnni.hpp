// steno/kernels/product/avxvnni.hpp - int8 tiles of 6 rows by 16 columns with vpdpbusd of 256 bits; floats as with
// AVX2.
//
// What Intel's client processors have since 2021, who lack AVX-512. The weights are unsigned (w + 128), as in
// avx512vnni.hpp; twelve accumulators, so that sums stay in memory, in the first-level cache.
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product/avxvnni_rows.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avxvnni_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avxvnni {
namespace product {

inline constexpr int int8_rows = 6, int8_groups = 1;

/// d[I] += row I / 2 by eight columns of each vector of four values from `quants` on, four of them.
template <int... I>
STENO_INLINE void dot_vector(std::integer_sequence<int, I...>, __m256i* d, const std::int8_t* x,
                             const std::byte* quants) {
  const __m256i w[] = {avx2::product::eight_of(quants), avx2::product::eight_of(quants + 32)};
  ((d[I] = _mm256_dpbusd_avx_epi32(d[I], w[I % 2], four_of(x + I / 2 * detail::block))), ...);
}
template <int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, __m256i* d, const std::int8_t* x,
                           const std::byte* quants) {
  dot_vector(all, d, x, quants);
  dot_vector(all, d, x + 4, quants + 64);
  dot_vector(all, d, x + 8, quants + 128);
  dot_vector(all, d, x + 12, quants + 192);
}
STENO_INLINE __m256i eight_from(float start) { return _mm256_castps_si256(_mm256_set1_ps(start)); }

/// sums of row I / 2 += d[I] * scale of each column * scale of the row; the first eight columns of all rows, then the
/// others: scales of both would be two registers too many.
template <int... I>
STENO_INLINE void add_scaled(std::integer_sequence<int, I...>, float* sums, const __m256i* d, const float* scales,
                             const float* weight_scales) {
  const auto half = [&](int h) __attribute__((always_inline)) {
    const __m256 w = _mm256_loadu_ps(weight_scales + 8 * h);
    const __m256 origin = _mm256_mul_ps(w, _mm256_set1_ps(-detail::sum_origin));
    const auto add = [&](int i) __attribute__((always_inline)) {
      asm volatile("" ::: "memory");  // one after the other: together they would be spilled
      const __m256 dots = _mm256_fmadd_ps(_mm256_castsi256_ps(d[i]), w, origin);
      _mm256_storeu_ps(sums + 8 * i,
                       _mm256_fmadd_ps(dots, _mm256_set1_ps(scales[16 * (i / 2)]), _mm256_loadu_ps(sums + 8 * i)));
    };
    ((I % 2 == h ? add(I) : void()), ...);
  };
  half(0), half(1);
}
/// sums of row I / 2 += offset of the row * minimum of each column
template <int... I>
STENO_INLINE void add_minima(std::integer_sequence<int, I...>, float* sums, const float* offsets, const float* minima) {
  const __m256 m[] = {_mm256_loadu_ps(minima), _mm256_loadu_ps(minima + 8)};
  const auto add = [&](int i) __attribute__((always_inline)) {
    asm volatile("" ::: "memory");
    _mm256_storeu_ps(sums + 8 * i,
                     _mm256_fmadd_ps(m[i % 2], _mm256_set1_ps(offsets[16 * (i / 2)]), _mm256_loadu_ps(sums + 8 * i)));
  };
  (add(I), ...);
}

/// sizeof...(I) / 2 rows and one group; a scale for every Span blocks. The eight steps of a block are written out, as
/// in avx512vnni.hpp.
template <extent Span, int... I>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, I...> all, const detail::int8_job& job) noexcept {
  constexpr extent R = sizeof...(I) / 2;
  const std::int8_t* x = job.x;
  const float *scales = job.scales, *offsets = job.offsets, *starts = job.starts;
  const std::byte* quants = job.quants;
  const float *ws = job.weight_scales, *minima = Span > 1 ? nullptr : job.minima;
  const bool halves = Span == 1 && job.layout.halves;
  float* const sums = job.sums;
  if (job.first) (_mm256_storeu_ps(sums + 8 * I, _mm256_setzero_ps()), ...);
  const std::byte* ahead = job.ahead;
  const auto fetch_ahead = [&]() __attribute__((always_inline)) {
    __builtin_prefetch(ahead, 0, 2);
    for (int line = 1; line < 5; line += 2)
      if (job.ahead_lines > line) {
        __builtin_prefetch(ahead + 64 * line, 0, 2);
        __builtin_prefetch(ahead + 64 * line + 64, 0, 2);
      }
    ahead += job.ahead_bytes;
  };
  for (extent s = job.blocks / Span; s != 0; --s) {
    __m256i d[] = {eight_from(starts[16 * (I / 2)])...};
    const auto next_block = [&]() __attribute__((always_inline)) {
      x += R * detail::block;
      quants += detail::group_quants;
    };
    if constexpr (Span > 1) {
      for (extent b = Span; b != 0; --b) {
        fetch_ahead();
        dot_half(all, d, x, quants);
        dot_half(all, d, x + 16, quants + 256);
        next_block();
      }
    } else {
      fetch_ahead();
      dot_half(all, d, x, quants);
      if (halves) {
        add_scaled(all, sums, d, scales, ws);
        ((d[I] = eight_from(starts[job.plane + 16 * (I / 2)])), ...);
        ws += 16;
        if (minima != nullptr) {
          add_minima(all, sums, offsets, minima);
          minima += 16;
        }
      }
      dot_half(all, d, x + 16, quants + 256);
      next_block();
    }
    add_scaled(all, sums, d, scales, ws);
    if (minima != nullptr) {
      add_minima(all, sums, halves ? offsets + job.plane : offsets, minima);
      minima += 16;
    }
    ++scales, ++starts, ++offsets;
    ws += 16;
  }
}

template <extent Span>
void int8_tile_of(const detail::int8_job& job) noexcept {
  switch (job.rows) {  // of fewer, int8_row_strip takes care
    case 3:
      return int8_tile<Span>(std::make_integer_sequence<int, 6>{}, job);
    case 4:
      return int8_tile<Span>(std::make_integer_sequence<int, 8>{}, job);
    case 5:
      return int8_tile<Span>(std::make_integer_sequence<int, 10>{}, job);
    default:
      return int8_tile<Span>(std::make_integer_sequence<int, 12>{}, job);
  }
}
template <class = void>
void int8_tile(const detail::int8_job& job) noexcept {
  job.layout.span == 1 ? int8_tile_of<1>(job) : int8_tile_of<detail::long_span>(job);
}

}  // namespace product

template <class = void>
constexpr detail::product_table with_vnni(detail::product_table t) {
  t.int8_panel = product::int8_rows;
  t.int8_groups = product::int8_groups;
  t.int8_few = product::int8_few;
  t.int8_row_strip = product::int8_row_strip;
  t.int8_tile = product::int8_tile;
  t.int8_tile_biased = true;
  return t;
}
template <class = void>
inline constexpr detail::product_table product_kernels = with_vnni(avx2::product_kernels<>);

}  // namespace kernels::avxvnni
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
