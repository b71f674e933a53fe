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
constexpr int dot_columns(int rows) { return rows == 1 ? 4 : 2; }

#include <steno/kernels/product/expand.inl>
#include <steno/kernels/product/finish.inl>
#include <steno/kernels/product/float_rows.inl>
#include <steno/kernels/product/quantise.inl>

inline constexpr extent int8_rows = 4, int8_columns = 16;

/// sums[r * 16 + n] for R rows and one group of 16 columns, all blocks.
template <int R>
[[gnu::noinline]] void int8_tile(const std::int8_t* x, const float* scales, extent blocks, const std::byte* quants,
                                 const std::byte* group_scales, float* sums) noexcept {
  const __m256i flip = _mm256_set1_epi8(-128), ones = _mm256_set1_epi16(1);
  each<2 * R>([&](auto i) __attribute__((always_inline)) { _mm256_storeu_ps(sums + 8 * i, _mm256_setzero_ps()); });
  for (extent b = 0; b < blocks; ++b) {
    __m256i d[many(2 * R)];
    each<2 * R>([&](auto i) __attribute__((always_inline)) { d[i] = _mm256_setzero_si256(); });
    for (int j = 0; j < 8; ++j) {
      each<2>([&](auto h) __attribute__((always_inline)) {
        const __m256i w = _mm256_xor_si256(
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(quants + b * 512 + 64 * j + 32 * h)), flip);
        const __m256i size = _mm256_abs_epi8(w);
        each<R>([&](auto r) __attribute__((always_inline)) {
          std::int32_t four;
          std::memcpy(&four, x + (b * 8 + j) * R * 4 + 4 * r, 4);
          const __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(_mm256_set1_epi32(four), w));
          d[2 * r + h] = _mm256_add_epi32(d[2 * r + h], _mm256_madd_epi16(pairs, ones));
        });
      });
    }
    each<2>([&](auto h) __attribute__((always_inline)) {
      const __m256 ws =
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(group_scales + b * 32 + 16 * h)));
      each<R>([&](auto r) __attribute__((always_inline)) {
        float* at = sums + 16 * r + 8 * h;
        const __m256 scale = _mm256_mul_ps(ws, _mm256_set1_ps(scales[b * R + r]));
        _mm256_storeu_ps(at, _mm256_fmadd_ps(_mm256_cvtepi32_ps(d[2 * r + h]), scale, _mm256_loadu_ps(at)));
      });
    });
  }
}

inline void int8_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  const extent blocks = x.cols / detail::block;
  for (extent p = s.first; p < s.last; ++p) {
    const extent m = x.split.first(p), height = x.split.height(p);
    each<int8_rows>([&](auto r) __attribute__((always_inline)) {
      if (height == r + 1)
        int8_tile<r + 1>(x.quants + m * x.cols, x.scales + m * blocks, blocks, s.packed,
                         s.packed + static_cast<std::size_t>(blocks) * detail::group_quants, s.scratch);
    });
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
    .float_rows = 480,
    .float_panel_scratch = product::panel_chunk * product::float_columns,
    .quantise = product::quantise,
    .interleave = product::interleave,
    .int8_strip = product::int8_strip,
    .float_panel_strip = product::float_panel_strip,
    .float_row_strip = product::float_row_strip,
};

}  // namespace steno::inline STENO_ABI::kernels::avx2
#include <steno/kernels/isa/region_end.hpp>
