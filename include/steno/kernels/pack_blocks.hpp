// steno/kernels/pack_blocks.hpp - packing of block formats whose bits have to be sorted, one column of a block at a
// time.
//
// What the stored bytes mean: weights/blocks.hpp; the layout: packed_layout.hpp. Tested in tests/kernels/pack_test.cpp.
#pragma once
#include <steno/kernels/packed_layout.hpp>
#include <steno/weights/blocks/k.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno::inline STENO_ABI::kernels::detail {
#if STENO_KERNEL_BODIES

/// One column's part of a packed block: 32 values from their places in a stored block.
struct column_writer {
  const block_layout& layout;
  std::byte* out;  // the packed block; dwords of a column are 64 bytes apart
  std::size_t column;

  static std::uint32_t four(const std::uint8_t* p) {
    std::uint32_t v;
    std::memcpy(&v, p, 4);
    return v;
  }
  void put(std::size_t vector, std::uint32_t v) const { std::memcpy(out + 64 * vector + 4 * column, &v, 4); }
  /// Nibbles as they are stored in 16 bytes.
  void nibbles(const std::uint8_t* q) const {
    for (std::size_t t = 0; t < 4; ++t) put(t, four(q + 4 * t));
  }
  /// Values (q[l] >> shift) & mask, mask below 16, of 32 bytes.
  void values(const std::uint8_t* q, int shift, std::uint32_t mask) const {
    mask *= 0x01010101u;
    for (std::size_t t = 0; t < 4; ++t)
      put(t, (four(q + 4 * t) >> shift & mask) | (four(q + 16 + 4 * t) >> shift & mask) << 4);
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
  /// Third or fifth bits: bit `shift` of 32 bytes, as plane `vector` or into bit 2 of the nibbles.
  void fifth(const std::uint8_t* h, int shift) const {
    std::uint32_t bytes = 0;
    for (int j = 0; j < 8; ++j) bytes |= (four(h + 4 * j) >> shift & 0x01010101u) << j;
    put(4, bytes);
  }
  void third(const std::uint8_t* h, int shift) const {
    for (std::size_t t = 0; t < 4; ++t) {
      std::uint32_t v;
      std::memcpy(&v, out + 64 * t + 4 * column, 4);
      put(t, v | (four(h + 4 * t) >> shift & 0x01010101u) << 2 | (four(h + 16 + 4 * t) >> shift & 0x01010101u) << 6);
    }
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
  void half(std::size_t which, const std::uint8_t* p) const {
    std::memcpy(out + layout.plane_bytes() + 32 * which + 2 * column, p, 2);
  }
  /// Integer `which` of a block within a superblock: scales first, then minima.
  void factor(std::size_t which, int v) const {
    out[layout.plane_bytes() + 16 * which + column] = static_cast<std::byte>(v);
  }
};

template <class Block>
const Block& stored_block(const std::byte* row, extent unit) noexcept {
  return reinterpret_cast<const Block*>(row)[unit];
}

inline void put_iq4_nl(const blocks::iq4_nl& b, std::byte* tile, std::byte* scales, std::size_t column) noexcept {
  for (std::size_t k = 0; k < 32; ++k) {
    const int level = blocks::iq4_nl_levels[k < 16 ? b.q[k] & 15 : b.q[k - 16] >> 4];
    tile[k / 4 * 64 + 4 * column + k % 4] = static_cast<std::byte>(level + 128);
  }
  std::memcpy(scales + 2 * column, b.d, 2);
}

/// Block b of a row (of a superblock: its 32 values number b % 8).
inline void put_block(dtype format, const std::byte* row, extent b, const column_writer& to) noexcept {
  const extent super = b / 8;
  const int s = static_cast<int>(b % 8), half = s / 4, j = s % 4;
  switch (format) {
    case dtype::q5_0: {
      const auto& from = stored_block<blocks::q5_0>(row, b);
      to.nibbles(from.q);
      to.fifth(from.h);
      return to.half(0, from.d);
    }
    case dtype::q5_1: {
      const auto& from = stored_block<blocks::q5_1>(row, b);
      to.nibbles(from.q);
      to.fifth(from.h);
      to.half(0, from.d);
      return to.half(1, from.m);
    }
    case dtype::q2_k: {
      const auto& from = stored_block<blocks::q2_k>(row, super);
      to.values(from.q + 32 * half, 2 * j, 3);
      for (std::size_t k = 0; k < 2; ++k) {
        const int factors = from.s[2 * static_cast<std::size_t>(s) + k];
        to.factor(k, factors & 15);
        to.factor(2 + k, factors >> 4);
      }
      return;
    }
    case dtype::q3_k: {
      const auto& from = stored_block<blocks::q3_k>(row, super);
      to.values(from.q + 32 * half, 2 * j, 3);
      to.third(from.high, s);
      to.factor(0, blocks::q3_k_scale(from.s, 2 * s));
      return to.factor(1, blocks::q3_k_scale(from.s, 2 * s + 1));
    }
    case dtype::q4_k: {
      const auto& from = stored_block<blocks::q4_k>(row, super);
      to.values(from.q + 32 * (s / 2), 4 * (s % 2), 15);
      const auto [scale, minimum] = blocks::k_scale(from.s, s);
      to.factor(0, scale);
      return to.factor(1, minimum);
    }
    case dtype::q5_k: {
      const auto& from = stored_block<blocks::q5_k>(row, super);
      to.values(from.q + 32 * (s / 2), 4 * (s % 2), 15);
      to.fifth(from.high, s);
      const auto [scale, minimum] = blocks::k_scale(from.s, s);
      to.factor(0, scale);
      return to.factor(1, minimum);
    }
    case dtype::q6_k: {
      const auto& from = stored_block<blocks::q6_k>(row, super);
      to.values(from.low + 64 * half + 32 * (j & 1), 4 * (j / 2), 15);
      to.upper_two(from.high + 32 * half, 2 * j);
      to.factor(0, from.s[2 * s]);
      return to.factor(1, from.s[2 * s + 1]);
    }
    default:
      return;
  }
}

/// The factors that a superblock's scales and minima share; -dmin, so that minima are added.
inline void put_super(dtype format, const std::byte* row, extent super, std::byte* out, std::size_t column) noexcept {
  const auto put = [&](std::size_t which, const std::uint8_t(&half)[2], unsigned flip) {
    std::memcpy(out + 32 * which + 2 * column, half, 2);
    out[32 * which + 2 * column + 1] ^= static_cast<std::byte>(flip);
  };
  constexpr unsigned sign = 0x80;
  switch (format) {
    case dtype::q2_k:
      put(0, stored_block<blocks::q2_k>(row, super).d, 0);
      return put(1, stored_block<blocks::q2_k>(row, super).dmin, sign);
    case dtype::q3_k:
      return put(0, stored_block<blocks::q3_k>(row, super).d, 0);
    case dtype::q4_k:
      put(0, stored_block<blocks::q4_k>(row, super).d, 0);
      return put(1, stored_block<blocks::q4_k>(row, super).dmin, sign);
    case dtype::q5_k:
      put(0, stored_block<blocks::q5_k>(row, super).d, 0);
      return put(1, stored_block<blocks::q5_k>(row, super).dmin, sign);
    case dtype::q6_k:
      return put(0, stored_block<blocks::q6_k>(row, super).d, 0);
    default:
      return;
  }
}

#endif
}  // namespace steno::inline STENO_ABI::kernels::detail
