// steno/kernels/isa/avx2.hpp - the 16-lane float vector as two AVX registers. Operations as specified in scalar.hpp.
//
// Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include <steno/kernels/isa/region_avx2_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx2 {

struct f32x16 {
  __m256 lo, hi;
};

inline constexpr int tile_rows = 6, tile_vectors = 1;

STENO_INLINE f32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
STENO_INLINE void store(float* p, f32x16 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
/// All bits set in lanes i < n - first.
STENO_INLINE __m256i lanes_before(int n, int first) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n - first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
STENO_INLINE f32x16 load_n(const float* p, int n) {
  return {_mm256_maskload_ps(p, lanes_before(n, 0)), _mm256_maskload_ps(p + 8, lanes_before(n, 8))};
}
STENO_INLINE void store_n(float* p, f32x16 a, int n) {
  _mm256_maskstore_ps(p, lanes_before(n, 0), a.lo);
  _mm256_maskstore_ps(p + 8, lanes_before(n, 8), a.hi);
}
STENO_INLINE f32x16 broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
STENO_INLINE f32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
STENO_INLINE __m128i load_128(const std::uint16_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
STENO_INLINE f32x16 load_f16(const std::uint16_t* p) {
  return {_mm256_cvtph_ps(load_128(p)), _mm256_cvtph_ps(load_128(p + 8))};
}
STENO_INLINE void store_f16(std::uint16_t* p, f32x16 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.lo, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(a.hi, _MM_FROUND_TO_NEAREST_INT));
}
STENO_INLINE __m256 widen_bf16(__m128i b) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(b), 16));
}
STENO_INLINE f32x16 load_bf16(const std::uint16_t* p) { return {widen_bf16(load_128(p)), widen_bf16(load_128(p + 8))}; }

STENO_INLINE f32x16 load_i8(const std::int8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(bytes, bytes)))};
}

STENO_INLINE f32x16 operator+(f32x16 a, f32x16 b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
STENO_INLINE f32x16 operator-(f32x16 a, f32x16 b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
STENO_INLINE f32x16 operator*(f32x16 a, f32x16 b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
STENO_INLINE f32x16 operator/(f32x16 a, f32x16 b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
STENO_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
STENO_INLINE f32x16 fnma(f32x16 a, f32x16 b, f32x16 c) {
  return {_mm256_fnmadd_ps(a.lo, b.lo, c.lo), _mm256_fnmadd_ps(a.hi, b.hi, c.hi)};
}
STENO_INLINE f32x16 min(f32x16 a, f32x16 b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
STENO_INLINE f32x16 max(f32x16 a, f32x16 b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
STENO_INLINE f32x16 abs(f32x16 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
STENO_INLINE f32x16 where_less(f32x16 a, f32x16 b, f32x16 x, f32x16 y) {
  return {_mm256_blendv_ps(y.lo, x.lo, _mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)),
          _mm256_blendv_ps(y.hi, x.hi, _mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}
STENO_INLINE f32x16 first_n(int n, f32x16 a, f32x16 b) {
  return {_mm256_blendv_ps(b.lo, a.lo, _mm256_castsi256_ps(lanes_before(n, 0))),
          _mm256_blendv_ps(b.hi, a.hi, _mm256_castsi256_ps(lanes_before(n, 8)))};
}
STENO_INLINE f32x16 with_sign(f32x16 a, f32x16 s) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_or_ps(a.lo, _mm256_and_ps(sign, s.lo)), _mm256_or_ps(a.hi, _mm256_and_ps(sign, s.hi))};
}
STENO_INLINE __m256 times_power_of_two(__m256 a, __m256 shifted) {
  return _mm256_castsi256_ps(
      _mm256_add_epi32(_mm256_castps_si256(a), _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}
STENO_INLINE f32x16 times_power_of_two(f32x16 a, f32x16 shifted) {
  return {times_power_of_two(a.lo, shifted.lo), times_power_of_two(a.hi, shifted.hi)};
}

STENO_INLINE float reduce_add(f32x16 a) {
  const __m256 eight = _mm256_add_ps(a.lo, a.hi);
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
/// Sums of products that take one register: of the first eight lanes, and of the last ones.
STENO_INLINE f32x16 add_dots(f32x16 x, f32x16 y, f32x16 acc) { return {_mm256_fmadd_ps(x.lo, y.lo, acc.lo), acc.hi}; }
STENO_INLINE f32x16 add_last_dots(f32x16 x, f32x16 y, f32x16 acc) {
  return {_mm256_fmadd_ps(x.hi, y.hi, acc.lo), acc.hi};
}
/// p[i] = reduce_add(a[i]), for four of them.
STENO_INLINE void store_sums(float* p, const f32x16* a) {
  p[0] = reduce_add(a[0]);
  p[1] = reduce_add(a[1]);
  p[2] = reduce_add(a[2]);
  p[3] = reduce_add(a[3]);
}
STENO_INLINE float reduce_max(f32x16 a) {
  const __m256 eight = _mm256_max_ps(a.lo, a.hi);
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
STENO_INLINE void store_i8(std::int8_t* p, f32x16 a) {
  // An out-of-range conversion would give the lowest integer, so large values are bounded first.
  const __m256 highest = _mm256_set1_ps(127.0f);
  const __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(_mm256_min_ps(a.lo, highest)),
                                           _mm256_cvtps_epi32(_mm256_min_ps(a.hi, highest)));
  const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                   _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
}

STENO_INLINE __m256i bytes_of(f32x16 a, f32x16 b) {
  const __m256i low = _mm256_packs_epi32(_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi));
  const __m256i high = _mm256_packs_epi32(_mm256_cvtps_epi32(b.lo), _mm256_cvtps_epi32(b.hi));
  return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
STENO_INLINE void store_i8(std::int8_t* p, f32x16 a, f32x16 b) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), bytes_of(a, b));
}
/// Sums of four bytes each.
STENO_INLINE __m256i fours_of(const std::int8_t* p) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes), _mm256_set1_epi16(1));
}
STENO_INLINE void sums_i8(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c, const std::int8_t* d,
                          float* first, float* second) {
  const __m256i low = _mm256_hadd_epi32(fours_of(a), fours_of(b));
  const __m256i high = _mm256_hadd_epi32(fours_of(c), fours_of(d));
  const __m256 sums = _mm256_cvtepi32_ps(_mm256_hadd_epi32(low, high));
  _mm_storeu_ps(first, _mm256_castps256_ps128(sums));
  _mm_storeu_ps(second, _mm256_extractf128_ps(sums, 1));
}

#include <steno/kernels/isa/transpose.inl>

#include <steno/kernels/isa/math.inl>
}  // namespace kernels::avx2
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
