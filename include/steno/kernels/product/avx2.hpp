// steno/kernels/product/avx2.hpp - the product kernels for AVX2: 6 x 16 float tiles, 4 x 16 int8 tiles.
//
// int8: vpmaddubsw would saturate on sums of two products u8 * s8; |w| times x with the sign of w cannot exceed
// 2 * 128 * 127 = 32512 and is exact. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
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

inline constexpr int dot_rows = 2, dot_columns = 2, panel_rows = 6, panel_vectors = 1;
inline constexpr extent panel_chunk = 256, float_columns = 16 * panel_vectors;
inline constexpr bool panel_fetches = false;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>

inline constexpr int int8_rows = 4, int8_groups = 1;

/// d[r] += eight columns by row r for half a block, four steps. Eight columns at a time, and a loop that stays one:
/// with sixteen registers, more at once would be spilled.
template <int... r>
STENO_INLINE void dot_half(std::integer_sequence<int, r...>, __m256i* d, const std::int8_t* x,
                           const std::byte* quants) {
#pragma GCC unroll 1
  for (int j = 0; j < 4; ++j, x += 4, quants += 64) {
    const __m256i w = weights_of(quants), size = _mm256_abs_epi8(w);
    ((d[r] = dot_fours(d[r], w, size, x + detail::block * r)), ...);
  }
}
/// Sums are counted from detail::sum_origin on.
STENO_INLINE __m256i start() { return _mm256_castps_si256(_mm256_set1_ps(detail::sum_origin)); }
/// sums of row r += d[r] * scale of the column * scale of the row
template <int... r>
STENO_INLINE void add_scaled(std::integer_sequence<int, r...>, const __m256i* d, const float* scales,
                             const float* weight_scales, float* sums) {
  const __m256 ws = _mm256_loadu_ps(weight_scales);
  const __m256 origin = _mm256_mul_ps(ws, _mm256_set1_ps(-detail::sum_origin));
  (_mm256_storeu_ps(sums + 16 * r, _mm256_fmadd_ps(_mm256_fmadd_ps(_mm256_castsi256_ps(d[r]), ws, origin),
                                                   _mm256_set1_ps(scales[16 * r]), _mm256_loadu_ps(sums + 16 * r))),
   ...);
}
/// sums of row r += offset of the row * minimum of the column
template <int... r>
STENO_INLINE void add_minima(std::integer_sequence<int, r...>, const float* offsets, const float* minima, float* sums) {
  const __m256 m = _mm256_loadu_ps(minima);
  (_mm256_storeu_ps(sums + 16 * r, _mm256_fmadd_ps(m, _mm256_set1_ps(offsets[16 * r]), _mm256_loadu_ps(sums + 16 * r))),
   ...);
}

/// sizeof...(r) rows and one group of 16 columns, eight and eight; sums in memory.
template <int... r>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, r...> all, const detail::int8_job& job) noexcept {
  constexpr int R = sizeof...(r);
  if (job.first)
    ((_mm256_storeu_ps(job.sums + 16 * r, _mm256_setzero_ps()),
      _mm256_storeu_ps(job.sums + 16 * r + 8, _mm256_setzero_ps())),
     ...);
  for (extent half = 0; half < 2; ++half) {
    const std::int8_t* x = job.x;
    const float *scales = job.scales, *offsets = job.offsets;
    const float *ws = job.weight_scales + 8 * half, *minima = job.minima == nullptr ? nullptr : job.minima + 8 * half;
    const std::byte* quants = job.quants + 32 * half;
    float* const sums = job.sums + 8 * half;
    for (extent b = 0; b < job.blocks; ++b, ++scales, ++offsets, x += 32 * R, quants += 512, ws += 16) {
      __m256i d[] = {(static_cast<void>(r), start())...};
      dot_half(all, d, x, quants);
      if (job.halves) {
        add_scaled(all, d, scales, ws, sums);
        ((d[r] = start()), ...);
        ws += 16;
        if (minima != nullptr) {
          add_minima(all, offsets, minima, sums);
          minima += 16;
        }
      }
      dot_half(all, d, x + 16, quants + 256);
      add_scaled(all, d, scales, ws, sums);
      if (minima != nullptr) {
        add_minima(all, job.halves ? offsets + job.plane : offsets, minima, sums);
        minima += 16;
      }
    }
  }
}

inline void int8_tile(const detail::int8_job& job) noexcept {
  switch (job.rows) {
    case 2:  // a single row is int8_row_strip's
      return int8_tile(std::make_integer_sequence<int, 2>{}, job);
    case 3:
      return int8_tile(std::make_integer_sequence<int, 3>{}, job);
    default:
      return int8_tile(std::make_integer_sequence<int, 4>{}, job);
  }
}

}  // namespace product

inline constexpr detail::product_table product_kernels{
    .int8_panel = product::int8_rows,
    .int8_groups = product::int8_groups,
    .int8_rows = 256,
    .int8_tile_fetches = false,
    .sum_origin = detail::sum_origin,
    .float_dot_rows = product::dot_rows,
    .float_panel = product::panel_rows,
    .float_panels_from = 24,
    .float_columns = product::float_columns,
    .float_rows = 600,
    .float_panel_scratch = product::panel_chunk * product::float_columns,
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
