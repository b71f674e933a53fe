// steno/kernels/product/amx.hpp - products of many rows in tiles of bfloat16 numbers with f32 sums (tdpbf16ps).
//
// As many terms of the factors (bfloat_tiles.hpp) are multiplied as matter:
//   weights         as bfloat16             x              products
//   f16             2 (all 11 bits)         3 (24 bits)    5 of 6: those of at least 2^-16 of the first
//   bf16            1 (exact)               3              3
//   bf16_a16        1 (exact)               1 (rounded)    1
//   block formats   1 (rounded, 2^-9)       1 (rounded)    1
// For f16 and bf16 that is as exact as float arithmetic; for block formats twice as exact as x in blocks of int8,
// which the other instruction sets and few rows use. f32 would take six products, and turning its rows costs what they
// gain. Weights become tiles a few steps at a time, in the first cache, for all panels; sums stay in tiles and go on in
// the next steps'. Long rows that do not fit the second cache are multiplied a part of K after the other
// (plan_parts()). Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/bfloat_tiles.hpp>
#include <steno/kernels/product/amx_spans.hpp>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_amx_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::amx {
namespace product {

inline constexpr extent wide_tiles = 16;  // 16 KiB of weights
/// Steps whose weights, as so many terms, are in the first cache at once.
template <int Terms>
inline constexpr extent chunk_steps = wide_tiles / (2 * Terms);
static_assert(chunk_steps<1> % 8 == 0, "blocks of a superblock are unpacked together");
/// Further scratch: unpacked blocks.
inline constexpr extent rest_floats =
    chunk_steps<1> * (static_cast<extent>(detail::group_quants) / 4 + 2 * 2 * detail::group);

template <class = void>
void split(const detail::split_job& job) noexcept {
  (job.count == 1 ? split_rows<1> : split_rows<3>)(job.x, job.stride, job.rows, job.cols, job.terms);
}

// --- weights of a strip, `count` steps from `first` on, as tiles; and where they are stored, to be fetched ahead ---

/// f16, bf16 and bf16_a16, packed.
template <dtype F>
struct half_source {
  static constexpr int x_terms = F == dtype::bf16_a16 ? 1 : 3, terms = F == dtype::f16 ? 2 : 1;
  const detail::strip& s;

  stored_part part(extent n0, extent first, extent count) const noexcept {
    const auto next = static_cast<std::size_t>(s.w->cols) * 32;
    return {s.packed + static_cast<std::size_t>((n0 - s.n0) / 16) * next + 1024 * first, next, 2, 16 * count};
  }
  void widen(extent first, extent count, float*, std::uint16_t* out) const noexcept {
    const extent cols = s.w->cols;
    const auto* const packed = reinterpret_cast<const std::uint16_t*>(s.packed);
    const __m512i places = _mm512_loadu_si512(avx512::pair_places.data());
    for (extent i = 0; i < count; ++i, out += terms * 2 * tile_values)
      for (extent g = 0; g < 2; ++g)
        for (extent p = 0; p < 16; ++p) {
          const extent k = 32 * (first + i) + p;
          std::uint16_t* const to = out + g * tile_values + 32 * p;
          const auto row = [&](extent at) __attribute__((always_inline)) { return packed + (g * cols + at) * 16; };
          if constexpr (F == dtype::f16) {
            const auto number = [&](extent at) __attribute__((always_inline)) {
              return at < cols ? avx512::load_f16(row(at)) : zero();
            };
            put_terms<terms>(number(k), number(k + 16), to, 2 * tile_values);
          } else {  // as it is
            const __mmask32 low = k < cols ? 0x0000ffffu : 0, high = k + 16 < cols ? 0xffff0000u : 0;
            const __m512i first_row = _mm512_maskz_loadu_epi16(low, row(k));
            const __m512i both = _mm512_mask_loadu_epi16(first_row, high, row(k + 16) - 16);
            _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi16(0xffffffffu, places, both));
          }
        }
  }
};

