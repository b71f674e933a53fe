// steno/kernels/product/avx512vnni_rows.hpp - up to six rows of x by block-scaled weights, which are multiplied where
// they lie.
//
// So few rows wait for the weights. Nothing is unpacked into a buffer (quants come apart in registers), and both groups
// of a strip fetch what they will want a few blocks later, in their last blocks what the next strip begins with.
// Specification, also of the order of sums: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
#pragma once
#include <steno/kernels/product/avx512.hpp>

#include <bit>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_avx512vnni_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::avx512vnni {
namespace product {

inline constexpr std::size_t fetch_bytes = 1536;  // how far ahead

STENO_INLINE __m512i four_of(const std::int8_t* x) {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  return _mm512_set1_epi32(four);
}
STENO_INLINE __m512 half_vector(const std::byte* p) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
STENO_INLINE __m512 small_vector(const std::byte* p) {
  return _mm512_maskz_cvtepi32_ps(
      0xffff, _mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

/// In all columns, the integer that a start's bits are.
STENO_INLINE __m512i start_at(float start) { return _mm512_castps_si512(_mm512_set1_ps(start)); }
/// Scales of 16 columns.
struct column_scales {
  __m512 scale, origin;

  column_scales() = default;
  STENO_INLINE explicit column_scales(__m512 s)
      : scale(s), origin(_mm512_mul_ps(s, _mm512_set1_ps(-detail::sum_origin))) {}
  /// The sums of d, counted from detail::sum_origin on, times these.
  STENO_INLINE __m512 times(__m512i d) const { return _mm512_fmadd_ps(_mm512_castsi512_ps(d), scale, origin); }
};

/// Bits of v moved up by N (down by -N), those of `mask` in each byte.
template <int N, char mask>
STENO_INLINE __m512i moved(__m512i v) {
  if constexpr (N > 0) v = _mm512_maskz_slli_epi16(~0u, v, N);
  if constexpr (N < 0) v = _mm512_maskz_srli_epi16(~0u, v, -N);
  return _mm512_and_si512(v, _mm512_set1_epi8(mask));
}
/// Vector J of a tile, without bias, of a block as packed_layout.hpp has it.
template <int Bits, int J>
STENO_INLINE __m512i quants_of(const std::byte* block) {
  const __m512i v = _mm512_loadu_si512(block + 64 * (Bits == 8 ? J : J % 4));
  if constexpr (Bits == 8) return v;
  const __m512i nibbles = moved < J < 4 ? 0 : -4, 15 > (v);
  if constexpr (Bits == 5) return _mm512_or_si512(nibbles, moved<4 - J, 16>(_mm512_loadu_si512(block + 256)));
  constexpr int high = J < 4 ? 256 : 320;
  if constexpr (Bits == 6)
    return _mm512_or_si512(nibbles, moved<4 - 2 * (J % 4), 48>(_mm512_loadu_si512(block + high)));
  return nibbles;
}

/// d[I] += four values of row I / 2 by vector J of group I % 2.
template <int Bits, int J, int... I>
STENO_INLINE void dot_vector(std::integer_sequence<int, I...>, __m512i* d, const std::int8_t* x, const std::byte* block,
                             std::size_t next_group) {
  const __m512i w[] = {quants_of<Bits, J>(block), quants_of<Bits, J>(block + next_group)};
  ((d[I] = _mm512_dpbusd_epi32(d[I], w[I % 2], four_of(x + 4 * J + I / 2 * detail::block))), ...);
}
/// Vectors First to First + 3: half of the values of a block.
template <int Bits, int First, int... I>
STENO_INLINE void dot_half(std::integer_sequence<int, I...> all, __m512i* d, const std::int8_t* x,
                           const std::byte* block, std::size_t next_group) {
  dot_vector<Bits, First>(all, d, x, block, next_group);
  dot_vector<Bits, First + 1>(all, d, x, block, next_group);
  dot_vector<Bits, First + 2>(all, d, x, block, next_group);
  dot_vector<Bits, First + 3>(all, d, x, block, next_group);
}
/// acc[I] += d[I] * scale of each column of group I % 2 * scale of row I / 2
template <int... I>
STENO_INLINE void add_dots(std::integer_sequence<int, I...>, __m512* acc, const __m512i* d, const float* scales,
                           __m512 first, __m512 second) {
  const column_scales w[] = {column_scales(first), column_scales(second)};
  ((acc[I] = _mm512_fmadd_ps(w[I % 2].times(d[I]), _mm512_set1_ps(scales[16 * (I / 2)]), acc[I])), ...);
}
/// acc[I] += offset of row I / 2 * minimum of each column of group I % 2
template <int... I>
STENO_INLINE void add_offsets(std::integer_sequence<int, I...>, __m512* acc, const float* offsets, __m512 first,
                              __m512 second) {
  const __m512 m[] = {first, second};
  ((acc[I] = _mm512_fmadd_ps(m[I % 2], _mm512_set1_ps(offsets[16 * (I / 2)]), acc[I])), ...);
}
template <int... J>
STENO_INLINE void fetch_lines(std::integer_sequence<int, J...>, const std::byte* p) {
  (__builtin_prefetch(p + 64 * J, 0, 3), ...);
}

/// The scales or minima at p: f16, or (super) small integers times the factors that eight blocks share.
STENO_INLINE __m512 scales_of(const std::byte* p, bool super, const float* factors) {
  return super ? _mm512_mul_ps(_mm512_load_ps(factors), small_vector(p)) : half_vector(p);
}

/// sizeof...(I) / 2 rows by the two groups of a strip. sums: [rows][2][16]; factors: [2][scale, minimum][16].
template <int Bits, int... I>
[[gnu::noinline]] void int8_row_tile(std::integer_sequence<int, I...> all, const detail::strip& s, float* sums,
                                     float* factors) noexcept {
  constexpr extent R = sizeof...(I) / 2;
  constexpr bool apart = Bits == 8;  // scales lie behind all quants
  constexpr std::make_integer_sequence<int, apart ? 8 : Bits + 1> lines;
  const operand& x = *s.x;
  const detail::block_layout& l = s.layout;
  const bool super = !apart && l.super, halves = !apart && l.halves, minima = !apart && l.minima;
  const extent blocks = x.cols / detail::block, plane = halves ? x.plane : 0;
  const std::size_t next = s.next_group, quants = l.plane_bytes();
  const std::size_t step = apart ? quants : l.block_bytes(), vector = super ? 16 : 32;
  const std::size_t first_minima = l.vectors() * vector, second = halves ? vector : 0;
  const std::int32_t unbiased = 128 - l.bias;  // bytes have no bias here
  const auto start = [=](float biased) __attribute__((always_inline)) {
    if constexpr (apart) return start_at(biased);
    constexpr auto origin = std::bit_cast<std::int32_t>(detail::sum_origin);
    return _mm512_set1_epi32((std::bit_cast<std::int32_t>(biased) - origin) / 128 * unbiased + origin);
  };
  const std::int8_t* xq = x.quants;
  const std::byte *p = s.packed, *w = p + static_cast<std::size_t>(blocks) * quants;
  // What the next strip begins with; of the last one, its own beginning.
  const std::byte* const following = s.w->packed != nullptr && s.n1 < s.w->rows ? p + 2 * next : p;
  const std::size_t lead = std::min(static_cast<std::size_t>(blocks), fetch_bytes / step);
  const std::byte* ahead = p + lead * step;
  __m512 acc[] = {(static_cast<void>(I), _mm512_setzero_ps())...};
  for (extent b = 0; b < blocks; ++b) {
    if (b == blocks - static_cast<extent>(lead)) ahead = following;
    fetch_lines(lines, ahead);
    fetch_lines(lines, ahead + next);
    ahead += step;
    if (super && b % 8 == 0) {
      _mm512_store_ps(factors, half_vector(p));
      _mm512_store_ps(factors + 32, half_vector(p + next));
      if (minima) {
        _mm512_store_ps(factors + 16, half_vector(p + 32));
        _mm512_store_ps(factors + 48, half_vector(p + next + 32));
      }
      p += minima ? 64 : 32;
    }
    const extent at = b / 16 * R * 16 + b % 16;
    const float *const scales = x.scales + at, *const starts = x.starts + at + plane;
    const float* const offsets = x.offsets + at + plane;
    if (!apart) w = p + quants;
    __m512i d[] = {start(starts[16 * (I / 2)])...};
    dot_half<Bits, 0>(all, d, xq, p, next);
    if (halves) {
      add_dots(all, acc, d, scales, scales_of(w, super, factors), scales_of(w + next, super, factors + 32));
      ((d[I] = start(starts[plane + 16 * (I / 2)])), ...);
      if (minima)
        add_offsets(all, acc, offsets, scales_of(w + first_minima, super, factors + 16),
                    scales_of(w + next + first_minima, super, factors + 48));
    }
    dot_half<Bits, 4>(all, d, xq, p, next);
    add_dots(all, acc, d, scales, scales_of(w + second, super, factors),
             scales_of(w + next + second, super, factors + 32));
    if (minima)
      add_offsets(all, acc, offsets + plane, scales_of(w + first_minima + second, super, factors + 16),
                  scales_of(w + next + first_minima + second, super, factors + 48));
    xq += R * detail::block;
    p += step;
    if (apart) {
      if (b % 2 == 0) {
        __builtin_prefetch(w + 256);
        __builtin_prefetch(w + next + 256);
      }
      w += 32;
    }
  }
  (_mm512_storeu_ps(sums + I * 16, acc[I]), ...);
}

/// As many rows as there are registers for.
inline extent int8_few(int bits) noexcept { return bits == 8 ? 6 : 3; }

template <int Bits, int Rows>
void int8_few_rows(const detail::strip& s, float* sums, float* factors) noexcept {
  if (s.x->rows == Rows) return int8_row_tile<Bits>(std::make_integer_sequence<int, 2 * Rows>{}, s, sums, factors);
  if constexpr (Rows > 1) int8_few_rows<Bits, Rows - 1>(s, sums, factors);
}
/// A strip of two groups; x has one panel. Its scratch: 64 floats.
inline void int8_row_strip(const detail::strip& s) noexcept {
  const int bits = s.layout.bits;
  if (bits == 8) int8_few_rows<8, 6>(s, s.sums, s.scratch);
  if (bits == 4) int8_few_rows<4, 3>(s, s.sums, s.scratch);
  if (bits == 5) int8_few_rows<5, 3>(s, s.sums, s.scratch);
  if (bits == 6) int8_few_rows<6, 3>(s, s.sums, s.scratch);
  avx512::product::finish(s, s.sums, 32, 0, s.x->rows);
}

}  // namespace product
}  // namespace kernels::avx512vnni
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
