// steno/kernels/isa/avx512.hpp - the 16-lane float vector as one AVX-512 register. Operations as specified in
// scalar.hpp.
//
// Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/isa/avx2.hpp>

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include <steno/kernels/isa/region_avx512_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512 {

using avx2::sums_i8;

struct f32x16 {
  __m512 v;
};

// Where gcc 12 gives the plain intrinsic an undefined register as third operand, it warns about it in every caller; the
// zeroing form with all lanes compiles to the same instruction without the warning.
inline constexpr __mmask16 all_lanes = 0xffff;
inline constexpr __mmask8 all_halves = 0xff;

inline constexpr int tile_rows = 6, tile_vectors = 4;

STENO_INLINE f32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
STENO_INLINE void store(float* p, f32x16 a) { _mm512_storeu_ps(p, a.v); }
STENO_INLINE __mmask16 lanes_before(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
STENO_INLINE f32x16 load_n(const float* p, int n) { return {_mm512_maskz_loadu_ps(lanes_before(n), p)}; }
STENO_INLINE void store_n(float* p, f32x16 a, int n) { _mm512_mask_storeu_ps(p, lanes_before(n), a.v); }
STENO_INLINE f32x16 broadcast(float x) { return {_mm512_set1_ps(x)}; }
STENO_INLINE f32x16 zero() { return {_mm512_setzero_ps()}; }
STENO_INLINE __m256i load_256(const std::uint16_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
STENO_INLINE f32x16 load_f16(const std::uint16_t* p) { return {_mm512_maskz_cvtph_ps(all_lanes, load_256(p))}; }
STENO_INLINE void store_f16(std::uint16_t* p, f32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_maskz_cvtps_ph(all_lanes, a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
STENO_INLINE f32x16 load_bf16(const std::uint16_t* p) {
  return {
      _mm512_castsi512_ps(_mm512_maskz_slli_epi32(all_lanes, _mm512_maskz_cvtepu16_epi32(all_lanes, load_256(p)), 16))};
}

STENO_INLINE f32x16 load_i8(const std::int8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm512_maskz_cvtepi32_ps(all_lanes, _mm512_maskz_cvtepi8_epi32(all_lanes, bytes))};
}

STENO_INLINE f32x16 operator+(f32x16 a, f32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
STENO_INLINE f32x16 operator-(f32x16 a, f32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
STENO_INLINE f32x16 operator*(f32x16 a, f32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
STENO_INLINE f32x16 operator/(f32x16 a, f32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
STENO_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
STENO_INLINE f32x16 fnma(f32x16 a, f32x16 b, f32x16 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
STENO_INLINE f32x16 min(f32x16 a, f32x16 b) { return {_mm512_maskz_min_ps(all_lanes, a.v, b.v)}; }
STENO_INLINE f32x16 max(f32x16 a, f32x16 b) { return {_mm512_maskz_max_ps(all_lanes, a.v, b.v)}; }
STENO_INLINE f32x16 abs(f32x16 a) { return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)}; }
STENO_INLINE f32x16 where_less(f32x16 a, f32x16 b, f32x16 x, f32x16 y) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ), y.v, x.v)};
}
STENO_INLINE f32x16 first_n(int n, f32x16 a, f32x16 b) { return {_mm512_mask_blend_ps(lanes_before(n), b.v, a.v)}; }
STENO_INLINE f32x16 with_sign(f32x16 a, f32x16 s) {
  return {_mm512_or_ps(a.v, _mm512_and_ps(_mm512_set1_ps(-0.0f), s.v))};
}
STENO_INLINE f32x16 times_power_of_two(f32x16 a, f32x16 shifted) {
  return {_mm512_castsi512_ps(_mm512_add_epi32(
      _mm512_castps_si512(a.v), _mm512_maskz_slli_epi32(all_lanes, _mm512_castps_si512(shifted.v), 23)))};
}

template <int Half>
STENO_INLINE __m256 half_of(f32x16 a) {
  return _mm512_maskz_extractf32x8_ps(all_halves, a.v, Half);
}
STENO_INLINE float reduce_add(f32x16 a) {
  const __m256 eight = _mm256_add_ps(half_of<0>(a), half_of<1>(a));
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
/// The upper half of each added to its lower one: x in the lower half, y in the upper.
STENO_INLINE __m512 add_halves(f32x16 x, f32x16 y) {
  return _mm512_add_ps(_mm512_maskz_shuffle_f32x4(all_lanes, x.v, y.v, 0x44),
                       _mm512_maskz_shuffle_f32x4(all_lanes, x.v, y.v, 0xee));
}
/// acc + x y: in two steps where registers are few (isa/avx2.hpp).
STENO_INLINE f32x16 add_dots(f32x16 x, f32x16 y, f32x16 acc) { return fma(x, y, acc); }
STENO_INLINE f32x16 add_last_dots(f32x16, f32x16, f32x16 acc) { return acc; }
/// p[i] = reduce_add(a[i]), for four of them.
STENO_INLINE void store_sums(float* p, const f32x16* a) {
  const __m512 ab = add_halves(a[0], a[1]), cd = add_halves(a[2], a[3]);
  __m512 s = _mm512_add_ps(_mm512_maskz_shuffle_f32x4(all_lanes, ab, cd, 0x88),
                           _mm512_maskz_shuffle_f32x4(all_lanes, ab, cd, 0xdd));
  s = _mm512_add_ps(s, _mm512_maskz_shuffle_ps(all_lanes, s, s, 0x0e));
  s = _mm512_add_ps(s, _mm512_maskz_movehdup_ps(all_lanes, s));
  _mm_storeu_ps(p, _mm512_maskz_extractf32x4_ps(0xf, _mm512_maskz_compress_ps(0x1111, s), 0));
}
STENO_INLINE float reduce_max(f32x16 a) {
  const __m256 eight = _mm256_max_ps(half_of<0>(a), half_of<1>(a));
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
STENO_INLINE void store_i8(std::int8_t* p, f32x16 a) {
  // An out-of-range conversion would give the lowest integer, so large values are bounded first.
  const __m512i whole =
      _mm512_maskz_cvtps_epi32(all_lanes, _mm512_maskz_min_ps(all_lanes, a.v, _mm512_set1_ps(127.0f)));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_maskz_cvtsepi32_epi8(all_lanes, whole));
}

STENO_INLINE void store_i8(std::int8_t* p, f32x16 a, f32x16 b) {
  const __m512i words = _mm512_packs_epi32(_mm512_maskz_cvtps_epi32(all_lanes, a.v),
                                           _mm512_maskz_cvtps_epi32(all_lanes, b.v));  // a and b by 128-bit lanes
  const __m512i ordered = _mm512_maskz_permutexvar_epi64(all_halves, _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), words);
  const __m256i bytes = _mm512_maskz_cvtsepi16_epi8(~__mmask32{}, ordered);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), bytes);
}

/// Rows 4 g .. 4 g + 3: vector c holds values 4 l + c of all four in its 128-bit lane l.
struct four_rows {
  __m512 c0, c1, c2, c3;
};
STENO_INLINE four_rows turned(const float* from, std::ptrdiff_t stride) {
  const __m512 a = _mm512_loadu_ps(from), b = _mm512_loadu_ps(from + stride);
  const __m512 c = _mm512_loadu_ps(from + 2 * stride), d = _mm512_loadu_ps(from + 3 * stride);
  const __m512 ab_low = _mm512_maskz_unpacklo_ps(all_lanes, a, b), ab_high = _mm512_maskz_unpackhi_ps(all_lanes, a, b);
  const __m512 cd_low = _mm512_maskz_unpacklo_ps(all_lanes, c, d), cd_high = _mm512_maskz_unpackhi_ps(all_lanes, c, d);
  return {_mm512_maskz_shuffle_ps(all_lanes, ab_low, cd_low, 0x44),
          _mm512_maskz_shuffle_ps(all_lanes, ab_low, cd_low, 0xee),
          _mm512_maskz_shuffle_ps(all_lanes, ab_high, cd_high, 0x44),
          _mm512_maskz_shuffle_ps(all_lanes, ab_high, cd_high, 0xee)};
}
/// Lane l of a, b, c, d becomes row 4 l.
STENO_INLINE void store_lanes(__m512 a, __m512 b, __m512 c, __m512 d, float* to, std::ptrdiff_t stride) {
  const __m512 ab_even = _mm512_maskz_shuffle_f32x4(all_lanes, a, b, 0x88);
  const __m512 ab_odd = _mm512_maskz_shuffle_f32x4(all_lanes, a, b, 0xdd);
  const __m512 cd_even = _mm512_maskz_shuffle_f32x4(all_lanes, c, d, 0x88);
  const __m512 cd_odd = _mm512_maskz_shuffle_f32x4(all_lanes, c, d, 0xdd);
  _mm512_storeu_ps(to, _mm512_maskz_shuffle_f32x4(all_lanes, ab_even, cd_even, 0x88));
  _mm512_storeu_ps(to + 4 * stride, _mm512_maskz_shuffle_f32x4(all_lanes, ab_odd, cd_odd, 0x88));
  _mm512_storeu_ps(to + 8 * stride, _mm512_maskz_shuffle_f32x4(all_lanes, ab_even, cd_even, 0xdd));
  _mm512_storeu_ps(to + 12 * stride, _mm512_maskz_shuffle_f32x4(all_lanes, ab_odd, cd_odd, 0xdd));
}
STENO_INLINE void transpose(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  const four_rows a = turned(from, from_stride), b = turned(from + 4 * from_stride, from_stride);
  const four_rows c = turned(from + 8 * from_stride, from_stride), d = turned(from + 12 * from_stride, from_stride);
  store_lanes(a.c0, b.c0, c.c0, d.c0, to, to_stride);
  store_lanes(a.c1, b.c1, c.c1, d.c1, to + to_stride, to_stride);
  store_lanes(a.c2, b.c2, c.c2, d.c2, to + 2 * to_stride, to_stride);
  store_lanes(a.c3, b.c3, c.c3, d.c3, to + 3 * to_stride, to_stride);
}

#include <steno/kernels/isa/math.inl>
}  // namespace kernels::avx512
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
