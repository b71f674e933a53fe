// steno/kernels/product/avx512vnni.hpp - int8 tiles of 6 rows by 32 columns with vpdpbusd; floats as with AVX-512.
//
// The weights are unsigned (w + 128), so a block's accumulator starts at -128 * sum(x). The blocks of a strip are walked in
// chunks that stay in the first-level cache while all panels of x pass; sums go on from chunk to chunk, so the order is
// that of the specification in product/reference.hpp. Tested in tests/kernels/product_test.cpp.
#pragma once
#include <steno/kernels/product/avx512.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
namespace steno::inline STENO_ABI::kernels::avx512vnni {
namespace product {

inline constexpr int int8_rows = 6;
inline constexpr extent int8_columns = 32, int8_columns_few = 64;
inline constexpr extent chunk = 16;  // blocks: 32 columns of them are 17 KiB

#include <steno/kernels/product/expand.inl>

/// sums[r * stride + n] (+)= for R rows and C groups of 16 columns over some blocks.
template <int R, int C>
[[gnu::noinline]] void int8_tile(const std::int8_t* x, const float* scales, const std::int32_t* starts, extent blocks,
                                 const std::byte* quants, const std::byte* group_scales, std::size_t next_group,
                                 float* sums, extent stride, bool first) noexcept {
  __m512 acc[many(R * C)];
  each<R>([&](auto r) __attribute__((always_inline)) {
    each<C>([&](auto c) __attribute__((always_inline)) {
      acc[r * C + c] = first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + r * stride + 16 * c);
    });
  });
  for (extent b = 0; b < blocks; ++b) {
    __m512i d[many(R * C)];
    each<R>([&](auto r) __attribute__((always_inline)) {
      const __m512i start = _mm512_set1_epi32(starts[r]);
      each<C>([&](auto c) __attribute__((always_inline)) { d[r * C + c] = start; });
    });
    for (int j = 0; j < 8; ++j) {  // a plain loop: expanded, it takes most of the compile time and gains nothing
      __m512i w[many(C)];
      each<C>([&](auto c) __attribute__((always_inline)) {
        w[c] = _mm512_loadu_si512(quants + static_cast<std::size_t>(c) * next_group + 64 * j);
      });
      each<R>([&](auto r) __attribute__((always_inline)) {
        std::int32_t four;
        std::memcpy(&four, x + (j * R + r) * 4, 4);
        const __m512i v = _mm512_set1_epi32(four);
        each<C>([&](auto c) __attribute__((always_inline)) {
          d[r * C + c] = _mm512_dpbusd_epi32(d[r * C + c], w[c], v);
        });
      });
    }
    __m512 ws[many(C)];
    each<C>([&](auto c) __attribute__((always_inline)) {
      ws[c] = _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(group_scales + static_cast<std::size_t>(c) * next_group)));
    });
    each<R>([&](auto r) __attribute__((always_inline)) {
      const __m512 xs = _mm512_set1_ps(scales[r]);
      each<C>([&](auto c) __attribute__((always_inline)) {
        acc[r * C + c] =
            _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xffff, d[r * C + c]), _mm512_mul_ps(ws[c], xs), acc[r * C + c]);
      });
    });
    x += R * detail::block;
    scales += R;
    starts += R;
    quants += detail::group_quants;
    group_scales += detail::group_scales;
  }
  each<R>([&](auto r) __attribute__((always_inline)) {
    each<C>([&](auto c) __attribute__((always_inline)) {
      _mm512_storeu_ps(sums + r * stride + 16 * c, acc[r * C + c]);
    });
  });
}

/// One panel by all columns of the strip, blocks [b0, b0 + count).
template <int R>
inline void panel_by_strip(const detail::strip& s, extent m, extent b0, extent count, float* sums, extent stride) noexcept {
  const operand& x = *s.x;
  const extent blocks = x.cols / detail::block;
  const std::int8_t* quants = x.quants + m * x.cols + b0 * R * detail::block;
  const float* scales = x.scales + m * blocks + b0 * R;
  const std::int32_t* starts = x.starts + m * blocks + b0 * R;
  const std::size_t bytes = detail::group_bytes(x.cols);
  const auto run = [&](auto c, extent n) __attribute__((always_inline)) {
    const std::byte* group = s.packed + static_cast<std::size_t>((n - s.n0) / detail::group) * bytes;
    int8_tile<R, c>(quants, scales, starts, count, group + static_cast<std::size_t>(b0) * detail::group_quants,
                    group + static_cast<std::size_t>(blocks) * detail::group_quants +
                        static_cast<std::size_t>(b0) * detail::group_scales,
                    bytes, sums + (n - s.n0), stride, b0 == 0);
  };
  extent n = s.n0;
  if constexpr (R == 1)
    for (; s.n1 - n > 48; n += 64) run(std::integral_constant<int, 4>{}, n);
  for (; s.n1 - n > 16; n += 32) run(std::integral_constant<int, 2>{}, n);
  if (n < s.n1) run(std::integral_constant<int, 1>{}, n);
}

inline void int8_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  const extent blocks = x.cols / detail::block;
  const bool few = s.last - s.first == 1;
  const extent step = few ? blocks : chunk, stride = (s.n1 - s.n0 + 15) / 16 * 16;
  for (extent b = 0; b < blocks; b += step) {
    const extent count = std::min(step, blocks - b);
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      float* sums = s.scratch + (m - x.split.first(s.first)) * stride;
      each<int8_rows>([&](auto r) __attribute__((always_inline)) {
        if (height == r + 1) panel_by_strip<r + 1>(s, m, b, count, sums, stride);
      });
      if (b + count == blocks) avx512::product::finish(s, sums, stride, m, height);
    }
  }
}

}  // namespace product

inline constexpr detail::product_table with_vnni(detail::product_table t) {
  t.int8_panel = product::int8_rows;
  t.int8_columns = product::int8_columns;
  t.int8_columns_few = product::int8_columns_few;
  t.int8_strip = product::int8_strip;
  return t;
}
inline constexpr detail::product_table product_kernels = with_vnni(avx512::product_kernels);

}  // namespace steno::inline STENO_ABI::kernels::avx512vnni
#include <steno/kernels/isa/region_end.hpp>