/// 1 + byte I of each lane / 256: the byte becomes the first bits of a number between 1 and 2.
template <int I>
STENO_INLINE f32x16 with_byte(__m512i v) {
  // Where, in 64 bits, the bits of each byte of both lanes begin: bits 15 to 22 are wanted, the others do not matter.
  constexpr int low = 8 * I, high = 8 * I + 32;
  constexpr auto from = [](int first) { return static_cast<long long>((first + 57) % 64 << 8 | (first + 1) << 16); };
  const __m512i moved =
      _mm512_maskz_multishift_epi64_epi8(~__mmask64{}, _mm512_set1_epi64(from(low) | from(high) << 32), v);
  return {_mm512_castsi512_ps(
      _mm512_ternarylogic_epi32(moved, _mm512_set1_epi32(0x7f8000), _mm512_set1_epi32(0x3f800000), 0xea))};
}
template <int... I>
STENO_INLINE void widen_vectors(std::integer_sequence<int, I...>, __m512i low, __m512i high, const f32x16* scales,
                                const f32x16* bases, std::uint16_t* out) {
  (put_terms<1>(fma(with_byte<I>(low), scales[0], bases[0]), fma(with_byte<I>(high), scales[1], bases[1]), out + 32 * I,
                0),
   ...);
}
/// A block of a group: [8][16][4] bytes q + 128, value = scale * q + minimum.
STENO_INLINE void widen_block(const std::byte* quants, const f32x16* scales, const f32x16* minima, std::uint16_t* out) {
  const f32x16 times = avx512::broadcast(256.0f), middle = avx512::broadcast(1.5f);  // byte 128 is 0
  const f32x16 s[] = {scales[0] * times, scales[1] * times};
  const f32x16 bases[] = {fnma(s[0], middle, minima[0]), fnma(s[1], middle, minima[1])};
  for (extent j = 0; j < 4; ++j)
    widen_vectors(std::make_integer_sequence<int, 4>{}, _mm512_loadu_si512(quants + 64 * j),
                  _mm512_loadu_si512(quants + 64 * (j + 4)), s, bases, out + 32 * 4 * j);
}

/// Block formats, packed.
struct block_source {
  static constexpr int x_terms = 1, terms = 1;
  const detail::strip& s;
  const detail::block_layout& layout = s.layout;
  std::size_t next = s.next_group;
  bool apart = layout.bits == 8;  // scales lie behind all quants

  /// Where block b of the strip's first group begins; of q8_0, its quants.
  const std::byte* place(extent b) const noexcept {
    return s.packed + (apart ? static_cast<std::size_t>(b) * detail::group_quants
                             : static_cast<std::size_t>(b / layout.unit()) * layout.unit_bytes());
  }
  stored_part part(extent n0, extent first, extent count) const noexcept {
    return {place(first) + static_cast<std::size_t>((n0 - s.n0) / 16) * next, next, 2,
            (place(first + count) - place(first)) / 64};
  }
  void widen(extent first, extent count, float* unpacked, std::uint16_t* out) const noexcept {
    auto* const quants = reinterpret_cast<std::byte*>(unpacked);
    float* const scales = unpacked + chunk_steps<terms> * static_cast<extent>(detail::group_quants) / 4;
    float* const minima = scales + chunk_steps<terms> * 2 * detail::group;
    const extent vectors = static_cast<extent>(layout.vectors()), second = (vectors - 1) * 16;
    for (extent g = 0; g < 2; ++g) {
      const std::size_t at = static_cast<std::size_t>(g) * next;
      const std::byte* in = place(first) + at;
      if (apart)
        in = s.packed + at + static_cast<std::size_t>(s.w->cols / detail::block) * detail::group_quants +
             static_cast<std::size_t>(first / layout.span) * detail::group_scales;
      s.table->unpack({.layout = layout,
                       .in = in,
                       .ahead = in + static_cast<std::size_t>(count / layout.span) * detail::group_scales,
                       .count = count,
                       .quants = quants,
                       .scales = scales,
                       .minima = minima});
      const std::byte* const bytes = apart ? place(first) + at : quants;
      for (extent b = 0; b < count; ++b) {
        const float* const ws = scales + b / layout.span * vectors * 16;
        const float* const wm = minima + b * vectors * 16;
        const f32x16 both[] = {load(ws), load(ws + second)};
        const f32x16 least[] = {layout.minima ? load(wm) : zero(), layout.minima ? load(wm + second) : zero()};
        widen_block(bytes + static_cast<std::size_t>(b) * detail::group_quants, both, least,
                    out + (b * 2 + g) * tile_values);
      }
    }
  }
};

