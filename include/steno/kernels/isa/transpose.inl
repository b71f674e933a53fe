// steno/kernels/isa/transpose.inl - transposing 16 x 16 floats in 8 x 8 pieces; included by avx2.hpp and avx512.hpp.
//
// Halves of two rows four apart meet in one register on the way in (an insert from memory costs no shuffle), so two
// rounds of shuffles inside 128-bit lanes finish the piece. Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0

STENO_INLINE __m256 halves(const float* low, const float* high) {
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

/// Four columns of eight rows become four rows of eight.
STENO_INLINE void transpose_8x4(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  const __m256 a = halves(from, from + 4 * from_stride);
  const __m256 b = halves(from + from_stride, from + 5 * from_stride);
  const __m256 c = halves(from + 2 * from_stride, from + 6 * from_stride);
  const __m256 d = halves(from + 3 * from_stride, from + 7 * from_stride);
  const __m256 ab_low = _mm256_unpacklo_ps(a, b), ab_high = _mm256_unpackhi_ps(a, b);
  const __m256 cd_low = _mm256_unpacklo_ps(c, d), cd_high = _mm256_unpackhi_ps(c, d);
  _mm256_storeu_ps(to, _mm256_shuffle_ps(ab_low, cd_low, 0x44));
  _mm256_storeu_ps(to + to_stride, _mm256_shuffle_ps(ab_low, cd_low, 0xee));
  _mm256_storeu_ps(to + 2 * to_stride, _mm256_shuffle_ps(ab_high, cd_high, 0x44));
  _mm256_storeu_ps(to + 3 * to_stride, _mm256_shuffle_ps(ab_high, cd_high, 0xee));
}

STENO_INLINE void transpose(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  for (std::ptrdiff_t i = 0; i < 16; i += 4)
    for (std::ptrdiff_t j = 0; j < 16; j += 8)
      transpose_8x4(from + j * from_stride + i, from_stride, to + i * to_stride + j, to_stride);
}
