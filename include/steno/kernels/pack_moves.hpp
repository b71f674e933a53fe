// steno/kernels/pack_moves.hpp - packing of the formats whose stored bytes only change places: q8_0, q8_128, q4_0,
// q4_1, f16 and bf16.
//
// Sixteen rows are turned four by four dwords, or eight by eight halves, in registers. The layout: packed_layout.hpp.
// Tested in tests/kernels/pack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/packed_layout.hpp>
#include <steno/weights/blocks/simple.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {
#if STENO_KERNEL_BODIES
// Four dwords, with the compilers' own vectors: the same code on every processor.
typedef std::uint32_t dwords __attribute__((vector_size(16)));

/// Sixteen bytes of four rows, [row][4 dwords] -> [4][row] x 64 bytes apart, their bits turned where Flip says so.
template <std::uint32_t Flip>
STENO_INLINE void pack_square(const std::byte* const* from, std::size_t offset, std::byte* to) noexcept {
  dwords a, b, c, d;
  std::memcpy(&a, from[0] + offset, 16);
  std::memcpy(&b, from[1] + offset, 16);
  std::memcpy(&c, from[2] + offset, 16);
  std::memcpy(&d, from[3] + offset, 16);
  const dwords ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const dwords ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const dwords out[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                         __builtin_shufflevector(ef, gh, 0, 1, 4, 5), __builtin_shufflevector(ef, gh, 2, 3, 6, 7)};
  for (std::size_t i = 0; i < 4; ++i) {
    const dwords turned = out[i] ^ Flip;
    std::memcpy(to + 64 * i, &turned, 16);
  }
}

/// The rows [16 g, 16 g + 16) of a matrix side by side; those beyond the last are zeros.
struct row_streams {
  const std::byte* from[group];
  std::size_t step[group];

  row_streams(const weights::weight_ref& w, extent g, std::size_t bytes) noexcept {
    static constexpr std::byte nothing[192] = {};  // more than a block has
    const extent rows = std::min(group, w.rows - g * group);
    for (extent c = 0; c < group; ++c) {
      from[c] = c < rows ? w.row(g * group + c) : nothing;
      step[c] = c < rows ? bytes : 0;
    }
  }
  void advance() noexcept {
    for (std::size_t c = 0; c < 16; ++c) from[c] += step[c];
  }
};

/// q8_0 and q8_128, block by block: sixteen streams are read, one is written. Inlined, g++ 12 makes the loop a fifth
/// slower.
template <class Block>
[[gnu::noinline]] void pack_bytes(const weights::weight_ref& w, extent g, std::byte* out) noexcept {
  constexpr std::size_t parts = Block::elements / block;
  const extent blocks = w.cols / static_cast<extent>(Block::elements);
  std::byte* quants = out;
  std::byte* scales = out + static_cast<std::size_t>(blocks) * parts * group_quants;
  row_streams rows(w, g, sizeof(Block));
  for (extent b = 0; b < blocks; ++b, scales += group_scales, rows.advance()) {
    for (std::size_t part = 0; part < parts; ++part, quants += group_quants)
      for (std::size_t c = 0; c < 16; c += 4) {
        pack_square<0x80808080u>(rows.from + c, 2 + 32 * part, quants + 4 * c);
        pack_square<0x80808080u>(rows.from + c, 18 + 32 * part, quants + 4 * c + 256);
      }
    for (std::size_t c = 0; c < 16; ++c) std::memcpy(scales + 2 * c, rows.from[c], 2);
  }
}

/// q4_0 and q4_1, whose stored nibbles are those of the packed form: `halves` f16 stand before 16 bytes of them.
template <std::size_t Halves>
inline void pack_nibbles(const weights::weight_ref& w, extent g, std::byte* out) noexcept {
  row_streams rows(w, g, 2 * Halves + 16);
  for (extent b = 0; b < w.cols / block; ++b, rows.advance()) {
    for (std::size_t c = 0; c < 16; c += 4) pack_square<0>(rows.from + c, 2 * Halves, out + 4 * c);
    out += 256;
    for (std::size_t h = 0; h < Halves; ++h, out += group_scales)
      for (std::size_t c = 0; c < 16; ++c) std::memcpy(out + 2 * c, rows.from[c] + 2 * h, 2);
  }
}

// Eight 16-bit floats, as bits and as numbers.
typedef std::uint16_t halves __attribute__((vector_size(16)));
typedef std::int16_t magnitudes __attribute__((vector_size(16)));

/// Looks at 16-bit floats on their way: one whose exponent is all ones is among the largest without their signs.
struct half_watch {
  std::int16_t exponent;  ///< 0x7c00 of f16, 0x7f80 of bf16
  magnitudes largest = {};

  STENO_INLINE void look(halves v) noexcept {
    const auto size = reinterpret_cast<magnitudes>(v & static_cast<std::uint16_t>(0x7fff));
    largest = size > largest ? size : largest;
  }
  bool finite() const noexcept {
    for (int i = 0; i < 8; ++i)
      if (largest[i] >= exponent) return false;
    return true;
  }
};

/// Transposes 8 rows of 8 two-byte values, `from_stride` and `to_stride` bytes apart.
STENO_INLINE void transpose_halves(const std::byte* from, std::size_t from_stride, std::byte* to, std::size_t to_stride,
                                   half_watch& watch) noexcept {
  halves v[8], t[8];
  for (std::size_t r = 0; r < 8; ++r) std::memcpy(v + r, from + r * from_stride, 16);
  for (const halves& row : v) watch.look(row);
  // Interleaving the halves of a list three times transposes 8 x 8.
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      t[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    std::memcpy(v, t, sizeof v);
  }
  for (std::size_t i = 0; i < 8; ++i) std::memcpy(to + i * to_stride, v + i, 16);
}

/// Packs rows [16 g, 16 g + 16) of 2-byte values: to[k * 16 + c] = w[16 g + c, k], zero beyond the last row. Rows that
/// are a power of two apart share few sets of the first cache: each of their lines is read once, into a block. False
/// when one of them is infinite or no number.
inline bool pack_halves(const weights::weight_ref& w, extent g, std::byte* out) noexcept {
  constexpr std::size_t line = 64;
  const auto rows = static_cast<std::size_t>(std::clamp<extent>(w.rows - g * group, 0, group));
  const std::size_t bytes = 2 * static_cast<std::size_t>(w.cols);
  const std::size_t stride = w.row_bytes(), next_group = group * stride;  // 16 streams are too many for a prefetcher
  const std::byte* const first = w.row(g * group);
  alignas(64) std::byte lines[16 * line] = {}, turned[32 * 32];
  half_watch watch{static_cast<std::int16_t>(w.format == dtype::f16 ? 0x7c00 : 0x7f80)};
  for (std::size_t k = 0; k < bytes; k += line) {
    const std::size_t n = std::min(line, bytes - k);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::byte* const from = first + r * stride + k;
      __builtin_prefetch(from + next_group, 0, 2);
      n == line ? std::memcpy(lines + r * line, from, line) : std::memcpy(lines + r * line, from, n);
    }
    std::byte* const to = n == line ? out + 16 * k : turned;
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t c = 0; c < 2; ++c)
        transpose_halves(lines + 8 * c * line + 16 * j, line, to + 256 * j + 16 * c, 32, watch);
    if (n != line) std::memcpy(out + 16 * k, turned, 16 * n);
  }
  return watch.finite();
}
#endif
}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno
