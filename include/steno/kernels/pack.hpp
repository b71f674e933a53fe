// steno/kernels/pack.hpp - writes weights in the layout that the product kernels stream: 16 outputs to a vector.
//
// The layout: packed_layout.hpp; what the stored bytes mean: weights/blocks.hpp. Quants are moved, never rounded: the
// packed form means exactly what the file says. Tested in tests/kernels/pack_test.cpp.
#pragma once
#include <steno/core/executor.hpp>
#include <steno/kernels/packed_layout.hpp>
#include <steno/weights/blocks/k.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno::inline STENO_ABI::kernels {

namespace detail {
/// Packs rows [16 g, 16 g + 16) of a matrix.
STENO_KERNEL_API void pack_group(const weight_ref& w, extent g, std::byte* out) noexcept;

#if STENO_KERNEL_BODIES
inline constexpr std::size_t q8_0_bytes = sizeof(blocks::q8_0);

// Four dwords, with the compilers' own vectors: the same code on every processor.
typedef std::uint32_t dwords __attribute__((vector_size(16)));

/// Four values of four rows, [row][4] -> [4][row] x 64 bytes apart, with 128 added to each.
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
    const dwords shifted = out[i] ^ 0x80808080u;
    std::memcpy(to + 64 * i, &shifted, 16);
  }
}

/// Packs rows [16 g, 16 g + 16) of a q8_0 matrix, block by block: sixteen streams are read, one is written.
inline void pack_bytes(const weight_ref& w, extent g, std::byte* out) noexcept {
  const extent blocks = w.cols / block, rows = std::min(group, w.rows - g * group);
  std::byte* quants = out;
  std::byte* scales = out + static_cast<std::size_t>(blocks) * group_quants;
  constexpr std::byte nothing[q8_0_bytes] = {};  // stands for rows beyond the last
  const std::byte* from[group];
  std::size_t step[group];
  for (extent c = 0; c < group; ++c) {
    from[c] = c < rows ? w.row(g * group + c) : nothing;
    step[c] = c < rows ? q8_0_bytes : 0;
  }
  for (extent b = 0; b < blocks; ++b, quants += group_quants, scales += group_scales) {
    for (std::size_t c = 0; c < 16; c += 4) {
      pack_square(from + c, 2, quants + 4 * c);
      pack_square(from + c, 18, quants + 4 * c + 256);
    }
    for (std::size_t c = 0; c < 16; ++c) {
      std::memcpy(scales + 2 * c, from[c], 2);
      from[c] += step[c];
    }
  }
}

/// Transposes 8 rows of 8 two-byte values, `from_stride` and `to_stride` bytes apart.
STENO_INLINE void transpose_halves(const std::byte* from, std::size_t from_stride, std::byte* to,
                                   std::size_t to_stride) noexcept {
  typedef std::uint16_t eight __attribute__((vector_size(16)));
  eight v[8], t[8];
  for (std::size_t r = 0; r < 8; ++r) std::memcpy(v + r, from + r * from_stride, 16);
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
/// are a power of two apart share few sets of the first cache, so each of their lines is read once, into a block.
inline void pack_halves(const weight_ref& w, extent g, std::byte* out) noexcept {
  constexpr std::size_t line = 64;
  const auto rows = static_cast<std::size_t>(std::clamp<extent>(w.rows - g * group, 0, group));
  const std::size_t bytes = 2 * static_cast<std::size_t>(w.cols);
  const std::size_t next_group = group * w.row_bytes();  // sixteen streams are too many for the hardware's prefetcher
  alignas(64) std::byte lines[16 * line] = {}, turned[32 * 32];
  for (std::size_t k = 0; k < bytes; k += line) {
    const std::size_t n = std::min(line, bytes - k);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::byte* const from = w.row(g * group + static_cast<extent>(r)) + k;
      __builtin_prefetch(from + next_group, 0, 2);
      n == line ? std::memcpy(lines + r * line, from, line) : std::memcpy(lines + r * line, from, n);
    }
    std::byte* const to = n == line ? out + 16 * k : turned;
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t c = 0; c < 2; ++c)
        transpose_halves(lines + 8 * c * line + 16 * j, line, to + 256 * j + 16 * c, 32);
    if (n != line) std::memcpy(out + 16 * k, turned, 16 * n);
  }
}

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
    case dtype::q4_0: {
      const auto& from = stored_block<blocks::q4_0>(row, b);
      to.nibbles(from.q);
      return to.half(0, from.d);
    }
    case dtype::q4_1: {
      const auto& from = stored_block<blocks::q4_1>(row, b);
      to.nibbles(from.q);
      to.half(0, from.d);
      return to.half(1, from.m);
    }
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

STENO_KERNEL_API void pack_group(const weight_ref& w, extent g, std::byte* out) noexcept {
  if (w.format == dtype::q8_0) return pack_bytes(w, g, out);
  if (family_of(w.format) == weight_family::half_columns) return pack_halves(w, g, out);
  const block_layout layout = layout_of(w.format);
  const extent blocks = w.cols / block, rows = std::clamp<extent>(w.rows - g * group, 0, group);
  if (rows < group) std::memset(out, 0, group_bytes(w.format, w.cols));
  if (w.format == dtype::iq4_nl) {
    std::byte* const scales = out + static_cast<std::size_t>(blocks) * group_quants;
    for (extent c = 0; c < rows; ++c)
      for (extent b = 0; b < blocks; ++b)
        put_iq4_nl(stored_block<blocks::iq4_nl>(w.row(g * group + c), b),
                   out + static_cast<std::size_t>(b) * group_quants,
                   scales + static_cast<std::size_t>(b) * group_scales, static_cast<std::size_t>(c));
    return;
  }
  const std::size_t head = layout.unit_bytes() - static_cast<std::size_t>(layout.unit()) * layout.block_bytes();
  for (extent u = 0; u < blocks / layout.unit(); ++u, out += layout.unit_bytes())
    for (extent c = 0; c < rows; ++c) {
      const std::byte* row = w.row(g * group + c);
      const auto column = static_cast<std::size_t>(c);
      if (layout.super) put_super(w.format, row, u, out, column);
      for (extent b = 0; b < layout.unit(); ++b)
        put_block(w.format, row, u * layout.unit() + b,
                  {layout, out + head + static_cast<std::size_t>(b) * layout.block_bytes(), column});
    }
}
#endif
}  // namespace detail

/// Bytes that pack() writes; 0 when products read w.data in place.
inline std::size_t packed_bytes(const weight_ref& w) {
  if (family_of(w.format) == weight_family::float_rows || !has_product(w.format)) return 0;
  return static_cast<std::size_t>(detail::groups_of(w.rows)) * detail::group_bytes(w.format, w.cols);
}

/// Writes the packed form of w, packed_bytes(w) bytes, best 64-byte aligned. Reads w.data only.
inline void pack(const weight_ref& w, std::byte* out, const executor& run) {
  if (packed_bytes(w) == 0) return;
  const std::size_t bytes = detail::group_bytes(w.format, w.cols);
  run.run(detail::groups_of(w.rows),
          [&](extent g, int) { detail::pack_group(w, g, out + static_cast<std::size_t>(g) * bytes); });
}

}  // namespace steno::inline STENO_ABI::kernels
