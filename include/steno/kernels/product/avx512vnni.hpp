// steno/kernels/product/avx512vnni.hpp - int8 tiles of 6 rows by 32 columns with vpdpbusd; floats as with AVX-512.
//
// The weights are unsigned (w + 128), so a block's accumulator starts at -128 * sum(x). The blocks of a strip are
// walked in chunks that stay in the first-level cache while all panels of x pass; sums go on from chunk to chunk, so
// the order is that of the specification in product/reference.hpp. Tested in tests/kernels/product_test.cpp.
#pragma once
#include <steno/kernels/product/avx512.hpp>
// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
namespace steno::inline STENO_ABI::kernels::avx512vnni {
namespace product {

inline constexpr int int8_rows = 6;
inline constexpr extent int8_columns = 32, int8_columns_few = 64;
inline constexpr extent chunk = 16;  // blocks: 32 columns of them are 17 KiB

STENO_INLINE __m512i four_of(const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  return _mm512_set1_epi32(four);
}
STENO_INLINE __m512 halves(const std::byte* p) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

/// d[I] += four values of row I / C by four of each column of group I % C.
template <int C, int... I>
STENO_INLINE void dot_fours(std::integer_sequence<int, I...>, __m512i* d, const std::int8_t* x, const std::byte* quants,
                            std::size_t next_group) {
  ((d[I] = _mm512_dpbusd_epi32(d[I], _mm512_loadu_si512(quants + I % C * next_group), four_of(x + I / C * 4))), ...);
}

/// A tile's part of a strip: some blocks of R rows of x and C groups of 16 columns.
struct int8_work {
  const std::int8_t* x;
  const float* scales;
  const std::int32_t* starts;
  extent blocks;
  const std::byte *quants, *group_scales;
  std::size_t next_group;
  float* sums;
  extent stride;
  bool first;  // sums begin here
};

/// sums[r * stride + n] (+)= for sizeof...(I) / C rows and C groups. The eight steps of a block are written out: as a
/// loop, gcc 12 copies accumulators around vpdpbusd, which overwrites its first operand.
template <int C, int... I>
[[gnu::noinline]] void int8_tile(std::integer_sequence<int, I...> all, const int8_work& job) noexcept {
  constexpr extent R = sizeof...(I) / C;
  const std::int8_t* x = job.x;
  const float* scales = job.scales;
  const std::int32_t* starts = job.starts;
  const std::byte *quants = job.quants, *ws = job.group_scales;
  const std::size_t next = job.next_group;
  float* const sums = job.sums;
  const extent stride = job.stride;
  __m512 acc[] = {(job.first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + I / C * stride + I % C * 16))...};
  for (extent b = job.blocks; b != 0; --b) {
    __m512i d[] = {_mm512_set1_epi32(starts[I / C])...};
    dot_fours<C>(all, d, x, quants, next);
    dot_fours<C>(all, d, x + 4 * R, quants + 64, next);
    dot_fours<C>(all, d, x + 8 * R, quants + 128, next);
    dot_fours<C>(all, d, x + 12 * R, quants + 192, next);
    dot_fours<C>(all, d, x + 16 * R, quants + 256, next);
    dot_fours<C>(all, d, x + 20 * R, quants + 320, next);
    dot_fours<C>(all, d, x + 24 * R, quants + 384, next);
    dot_fours<C>(all, d, x + 28 * R, quants + 448, next);
    ((acc[I] = _mm512_fmadd_ps(_mm512_maskz_cvtepi32_ps(0xffff, d[I]),
                               _mm512_mul_ps(halves(ws + I % C * next), _mm512_set1_ps(scales[I / C])), acc[I])),
     ...);
    x += R * detail::block;
    scales += R;
    starts += R;
    quants += detail::group_quants;
    ws += detail::group_scales;
  }
  (_mm512_storeu_ps(sums + I / C * stride + I % C * 16, acc[I]), ...);
}

/// One panel by all columns of the strip, blocks [b0, b0 + count).
template <int R>
inline void panel_by_strip(const detail::strip& s, extent m, extent b0, extent count, float* sums,
                           extent stride) noexcept {
  const operand& x = *s.x;
  const extent blocks = x.cols / detail::block;
  const std::size_t next = detail::group_bytes(x.cols), from = static_cast<std::size_t>(b0);
  int8_work job{
      .x = x.quants + m * x.cols + b0 * R * detail::block,
      .scales = x.scales + m * blocks + b0 * R,
      .starts = x.starts + m * blocks + b0 * R,
      .blocks = count,
      .quants = s.packed + from * detail::group_quants,
      .group_scales = s.packed + static_cast<std::size_t>(blocks) * detail::group_quants + from * detail::group_scales,
      .next_group = next,
      .sums = sums,
      .stride = stride,
      .first = b0 == 0};
  const auto step = [&](extent groups) {
    job.quants += static_cast<std::size_t>(groups) * next;
    job.group_scales += static_cast<std::size_t>(groups) * next;
    job.sums += groups * detail::group;
  };
  extent left = (s.n1 - s.n0 + 31) / 32 * 2;  // groups; weights are packed in pairs of them
  if constexpr (R == 1)
    for (; left >= 4; left -= 4, step(4)) int8_tile<4>(std::make_integer_sequence<int, 4 * R>{}, job);
  for (; left != 0; left -= 2, step(2)) int8_tile<2>(std::make_integer_sequence<int, 2 * R>{}, job);
}

inline void int8_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  const extent blocks = x.cols / detail::block;
  const bool few = s.last - s.first == 1;
  const extent step = few ? blocks : chunk, stride = (s.n1 - s.n0 + 31) / 32 * 32;
  for (extent b = 0; b < blocks; b += step) {
    const extent count = std::min(step, blocks - b);
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      float* sums = s.scratch + (m - x.split.first(s.first)) * stride;
      switch (height) {
        case 1:
          panel_by_strip<1>(s, m, b, count, sums, stride);
          break;
        case 2:
          panel_by_strip<2>(s, m, b, count, sums, stride);
          break;
        case 3:
          panel_by_strip<3>(s, m, b, count, sums, stride);
          break;
        case 4:
          panel_by_strip<4>(s, m, b, count, sums, stride);
          break;
        case 5:
          panel_by_strip<5>(s, m, b, count, sums, stride);
          break;
        default:
          panel_by_strip<6>(s, m, b, count, sums, stride);
      }
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
