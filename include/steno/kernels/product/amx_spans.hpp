// steno/kernels/product/amx_spans.hpp - products by q8_128 in tiles of int8 with integer sums (tdpbsud).
//
// A tile instruction multiplies 16 rows by 16 columns, 64 values deep: two take a span, 128 values with one scale. The
// weights are tiles as they are packed. Of x two blocks of a row lie side by side, [cols / 64][rows][64] per panel of
// up to 32 rows. Sums of a span go through memory, as tiles have no other way out, and are scaled as
// product/avx512vnni.hpp scales them: the bits are the same.
//
// What is done when matters as much as what: a sum is stored as late as its tile is wanted again, so that others are
// multiplied meanwhile, and the last span's sums are scaled while this one's are multiplied. Sums begin with zeros that
// are loaded: a product into a tile that tilezero has cleared waits for all products before it.
// Specification: product/reference.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/bfloat_tiles.hpp>
#include <steno/kernels/product/avx512vnni.hpp>
#include <steno/kernels/product/int8_strip.hpp>

// Regions follow; everything they use is included above.
#include <steno/kernels/isa/region_amx_begin.hpp>
namespace steno {
inline namespace STENO_ABI {
namespace kernels::amx {
namespace product {

inline constexpr extent span_rows = 2 * tile_rows;  // of a panel

/// A panel's part of a strip: its rows by two groups of columns.
template <int Tiles>  // of x: 16 rows each
class span_tiles {
 public:
  explicit span_tiles(const detail::int8_job& job)
      : job_(job), ahead_(job.ahead), result_(job.results), before_(job.first ? 0 : 0xffff) {}

  void multiply() {
    const extent spans = job_.blocks / detail::long_span;
    turn<false, true>(0);
    for (extent s = 1; s < spans; ++s) turn<true, true>(s);
    turn<true, false>(spans);
  }

 private:
  /// Takes the sums of the span before out and scales them; begins span s.
  template <bool Before, bool Begins>
  STENO_INLINE void turn(extent s) {
    const std::int8_t* const x = job_.x + s * detail::long_span * detail::block * job_.rows;
    const std::byte* const w = job_.quants + static_cast<std::size_t>(s * detail::long_span) * detail::group_quants;
    if constexpr (Begins) {
      for (extent b = 0; b < detail::long_span; ++b) fetch();
      if (result_ != nullptr) fetch_results(s);
      _tile_stream_loadd(4, x, 64);
      _tile_loadd(6, w, 64);
    }
    if constexpr (Before) _tile_stored(0, sums_, 64);
    if constexpr (Begins) {
      _tile_loadd(0, zeros, 0);
      _tile_dpbsud(0, 4, 6);
      _tile_loadd(7, w + job_.next_quants, 64);
    }
    if constexpr (Before) _tile_stored(1, sums_ + 256, 64);
    if constexpr (Begins) {
      _tile_loadd(1, zeros, 0);
      _tile_dpbsud(1, 4, 7);
    }
    if constexpr (Tiles == 2) {
      if constexpr (Begins) _tile_stream_loadd(5, x + tile_rows * 64, 64);
      if constexpr (Before) _tile_stored(2, sums_ + 512, 64);
      if constexpr (Begins) {
        _tile_loadd(2, zeros, 0);
        _tile_dpbsud(2, 5, 6);
      }
      if constexpr (Before) _tile_stored(3, sums_ + 768, 64);
      if constexpr (Begins) {
        _tile_loadd(3, zeros, 0);
        _tile_dpbsud(3, 5, 7);
      }
    }
    if constexpr (Before) add(s - 1, 0, Tiles == 1 ? job_.rows : tile_rows);
    if constexpr (Begins) {
      const std::int8_t* const second = x + job_.rows * 64;
      _tile_stream_loadd(4, second, 64);
      _tile_loadd(6, w + 2 * detail::group_quants, 64);
      _tile_dpbsud(0, 4, 6);
      _tile_loadd(7, w + job_.next_quants + 2 * detail::group_quants, 64);
      _tile_dpbsud(1, 4, 7);
      if constexpr (Tiles == 2) {
        _tile_stream_loadd(5, second + tile_rows * 64, 64);
        _tile_dpbsud(2, 5, 6);
        _tile_dpbsud(3, 5, 7);
      }
    }
    if constexpr (Before && Tiles == 2) add(s - 1, tile_rows, job_.rows);
    if constexpr (Before) before_ = 0xffff;
  }
  /// Lines that will be wanted next. The job is read number by number: several at once would wait for it to be written.
  STENO_INLINE void fetch() {
    using avx512vnni::product::fetch;
    fetch<2, 0, 1>(ahead_, job_.next_ahead);
    if (job_.ahead_lines > 1) fetch<2, 1, 3>(ahead_, job_.next_ahead);
    if (job_.ahead_lines > 3) fetch<2, 3, 5>(ahead_, job_.next_ahead);
    ahead_ += job_.ahead_bytes;
  }
  /// A quarter of a panel's rows of y with each of four spans, the rest with the last one.
  STENO_INLINE void fetch_results(extent s) {
    const bool rest = (s + 1) * detail::long_span == job_.blocks;
    const extent end = rest ? job_.rows : std::min(job_.rows, fetched_ + span_rows / 4);
    for (; fetched_ < end; ++fetched_, result_ += job_.next_result)
      for (extent line = 0; line < job_.result_lines; ++line) __builtin_prefetch(result_ + 16 * line, 1);
  }
  /// Rows [first, last), of one tile, of the sums of span s.
  STENO_INLINE void add(extent s, extent first, extent last) {
    using avx512vnni::product::column_scales, avx512vnni::product::half_vector;
    const std::byte* const packed = job_.half_scales + static_cast<std::size_t>(s) * detail::group_scales;
    const column_scales w[] = {column_scales(half_vector(packed)),
                               column_scales(half_vector(packed + job_.next_quants))};
    const float *scales = job_.scales + s + 16 * first, *starts = job_.starts + s + 16 * first;
    const std::int32_t* sums = sums_ + 32 * first;  // two tiles for 16 rows
    float* y = job_.sums + 32 * first;
    for (extent n = last - first; n != 0; --n, scales += 16, starts += 16, sums += 16, y += 32) {
      const __m512i start = avx512vnni::product::start_at(*starts);
      const auto sum = [&](extent group) __attribute__((always_inline)) {
        const __m512i counted = _mm512_add_epi32(start, _mm512_load_si512(sums + 256 * group));
        float* const to = y + 16 * group;
        _mm512_storeu_ps(to, _mm512_fmadd_ps(w[group].times(counted).v, _mm512_set1_ps(*scales),
                                             _mm512_maskz_loadu_ps(before_, to)));
      };
      sum(0);
      sum(1);
    }
  }

  const detail::int8_job& job_;
  const std::byte* ahead_;
  const float* result_;
  extent fetched_ = 0;
  __mmask16 before_;
  alignas(64) std::int32_t sums_[static_cast<std::size_t>(2 * Tiles * 256)];  // [tiles][groups][16][16]
};

template <class = void>
void int8_tile(const detail::int8_job& job) noexcept {
  if (job.layout.span == 1) return avx512vnni::product::int8_tile(job);
  job.rows > tile_rows ? span_tiles<2>(job).multiply() : span_tiles<1>(job).multiply();
}
/// Of spans several columns of tiles one after the other: with few rows they take no longer than setting the shapes.
template <class = void>
void int8_strip(const detail::strip& s) noexcept {
  if (s.layout.span == 1) return detail::int8_strip(s);
  shape_tiles();
  constexpr extent columns = 2 * detail::group;
  for (detail::strip part = s; part.n0 < s.n1; part.n0 += columns, part.packed += 2 * s.next_group) {
    part.n1 = std::min(part.n0 + columns, s.n1);
    detail::int8_strip(part);
  }
  _tile_release();
}

}  // namespace product
}  // namespace kernels::amx
}  // namespace STENO_ABI
}  // namespace steno
#include <steno/kernels/isa/region_end.hpp>
