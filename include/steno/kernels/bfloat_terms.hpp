// steno/kernels/bfloat_terms.hpp - numbers as sums of bfloat16 numbers ("terms"), in the order in which tiles of AMX
// and vdpbf16ps multiply them.
//
// A bfloat16 number has 8 bits: two of them have 16, three all 24 of a float. A step of 32 values k .. k + 31 pairs
// k + j with k + 16 + j:
//   x        [steps][terms][rows of the panel][16 pairs]
//   weights  [steps][terms][2 groups][16 pairs][16 columns]
// For product/amx.hpp and bfloat_attention.hpp, with whose kernels it is tested (tests/kernels/product_test.cpp,
// attention_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include <steno/kernels/isa/avx512.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512 {

inline constexpr extent tile_values = 512;  // of bfloat16 in a tile: 16 pairs by 16 rows or columns

/// Where the values of two rows of 16 columns lie that become 16 pairs.
inline constexpr auto pair_places = [] {
  std::array<std::uint16_t, 32> places{};
  for (std::size_t i = 0; i < 32; ++i) places[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * 16);
  return places;
}();

/// The upper halves of each pair of lanes, side by side: one row of a tile.
STENO_INLINE __m512i paired(__m512i low, __m512i high) {
  return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_maskz_srli_epi32(0xffff, low, 16), high);
}
/// To the nearest bfloat16.
STENO_INLINE __m512i rounded(f32x16 a) { return _mm512_add_epi32(_mm512_castps_si512(a.v), _mm512_set1_epi32(0x8000)); }
STENO_INLINE f32x16 first_bits(f32x16 a) {
  return {_mm512_castsi512_ps(
      _mm512_and_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(static_cast<int>(0xffff0000u))))};
}
/// Writes a row of each of `Terms` tiles, which are `next` apart: one number or two are rounded, three add up to the
/// value.
template <int Terms>
STENO_INLINE void put_terms(f32x16 low, f32x16 high, std::uint16_t* to, extent next) {
  const auto put = [&](__m512i a, __m512i b) __attribute__((always_inline)) {
    _mm512_storeu_si512(to, paired(a, b));
    to += next;
  };
  if constexpr (Terms == 2) {
    const __m512i a = rounded(low), b = rounded(high);
    put(a, b);
    low = low - first_bits({_mm512_castsi512_ps(a)});
    high = high - first_bits({_mm512_castsi512_ps(b)});
  }
  if constexpr (Terms == 3)
    for (int t = 0; t < 2; ++t) {
      put(_mm512_castps_si512(low.v), _mm512_castps_si512(high.v));
      low = low - first_bits(low);
      high = high - first_bits(high);
    }
  Terms == 3 ? put(_mm512_castps_si512(low.v), _mm512_castps_si512(high.v)) : put(rounded(low), rounded(high));
}

/// 32 values of a row, or those that are left; the others are zeros.
struct row_pairs {
  f32x16 low, high;
};
STENO_INLINE row_pairs load_pairs(const float* x, extent left) {
  if (left >= 32) return {load(x), load(x + 16)};
  return {load_n(x, static_cast<int>(std::min<extent>(16, left))),
          left <= 16 ? zero() : load_n(x + 16, static_cast<int>(left - 16))};
}
/// A panel of `rows` rows, `stride` apart, as the x of a product.
template <int Terms>
void split_rows(const float* x, extent stride, extent rows, extent cols, std::uint16_t* to) noexcept {
  for (extent k = 0; k < cols; k += 32, to += Terms * rows * 32)
    for (extent r = 0; r < rows; ++r) {
      const row_pairs pairs = load_pairs(x + r * stride + k, cols - k);
      put_terms<Terms>(pairs.low, pairs.high, to + r * 32, rows * 32);
    }
}

}  // namespace kernels::avx512
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