template <class Source>
void strip_of(const detail::strip& s, const Source& weights) noexcept {
  constexpr int x_terms = Source::x_terms, terms = Source::terms;
  constexpr extent chunk = chunk_steps<terms>;
  const operand& x = *s.x;
  auto* const wide = reinterpret_cast<std::uint16_t*>(s.scratch);
  float* const rest = s.scratch + wide_tiles * tile_values / 2;
  const extent steps = detail::steps_of(x.cols), pairs = (s.last - s.first + 1) / 2;
  const bool last_part = s.k1 == steps;
  const bool more = s.w->rows > s.n1 && s.w->packed != nullptr;
  shape_tiles();
  for (extent i = s.k0; i < s.k1; i += chunk) {
    const extent count = std::min(chunk, s.k1 - i);
    weights.widen(i, count, rest, wide);
    // What follows: the next steps of these columns, or the first ones of the next columns.
    const bool ends = i + count == s.k1;
    const extent then = ends ? s.k0 : i + count, ahead = std::min(chunk, s.k1 - then);
    fetcher fetch(weights.part(ends && more ? s.n1 : s.n0, then, ends && !more ? 0 : ahead), pairs * count);
    for (extent p = s.first; p < s.last; p += 2) {
      const bool two = p + 1 < s.last;
      const extent m = x.split.first(p), heights[] = {x.split.height(p), x.split.height(two ? p + 1 : p)};
      const extent rows = heights[0] + (two ? heights[1] : 0);
      // With each piece of K a piece of the rows that are written at the end.
      const extent row = rows * (i - s.k0) / (s.k1 - s.k0), next_row = rows * (i + count - s.k0) / (s.k1 - s.k0);
      fetcher fetch_results({.from = reinterpret_cast<const std::byte*>(s.y + (m + row) * s.y_stride + s.n0),
                             .next = static_cast<std::size_t>(s.y_stride) * sizeof(float),
                             .rows = last_part ? next_row - row : 0,
                             .lines = detail::groups_of(s.n1 - s.n0)},
                            count);
      tile_job job{.x = {},
                   .next_x = {heights[0] * 32, heights[1] * 32},
                   .weights = wide,
                   .steps = count,
                   .sums = {},
                   .sums_stride = 32,
                   .first = i == 0,
                   .fetch = &fetch,
                   .fetch_results = &fetch_results};
      for (int t = 0; t < 2; ++t) {
        const extent from = m + (t == 0 ? 0 : heights[0]);
        job.x[t] = x.terms + (from * steps + i * heights[t]) * x_terms * 32;
        job.sums[t] = s.sums + (from - x.split.first(s.first)) * 32;
      }
      two ? bfloat_tiles<x_terms, terms, 2>(job) : bfloat_tiles<x_terms, terms, 1>(job);
      if (ends && last_part) avx512::product::finish(s, job.sums[0], 32, m, rows);
    }
  }
  _tile_release();
}

template <class = void>
void term_strip(const detail::strip& s) noexcept {
  switch (s.w->format) {
    case dtype::f16:
      return strip_of(s, half_source<dtype::f16>{s});
    case dtype::bf16:
      return strip_of(s, half_source<dtype::bf16>{s});
    case dtype::bf16_a16:
      return strip_of(s, half_source<dtype::bf16_a16>{s});
    default:
      return strip_of(s, block_source{s});
  }
}

}  // namespace product

template <class = void>
constexpr detail::product_table with_tiles(detail::product_table t) {
  // Fewer rows do not pay for the widening of the weights; and a strip has sums of two panels as high as the first, of
  // which a tile writes 16 rows.
  t.f16_terms_from = 33;
  t.bf16_terms_from = 12;
  t.rounded_terms_from = tile_rows / 2;
  t.int8_terms_from = 40;
  t.span_panel = product::span_rows;
  t.span_tile_fetches_results = true;
  t.int8_tile = product::int8_tile;
  t.int8_strip = product::int8_strip;
  t.term_panel = t.tile_rows = tile_rows;
  t.term_parts = 4;
  t.term_steps = product::chunk_steps<1>;
  t.term_scratch = product::wide_tiles * tile_values / 2 + product::rest_floats;
  t.split = product::split;
  t.term_strip = product::term_strip;
  return t;
}
template <class = void>
inline constexpr detail::product_table product_kernels = with_tiles(avx512vnni::product_kernels<>);

}  // namespace kernels::amx
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
