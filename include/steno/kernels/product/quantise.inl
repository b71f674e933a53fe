// steno/kernels/product/quantise.inl - rows of x into int8 panels; compiled per instruction set.

inline void quantise(const float* x, extent stride, extent rows, extent blocks, std::int8_t* quants, float* scales,
                     std::int32_t* starts, float* offsets) noexcept {
  for (extent r = 0; r < rows; ++r)
    for (extent b = 0; b < blocks; ++b) {
      const float* from = x + r * stride + b * detail::block;
      const f32x16 low = load(from), high = load(from + 16);
      const float most = reduce_max(max(abs(low), abs(high)));
      const bool zero_block = !(most > 0x1p-100f);
      const f32x16 inverse = broadcast(zero_block ? 0.0f : 127.0f / most);
      alignas(32) std::int8_t q[detail::block];
      store_i8(q, low * inverse);
      store_i8(q + 16, high * inverse);
      std::int8_t* to = quants + (b * 8 * rows + r) * 4;
      for (int j = 0; j < 8; ++j) std::memcpy(to + j * rows * 4, q + 4 * j, 4);
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), _mm256_load_si256(reinterpret_cast<__m256i*>(q)));
      const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
      __m128i sums = _mm_hadd_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
      sums = _mm_hadd_epi32(sums, sums);  // of the first 16 values and of the others
      const std::int32_t first = _mm_cvtsi128_si32(sums), second = _mm_extract_epi32(sums, 1);
      const float scale = zero_block ? 0 : most / 127.0f;
      scales[b * rows + r] = scale;
      detail::put_sums(first, second, scale, rows, starts + b * 3 * rows + r, offsets + b * 3 * rows + r);
    }
}
