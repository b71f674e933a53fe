// steno/kernels/pack_blocks.hpp - packing of block formats whose bits have to be sorted, one column of a block at a
// time.
//
// What the stored bytes mean: weights/blocks.hpp; the layout: packed_layout.hpp. Tested in tests/kernels/pack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/pack_moves.hpp>
#include <steno/kernels/packed_layout.hpp>
#include <steno/weights/blocks/k.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::detail {
#if STENO_KERNEL_BODIES

/// The quants of a packed block, column by column: they are turned when all columns are there.
struct block_stage {
  alignas(16) std::uint32_t dwords[group][8] = {};

  void store(int bits, std::byte* out) const noexcept {
    const std::byte* from[group];
    for (std::size_t c = 0; c < 16; ++c) from[c] = reinterpret_cast<const std::byte*>(dwords[c]);
    const std::size_t squares = bits < 4 ? 0 : 4;
    for (std::size_t c = 0; c < 16 && squares != 0; c += 4) pack_square<0>(from + c, 0, out + 4 * c);
    for (std::size_t v = squares; v < static_cast<std::size_t>(bits); ++v)
      for (std::size_t c = 0; c < 16; ++c) std::memcpy(out + 64 * v + 4 * c, dwords[c] + v, 4);
  }
};

/// One column's part of a packed block: 32 values from their places in a stored block.
struct column_writer {
  std::uint32_t* quants;  // of the stage
  std::byte* scales;      // of the packed block, behind its quants
  std::size_t column;

  static std::uint32_t four(const std::uint8_t* p) {
    std::uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
  }
  void put(std::size_t vector, std::uint32_t v) const { quants[vector] = v; }
  /// Nibbles as they are stored in 16 bytes.
  void nibbles(const std::uint8_t* q) const { std::memcpy(quants, q, 16); }
  /// Values (q[l] >> shift) & 15 of 32 bytes.
  void nibbles(const std::uint8_t* q, int shift) const {
    const std::uint32_t mask = 0x0f0f0f0f;
    dwords low, high;
    std::memcpy(&low, q, 16);
    std::memcpy(&high, q + 16, 16);
    low = (low >> static_cast<std::uint32_t>(shift) & mask) | (high >> static_cast<std::uint32_t>(shift) & mask) << 4u;
    std::memcpy(quants, &low, 16);
  }
  /// Values (q[l] >> shift) & 3 of 32 bytes.
  void pairs(const std::uint8_t* q, int shift) const {
    for (std::size_t v = 0; v < 2; ++v) {
      std::uint32_t bytes = 0;
      for (std::size_t j = 0; j < 4; ++j) bytes |= (four(q + 8 * j + 4 * v) >> shift & 0x03030303u) << 2 * j;
      put(v, bytes);
    }
  }
  /// Fifth bits: bit l of a word.
  void fifth(const std::uint8_t* h) const {
    const std::uint32_t word = four(h);
    std::uint32_t bytes = 0;
    for (int i = 0; i < 4; ++i) {  // bits 4 j + i, brought together as byte i
      std::uint32_t t = word >> i & 0x11111111u;
      t = (t | t >> 3) & 0x03030303u;
      t = (t | t >> 6) & 0x000f000fu;
      bytes |= ((t | t >> 12) & 0xffu) << 8 * i;
    }
    put(4, bytes);
  }
  /// Third or fifth bits: bit `shift` of 32 bytes, behind `vector` vectors.
  void next_bit(std::size_t vector, const std::uint8_t* h, int shift) const {
    std::uint32_t bytes = 0;
    for (int j = 0; j < 8; ++j) bytes |= (four(h + 4 * j) >> shift & 0x01010101u) << j;
    put(vector, bytes);
  }
  /// Bits four and five: two bits of 32 bytes from `shift` on.
  void upper_two(const std::uint8_t* h, int shift) const {
    for (std::size_t v = 0; v < 2; ++v) {
      std::uint32_t bytes = 0;
      for (std::size_t j = 0; j < 4; ++j) bytes |= (four(h + 16 * v + 4 * j) >> shift & 0x03030303u) << 2 * j;
      put(4 + v, bytes);
    }
  }
  /// The two bytes of scale `which` (0: scale, 1: minimum) of a block without a superblock.
  void half(std::size_t which, const std::uint8_t* p) const { std::memcpy(scales + 32 * which + 2 * column, p, 2); }
  /// Integer `which` of a block within a superblock: scales first, then minima.
  void factor(std::size_t which, int v) const { scales[16 * which + column] = static_cast<std::byte>(v); }
};

template <class Block>
const Block& stored_block(const std::byte* row, extent unit) noexcept {
  return reinterpret_cast<const Block*>(row)[unit];
}

inline void put_iq4_nl(const weights::blocks::iq4_nl& b, std::byte* tile, std::byte* scales,
                       std::size_t column) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const int level = weights::blocks::iq4_nl_levels[k < 16 ? b.q[k] & 15 : b.q[k - 16] >> 4];
    tile[k / 4 * 64 + 4 * column + k % 4] = static_cast<std::byte>(level + 128);
  }
  std::memcpy(scales + 2 * column, b.d, 2);
}
/// The same of iq4_nl, which becomes q8_0's form.
inline void pack_levels(const weights::weight_ref& w, extent g, std::byte* out) noexcept {
  const extent count = w.cols / block, rows = std::clamp<extent>(w.rows - g * group, 0, group);
  if (rows < group) std::memset(out, 0, group_bytes(w.format, w.cols));
  std::byte* const scales = out + static_cast<std::size_t>(count) * group_quants;
  for (extent c = 0; c < rows; ++c)
    for (extent b = 0; b < count; ++b)
      put_iq4_nl(stored_block<weights::blocks::iq4_nl>(w.row(g * group + c), b),
                 out + static_cast<std::size_t>(b) * group_quants, scales + static_cast<std::size_t>(b) * group_scales,
                 static_cast<std::size_t>(c));
}

