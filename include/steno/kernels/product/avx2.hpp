// steno/kernels/product/avx2.hpp - the product kernels for AVX2: 6 x 16 float tiles, 4 x 16 int8 tiles.
//
// int8: vpmaddubsw would saturate on sums of two products u8 * s8; |w| times x with the sign of w cannot exceed
// 2 * 128 * 127 = 32512 and is exact. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/isa/avx2.hpp>
#include <steno/kernels/product/table.hpp>

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include <steno/kernels/isa/region_avx2_begin.hpp>
namespace steno::inline STENO_ABI::kernels::avx2 {
namespace product {

inline constexpr int dot_rows = 2, panel_rows = 6, panel_vectors = 1;
inline constexpr extent panel_chunk = 256, float_columns = 16 * panel_vectors;

#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>

inline constexpr extent int8_rows = 4, int8_columns = 16;

/// Eight columns' products of four values: size = |w| as u8, x with the sign of w, in pairs and then fours.
STENO_INLINE __m256i dot_fours(__m256i d, __m256i w, const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(_mm256_set1_epi32(four), w));
  return _mm256_add_epi32(d, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
STENO_INLINE __m256i weights_of(const std::byte* quants) {
  return _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(quants)), _mm256_set1_epi8(-128));
}
STENO_INLINE __m256 halves(const std::byte* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

/// sums[r * 16 + n] for R rows and one group of 16 columns, all blocks; two accumulators of eight columns per row.
template <int... I>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, I...>, const std::int8_t* x, const float* scales,
                                 extent blocks, const std::byte* quants, const std::byte* group_scales,
                                 float* sums) noexcept {
  constexpr int R = sizeof...(I) / 2;
  (_mm256_storeu_ps(sums + 8 * I, _mm256_setzero_ps()), ...);
  for (extent b = 0; b < blocks; ++b, scales += R, group_scales += 32) {
    __m256i d[] = {(static_cast<void>(I), _mm256_setzero_si256())...};
    for (int j = 0; j < 8; ++j, x += 4 * R, quants += 64)
      ((d[I] = dot_fours(d[I], weights_of(quants + I % 2 * 32), x + I / 2 * 4)), ...);
    (_mm256_storeu_ps(sums + 8 * I,
                      _mm256_fmadd_ps(_mm256_cvtepi32_ps(d[I]),
                                      _mm256_mul_ps(halves(group_scales + I % 2 * 16), _mm256_set1_ps(scales[I / 2])),
                                      _mm256_loadu_ps(sums + 8 * I))),
     ...);
  }
}

template <int R>
inline void int8_panel(const detail::strip& s, extent m) noexcept {
  const extent blocks = s.x->cols / detail::block;
  int8_tile(std::make_integer_sequence<int, 2 * R>{}, s.x->quants + m * s.x->cols, s.x->scales + m * blocks, blocks,
            s.packed, s.packed + static_cast<std::size_t>(blocks) * detail::group_quants, s.scratch);
}

inline void int8_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  for (extent p = s.first; p < s.last; ++p) {
    const extent m = x.split.first(p), height = x.split.height(p);
    switch (height) {
      case 1:
        int8_panel<1>(s, m);
        break;
      case 2:
        int8_panel<2>(s, m);
        break;
      case 3:
        int8_panel<3>(s, m);
        break;
      default:
        int8_panel<4>(s, m);
    }
    finish(s, s.scratch, int8_columns, m, height);
  }
}

}  // namespace product

inline constexpr detail::product_table product_kernels{
    .int8_panel = product::int8_rows,
    .int8_columns = product::int8_columns,
    .int8_columns_few = product::int8_columns,
    .int8_rows = 256,
    .float_panel = product::panel_rows,
    .float_panels_from = 24,
    .float_columns = product::float_columns,
    .float_rows = 600,
    .float_panel_scratch = product::panel_chunk * product::float_columns,
    .quantise = product::quantise,
    .interleave = product::interleave,
    .int8_strip = product::int8_strip,
    .float_panel_strip = product::float_panel_strip,
    .float_row_strip = product::float_row_strip,
};

}  // namespace steno::inline STENO_ABI::kernels::avx2
#include <steno/kernels/isa/region_end.hpp>
