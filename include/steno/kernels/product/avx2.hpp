// steno/kernels/product/avx2.hpp - the product kernels for AVX2: 6 x 16 float tiles, 6 x 8 int8 tiles.
//
// int8: vpmaddubsw would saturate on sums of two products u8 * s8; |w| times x with the sign of w cannot exceed
// 2 * 128 * 127 = 32512 and is exact. Quants of four to six bits are unsigned as they are, and so small that several
// such sums are added up in 16 bits (avx2_rows.hpp). Specification: product/reference.hpp. Tested in
// tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/product/avx2_rows.hpp>

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <steno/kernels/isa/region_avx2_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx2 {
namespace product {

inline constexpr int dot_rows = 3, dot_columns = 4, panel_rows = 6, panel_vectors = 1;
inline constexpr extent panel_chunk = 256, float_columns = 16 * panel_vectors;
inline constexpr int half_pair_rows = 2, half_panels = 4;
inline constexpr bool panel_fetches = false;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>

inline constexpr int int8_rows = 6, int8_groups = 1;

/// d[r] += eight columns by row r, `Count` vectors of four values of q8_0. Eight columns at a time, and a loop that
/// stays one: with sixteen registers, more at once would be spilled.
template <int Count, int... r>
STENO_INLINE void dot_bytes(std::integer_sequence<int, r...>, __m256i* d, const std::int8_t* x,
                            const std::byte* quants) {
#pragma GCC unroll 1
  for (int j = 0; j < Count; ++j, x += 4, quants += 64) {
    const __m256i w = weights_of(quants), size = _mm256_abs_epi8(w);
    ((d[r] = dot_fours(d[r], w, size, x + detail::block * r)), ...);
  }
}
/// The same of unsigned quants, so few bits that products of `Together` vectors, added up in pairs, fit in 16 bits.
template <int Count, int Together, int... r>
STENO_INLINE void dot_quants(std::integer_sequence<int, r...>, __m256i* d, const std::int8_t* x,
                             const std::byte* quants) {
  const __m256i one = _mm256_set1_epi16(1);
#pragma GCC unroll 2
  for (int first = 0; first < Count; first += Together, x += 4 * Together, quants += 64 * Together) {
    asm volatile("" ::: "memory");  // otherwise gcc loads for all of them first
    __m256i w = eight_of(quants);
    __m256i pairs[] = {_mm256_maddubs_epi16(w, four_of(x + detail::block * r))...};
#pragma GCC unroll 8
    for (int j = 1; j < Together; ++j) {
      w = eight_of(quants + 64 * j);
      ((pairs[r] = opaque(_mm256_add_epi16(pairs[r], _mm256_maddubs_epi16(w, four_of(x + detail::block * r + 4 * j))))),
       ...);
    }
    ((d[r] = opaque(_mm256_add_epi32(d[r], _mm256_madd_epi16(pairs[r], one)))), ...);
  }
}

/// sums of row r += d[r] * scale of the column * scale of the row, and then, where there are minima, += minimum of the
/// column * offset of the row
template <int... r>
STENO_INLINE void add_scaled(std::integer_sequence<int, r...>, const __m256i* d, const float* weight_scales,
                             const float* scales, const float* minima, const float* offsets, float* sums) {
  const __m256 ws = _mm256_loadu_ps(weight_scales);
  const __m256 origin = _mm256_mul_ps(ws, _mm256_set1_ps(-detail::sum_origin));
  const auto sum = [&](int row, __m256i dots) __attribute__((always_inline)) {
    asm volatile("" ::: "memory");  // one row after the other: together they would be spilled
    return _mm256_fmadd_ps(_mm256_fmadd_ps(_mm256_castsi256_ps(dots), ws, origin), _mm256_set1_ps(scales[16 * row]),
                           _mm256_loadu_ps(sums + 16 * row));
  };
  if (minima == nullptr) {
    (_mm256_storeu_ps(sums + 16 * r, sum(r, d[r])), ...);
    return;
  }
  const __m256 m = _mm256_loadu_ps(minima);
  (_mm256_storeu_ps(sums + 16 * r, _mm256_fmadd_ps(m, _mm256_set1_ps(offsets[16 * r]), sum(r, d[r]))), ...);
}

/// sizeof...(r) rows and one group of 16 columns, eight and eight; sums in memory. Together: as in dot_quants(), 0:
/// eight bits, with a scale for every Span blocks.
template <int Together, bool Halves, extent Span, int... r>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, r...> all, const detail::int8_job& job) noexcept {
  constexpr extent R = sizeof...(r);
  constexpr int parts = Halves ? 2 : 1, vectors = 8 / parts;
  if (job.first)
    ((_mm256_storeu_ps(job.sums + 16 * r, _mm256_setzero_ps()),
      _mm256_storeu_ps(job.sums + 16 * r + 8, _mm256_setzero_ps())),
     ...);
  // What sums are counted from: the operand's starts are for quants whose zero is 128. Bytes are signed here.
  float counted_from[(Halves ? 32 : 16) * sizeof...(r)];
  const f32x16 origin = broadcast(detail::sum_origin);
  const f32x16 share = broadcast(Together == 0 ? 0 : static_cast<float>(128 - job.layout.bias) / 128);
  const int count = static_cast<int>(job.blocks / Span);  // up to 16
  for (extent part = 0; part < parts; ++part)
    for (extent row = 0; row < job.rows; ++row)
      store(counted_from + (part * R + row) * 16,
            fma(load_n(job.starts + part * job.plane + row * 16, count) - origin, share, origin));
  for (extent half = 0; half < 2; ++half) {
    const std::int8_t* x = job.x;
    const float *scales = job.scales, *offsets = job.offsets, *starts = counted_from;
    const float *ws = job.weight_scales + 8 * half, *minima = job.minima == nullptr ? nullptr : job.minima + 8 * half;
    const std::byte* quants = job.quants + 32 * half;
    float* const sums = job.sums + 8 * half;
    asm("" : "+r"(starts) : "m"(counted_from));  // a pointer like the others
    // What comes next is fetched by the first eight columns alone.
    const std::byte* ahead = job.ahead;
    const int lines = half == 0 ? job.ahead_lines : 0;
    const auto fetch_ahead = [&]() __attribute__((always_inline)) {
      if (lines > 0) __builtin_prefetch(ahead, 0, 2);
      for (int line = 1; line < 5; line += 2)
        if (lines > line) {
          __builtin_prefetch(ahead + 64 * line, 0, 2);
          __builtin_prefetch(ahead + 64 * line + 64, 0, 2);
        }
      ahead += job.ahead_bytes;
    };
    for (extent s = 0; s < job.blocks / Span; ++s, ++scales, ++offsets, ++starts) {
      if constexpr (Together == 0) {
        __m256i d[] = {_mm256_castps_si256(_mm256_set1_ps(starts[16 * r]))...};
        for (extent b = 0; b < Span; ++b, x += 32 * R, quants += 512) {
          fetch_ahead();
          dot_bytes<vectors>(all, d, x, quants);
        }
        add_scaled(all, d, ws, scales, nullptr, nullptr, sums);
        ws += 16;
      } else {
        fetch_ahead();
#pragma GCC unroll 2
        for (extent part = 0; part < parts; ++part, ws += 16) {
          __m256i d[] = {_mm256_castps_si256(_mm256_set1_ps(starts[(part * R + r) * 16]))...};
          dot_quants<vectors, Together>(all, d, x + 16 * part, quants + 256 * part);
          add_scaled(all, d, ws, scales, minima, offsets + part * job.plane, sums);
          if (minima != nullptr) minima += 16;
        }
        x += 32 * R, quants += 512;
      }
    }
  }
}

template <int Together, bool Halves, extent Span = 1, int... I>
inline void int8_tile_of(std::integer_sequence<int, I...>, const detail::int8_job& job) noexcept {
  using function = void (*)(const detail::int8_job&) noexcept;
  // Of fewer rows, int8_row_strip takes care.
  static constexpr function tiles[] = {[](const detail::int8_job& j) noexcept {
    int8_tile<Together, Halves, Span>(std::make_integer_sequence<int, I + 3>{}, j);
  }...};
  tiles[job.rows - 3](job);
}
template <class = void>
void int8_tile(const detail::int8_job& job) noexcept {
  constexpr std::make_integer_sequence<int, int8_rows - 2> heights;
  const detail::block_layout& l = job.layout;
  if (l.span > 1) return int8_tile_of<0, false, detail::long_span>(heights, job);
  if (l.bits == 8) return int8_tile_of<0, false>(heights, job);
  if (l.bits == 6) return int8_tile_of<2, true>(heights, job);
  if (l.bits == 5) return int8_tile_of<4, false>(heights, job);
  l.halves ? int8_tile_of<4, true>(heights, job) : int8_tile_of<8, false>(heights, job);
}

}  // namespace product

template <class = void>
inline constexpr detail::product_table product_kernels{
    .int8_panel = product::int8_rows,
    .int8_groups = product::int8_groups,
    .int8_rows = 256,
    .int8_tile_fetches = true,
    .int8_tile_biased = false,
    .sum_origin = detail::sum_origin,
    .float_dot_rows = product::dot_rows,
    .float_panel = product::panel_rows,
    .float_panels_from = 24,
    .float_columns = product::float_columns,
    .half_pair_rows = product::half_pair_rows,
    .float_rows = 600,
    .float_panel_scratch = product::panel_chunk* product::float_columns,
    .quantise = product::quantise,
    .interleave = product::interleave,
    .unpack = product::unpack,
    .int8_tile = product::int8_tile,
    .finish = product::finish,
    .float_panel_strip = product::float_panel_strip,
    .float_row_strip = product::float_row_strip,
    .int8_few = product::int8_few,
    .int8_row_strip = product::int8_row_strip,
};

}  // namespace kernels::avx2
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