// The values of one stored block, 32 or a superblock of 256, to its column of each packed block.
inline void put_block(const weights::blocks::q5_0& from, const column_writer& to) noexcept {
  to.nibbles(from.q);
  to.fifth(from.h);
  to.half(0, from.d);
}
inline void put_block(const weights::blocks::q5_1& from, const column_writer& to) noexcept {
  to.nibbles(from.q);
  to.fifth(from.h);
  to.half(0, from.d);
  to.half(1, from.m);
}
template <int S>
STENO_INLINE void put_part(const weights::blocks::q2_k& from, const column_writer& to) noexcept {
  to.pairs(from.q + 32 * (S / 4), 2 * (S % 4));
  for (std::size_t k = 0; k < 2; ++k) {
    const int factors = from.s[2 * S + k];
    to.factor(k, factors & 15);
    to.factor(2 + k, factors >> 4);
  }
}
template <int S>
STENO_INLINE void put_part(const weights::blocks::q3_k& from, const column_writer& to) noexcept {
  to.pairs(from.q + 32 * (S / 4), 2 * (S % 4));
  to.next_bit(2, from.high, S);
  to.factor(0, weights::blocks::q3_k_scale(from.s, 2 * S));
  to.factor(1, weights::blocks::q3_k_scale(from.s, 2 * S + 1));
}
template <int S>
STENO_INLINE void put_part(const weights::blocks::q4_k& from, const column_writer& to) noexcept {
  to.nibbles(from.q + 32 * (S / 2), 4 * (S % 2));
  const auto [scale, minimum] = weights::blocks::k_scale(from.s, S);
  to.factor(0, scale);
  to.factor(1, minimum);
}
template <int S>
STENO_INLINE void put_part(const weights::blocks::q5_k& from, const column_writer& to) noexcept {
  to.nibbles(from.q + 32 * (S / 2), 4 * (S % 2));
  to.next_bit(4, from.high, S);
  const auto [scale, minimum] = weights::blocks::k_scale(from.s, S);
  to.factor(0, scale);
  to.factor(1, minimum);
}
template <int S>
STENO_INLINE void put_part(const weights::blocks::q6_k& from, const column_writer& to) noexcept {
  constexpr int half = S / 4, j = S % 4;
  to.nibbles(from.low + 64 * half + 32 * (j & 1), 4 * (j / 2));
  to.upper_two(from.high + 32 * half, 2 * j);
  to.factor(0, from.s[2 * S]);
  to.factor(1, from.s[2 * S + 1]);
}
/// One column's part of what is packed together: a block, or the eight of a superblock.
struct unit_writer {
  block_stage* stages;
  std::byte* out;
  std::size_t head, block_bytes, plane_bytes, column;

  column_writer block(std::size_t b) const {
    return {stages[b].dwords[column], out + head + b * block_bytes + plane_bytes, column};
  }
  /// Factor `which` (0: of scales, 1: of minima) of a superblock.
  void factor(std::size_t which, const std::uint8_t (&half)[2]) const {
    std::memcpy(out + 32 * which + 2 * column, half, 2);
    if (which == 1) out[32 * which + 2 * column + 1] ^= std::byte{0x80};  // -dmin, so that minima are added
  }
};
template <class Block, int... S>
STENO_INLINE void put_parts(std::integer_sequence<int, S...>, const Block& from, const unit_writer& to) noexcept {
  (put_part<S>(from, to.block(S)), ...);
}
template <class Block>
STENO_INLINE void put_unit(const Block& from, const unit_writer& to) noexcept {
  if constexpr (requires { put_block(from, to.block(0)); }) {
    put_block(from, to.block(0));
  } else {
    to.factor(0, from.d);
    if constexpr (requires { from.dmin; }) to.factor(1, from.dmin);
    put_parts(std::make_integer_sequence<int, 8>{}, from, to);
  }
}

/// Packs rows [16 g, 16 g + 16) of a matrix of these blocks.
template <class Block>
inline void pack_sorted(const weights::weight_ref& w, extent g, std::byte* out) noexcept {
  const block_layout l = layout_of(w.format);
  const auto unit = static_cast<std::size_t>(l.unit());
  const extent units = w.cols / (block * l.unit()), rows = std::clamp<extent>(w.rows - g * group, 0, group);
  if (rows < group) std::memset(out, 0, group_bytes(w.format, w.cols));
  const std::size_t head = l.unit_bytes() - unit * l.block_bytes();
  block_stage stages[8];
  for (extent u = 0; u < units; ++u, out += l.unit_bytes()) {
    for (extent c = 0; c < rows; ++c)
      put_unit(stored_block<Block>(w.row(g * group + c), u),
               {stages, out, head, l.block_bytes(), l.plane_bytes(), static_cast<std::size_t>(c)});
    for (std::size_t b = 0; b < unit; ++b) stages[b].store(l.bits, out + head + b * l.block_bytes());
  }
}

#endif
}  // namespace kernels::detail
}  // namespace STENO_ABI
}  // namespace steno
