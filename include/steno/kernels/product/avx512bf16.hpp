// steno/kernels/product/avx512bf16.hpp - products with bf16_a16 by vdpbf16ps: tiles of 12 rows by 32 columns.
//
// The instruction multiplies pairs of bfloat16 numbers and adds both products to a float, twice as fast as floats are
// multiplied (Zen 4, Zen 5). x is rounded when it is prepared, weights are paired up in registers: of two rows of a
// packed group one shuffle makes pairs, which costs nothing beside twelve rows. Pieces of the weights meet all panels
// of x while they are in the first-level cache, pairs ascending. Fewer rows wait for memory and are float_rows.inl's;
// so are odd numbers of columns. Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/bfloat_terms.hpp>
#include <steno/kernels/product/avx512vnni.hpp>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512bf16_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512bf16 {
namespace product {

using avx512::f32x16, avx512::load, avx512::load_n, avx512::rounded, avx512::pair_places;

inline constexpr extent pair_rows = 12, pair_columns = 32;
inline constexpr extent chunk_pairs = 256;  // of a strip: 32 KiB of weights
inline constexpr extent pairs_ahead = 64;   // weights that are fetched while others are multiplied

/// A panel of x, whose columns are even in number, as pairs of bfloat16 numbers, [cols / 2][rows].
template <class = void>
void split(const detail::split_job& job) noexcept {
  constexpr extent step = 32;  // values of a row at a time
  alignas(64) float pairs[pair_rows * step / 2];
  auto* to = reinterpret_cast<float*>(job.terms);
  for (extent k = 0; k < job.cols; k += step) {
    const extent left = std::min(step, job.cols - k), count = left / 2;
    for (extent r = 0; r < job.rows; ++r) {
      const float* const x = job.x + r * job.stride + k;
      const auto halves = [&](extent at) __attribute__((always_inline)) {
        const extent n = std::clamp<extent>(left - at, 0, 16);
        const __m512i bits = rounded(n == 16 ? load(x + at) : load_n(x + at, static_cast<int>(n)));
        return _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_maskz_srli_epi32(0xffff, bits, 16));
      };
      _mm256_store_si256(reinterpret_cast<__m256i*>(pairs + r * step / 2), halves(0));
      _mm256_store_si256(reinterpret_cast<__m256i*>(pairs + r * step / 2 + 8), halves(16));
    }
    avx512::product::interleave(pairs, step / 2, job.rows, count, to);
    to += count * job.rows;
  }
}

/// Written out, as gcc 12 copies sums around such intrinsics (avx512vnni.hpp).
STENO_INLINE __m512 add_pairs(__m512 sum, __m512 x, __m512 w) {
  asm("vdpbf16ps\t%2, %1, %0" : "+v"(sum) : "v"(x), "vm"(w));
  return sum;
}
/// A tile's part of a strip: a panel of x by two groups of columns.
struct pair_job {
  const float* x;  // pairs, [count][height]
  const std::uint16_t* in;
  extent next;  // from group to group
  extent pairs;
  float* sums;
  bool first;
};
/// sums[r * 32 + n] (+)= sum over pairs of x[p * H + r] * w[p, n]
template <int... I>  // 2 H accumulators
[[gnu::noinline]] void pair_tile(std::integer_sequence<int, I...>, const pair_job& job) noexcept {
  constexpr int H = sizeof...(I) / 2;
  const __m512i places = _mm512_loadu_si512(pair_places.data());
  const auto by = [&](const std::uint16_t* in) __attribute__((always_inline)) {
    return _mm512_castsi512_ps(_mm512_permutexvar_epi16(places, _mm512_loadu_si512(in)));
  };
  const float* x = job.x;
  const std::uint16_t *in = job.in, *ahead = in + 32 * pairs_ahead;
  const extent next = job.next;
  float* const sums = job.sums;
  __m512 sum[] = {(job.first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + 16 * I))...};
  for (extent p = job.pairs; p != 0; --p, x += H, in += 32, ahead += 32) {
    __builtin_prefetch(ahead, 0, 2);
    __builtin_prefetch(ahead + next, 0, 2);
    const __m512 w[] = {by(in), by(in + next)};
    ((sum[I] = add_pairs(sum[I], _mm512_set1_ps(x[I / 2]), w[I % 2])), ...);
  }
  (_mm512_storeu_ps(sums + 16 * I, sum[I]), ...);
}
template <int H>
inline void pair_tile(const pair_job& job) noexcept {
  pair_tile(std::make_integer_sequence<int, 2 * H>{}, job);
}
using pair_tile_function = void (*)(const pair_job&) noexcept;
template <int... I>
inline pair_tile_function pair_tile_of(std::integer_sequence<int, I...>, extent height) noexcept {
  static constexpr pair_tile_function tiles[] = {pair_tile<I + 1>...};
  return tiles[height - 1];
}

template <class = void>
void pair_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  const auto* const packed = reinterpret_cast<const std::uint16_t*>(s.packed);
  const auto* const terms = reinterpret_cast<const float*>(x.terms);
  const extent pairs = x.cols / 2, length = detail::steps_of(x.cols) * 16;  // of a row, as it is kept
  const extent step = s.last - s.first > 1 ? chunk_pairs : pairs;
  for (extent k = 0; k < pairs; k += step) {
    const extent count = std::min(step, pairs - k);
    const bool ends = k + count == pairs;
    for (extent p = s.first; p < s.last; ++p) {
      const extent m = x.split.first(p), height = x.split.height(p);
      float* const own = s.sums + (m - x.split.first(s.first)) * pair_columns;
      if (ends) detail::fetch_results(s, m, height);
      pair_tile_of(std::make_integer_sequence<int, pair_rows>{}, height)({.x = terms + m * length + k * height,
                                                                          .in = packed + 32 * k,
                                                                          .next = 16 * x.cols,
                                                                          .pairs = count,
                                                                          .sums = own,
                                                                          .first = k == 0});
      if (ends) avx512::product::finish(s, own, pair_columns, m, height);
    }
  }
}

}  // namespace product

template <class = void>
constexpr detail::product_table with_pairs(detail::product_table t) {
  t.rounded_terms_from = 6;
  t.term_panel = product::pair_rows;
  t.term_multiple = 2;
  t.split = product::split;
  t.term_strip = product::pair_strip;
  return t;
}
template <class = void>
inline constexpr detail::product_table product_kernels = with_pairs(avx512vnni::product_kernels<>);

}  // namespace kernels::avx512bf16
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
