// steno/kernels/packed_layout.hpp - how weights lie in memory for the product kernels, format by format.
//
// Formats fall into six families. float_rows (f32): products read the stored rows, nothing is packed. f16_columns and
// bf16_columns: groups of 16 rows of the weight, transposed to [K][16], so that they are widened without shuffles.
// rounded_columns (bf16_a16): the same; x is rounded to bfloat16.
// int8_blocks (block formats) and int8_spans (q8_128): groups of 16 rows, K / 32 blocks each. What the tiles eat is one
// byte per weight, vectors of four values of 16 columns,
//   tile [8][16][4] u8   byte (j, c, i) = q[row c of the group][32 b + 4 j + i] + 128
// and value = scale * q (+ min). q8_0 is kept like that; the others at their own bits, and unpacked into the tile form
// piece by piece in the first-level cache (product/unpack.inl):
//   q8_0            tiles [blocks][512], then scales [blocks][16] f16
//   q8_128          tiles [blocks][512], then scales [blocks / 4][16] f16
//   others, a block [256] nibbles: byte p is byte p of the tile (low half) and byte p + 256 (high half), without bias;
//                   below four bits [128] of two bits each: bits 2 j and 2 j + 1 of byte p are byte p + 128 j; one bit
//                   more (three, five): [64], bit j of byte p is the next bit of byte 64 j + p; two more (six):
//                   [2][64], bits 2 j and 2 j + 1 of byte (h, p) are bits 4 and 5 of byte 64 (4 h + j) + p; then scales
//                   and minima, [16] f16 each
//   K formats       per 256 values: [16] f16 d, [16] f16 -dmin (where there is one), then eight such blocks whose
//                   scales and minima are factors of them, [16] s8 each or [2][16] where 16 values share a scale
// Rows beyond the last have scale and minimum 0; the number of groups is even, since tiles take two. Bits per weight:
// those of the file, but q2_k 3.1, q3_k 3.6, q4_k 4.6, q5_k 5.6, iq4_nl 8.5 (as q8_0). Tested in
// tests/kernels/pack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/core/extents.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// How products treat a stored format; `none`: there is no product for it.
enum class weight_family { none, float_rows, f16_columns, bf16_columns, rounded_columns, int8_blocks, int8_spans };
/// Whether x becomes int8 for them: blocks of values with a scale, or spans of several blocks with one.
constexpr bool is_int8(weight_family f) { return f == weight_family::int8_blocks || f == weight_family::int8_spans; }

/// Whether they are packed as columns of 16-bit floats.
constexpr bool is_columns(weight_family f) {
  return f == weight_family::f16_columns || f == weight_family::bf16_columns || f == weight_family::rounded_columns;
}

namespace detail {
inline constexpr extent block = 32;               // values of x that share a scale, or a part of a span that does
inline constexpr extent long_span = 4;            // blocks with one scale, of x and the weight, of int8_spans
inline constexpr extent group = 16;               // outputs that share a vector
inline constexpr std::size_t group_quants = 512;  // bytes of one block of a group as tiles read it
inline constexpr std::size_t group_scales = 32;   // f16

/// Bits of a quant that lie together, in as many vectors of 64 bytes; a quant of more has the others behind them.
constexpr int low_bits(int bits) { return bits == 8 ? 8 : bits < 4 ? 2 : 4; }

/// The packed form of a format of the family int8_blocks.
struct block_layout {
  int bits = 0;         // of a quant: 8, or 2 to 6; 0: not of this family
  int bias = 0;         // byte of a tile = packed bits + bias (which is 128 minus the format's own offset)
  bool minima = false;  // value = scale * q + min
  bool halves = false;  // 16 values share a scale, not 32
  bool super = false;   // scales and minima are small integers, times factors that eight blocks share
  extent span = 1;      // blocks that share a scale, here and in x; of eight bits alone more than one

  constexpr std::size_t plane_bytes() const { return 64 * static_cast<std::size_t>(bits); }
  constexpr extent unit() const { return super ? 8 : span; }  // blocks that are packed together
  constexpr std::size_t vectors() const { return halves ? 2 : 1; }
  constexpr std::size_t scale_bytes() const { return (super ? 16 : 32) * vectors() * (minima ? 2 : 1); }
  constexpr std::size_t block_bytes() const { return plane_bytes() + scale_bytes(); }  // with a scale of its own
  constexpr std::size_t unit_bytes() const {
    const std::size_t scales = static_cast<std::size_t>(unit() / span) * scale_bytes();
    return static_cast<std::size_t>(unit()) * plane_bytes() + scales + (super ? (minima ? 64 : 32) : 0);
  }
};

constexpr block_layout layout_of(dtype format) {
  switch (format) {
    case dtype::q8_0:
    case dtype::iq4_nl:
      return {.bits = 8};
    case dtype::q8_128:
      return {.bits = 8, .span = long_span};
    case dtype::q4_0:
      return {.bits = 4, .bias = 120};
    case dtype::q4_1:
      return {.bits = 4, .bias = 128, .minima = true};
    case dtype::q5_0:
      return {.bits = 5, .bias = 112};
    case dtype::q5_1:
      return {.bits = 5, .bias = 128, .minima = true};
    case dtype::q2_k:
      return {.bits = 2, .bias = 128, .minima = true, .halves = true, .super = true};
    case dtype::q3_k:
      return {.bits = 3, .bias = 124, .halves = true, .super = true};
    case dtype::q4_k:
      return {.bits = 4, .bias = 128, .minima = true, .super = true};
    case dtype::q5_k:
      return {.bits = 5, .bias = 128, .minima = true, .super = true};
    case dtype::q6_k:
      return {.bits = 6, .bias = 96, .halves = true, .super = true};
    default:
      return {};
  }
}

/// Whether Member of their layouts is the same for all formats with so many bits.
template <int Bits, auto Member>
constexpr bool agree() {
  const block_layout* first = nullptr;
  block_layout layouts[std::size(core::dtype_table)];
  for (std::size_t i = 0; i < std::size(layouts); ++i) {
    layouts[i] = layout_of(core::dtype_table[i].type);
    if (layouts[i].bits != Bits) continue;
    if (first != nullptr && first->*Member != layouts[i].*Member) return false;
    first = layouts + i;
  }
  return true;
}
/// A layout with so many bits: what all of them have in common is known to the compiler.
template <int Bits>
constexpr block_layout known_layout(block_layout l) {
  constexpr block_layout one = [] {
    for (const core::dtype_info& d : core::dtype_table)
      if (layout_of(d.type).bits == Bits) return layout_of(d.type);
    return block_layout{};
  }();
  l.bits = Bits;
  if constexpr (agree<Bits, &block_layout::bias>()) l.bias = one.bias;
  if constexpr (agree<Bits, &block_layout::minima>()) l.minima = one.minima;
  if constexpr (agree<Bits, &block_layout::halves>()) l.halves = one.halves;
  if constexpr (agree<Bits, &block_layout::super>()) l.super = one.super;
  return l;
}

/// Groups of a matrix with `rows` rows.
constexpr extent groups_of(extent rows) { return (rows + 2 * group - 1) / (2 * group) * 2; }
/// Bytes of a packed group; `cols` is a multiple of the format's block.
constexpr std::size_t group_bytes(dtype format, extent cols) {
  if (format == dtype::f16 || format == dtype::bf16 || format == dtype::bf16_a16)
    return static_cast<std::size_t>(cols * group) * 2;
  const block_layout l = layout_of(format);
  return static_cast<std::size_t>(cols / (block * l.unit())) * l.unit_bytes();
}
}  // namespace detail

constexpr weight_family family_of(dtype format) {
  if (format == dtype::f32) return weight_family::float_rows;
  if (format == dtype::f16) return weight_family::f16_columns;
  if (format == dtype::bf16) return weight_family::bf16_columns;
  if (format == dtype::bf16_a16) return weight_family::rounded_columns;
  const detail::block_layout l = detail::layout_of(format);
  return l.bits == 0 ? weight_family::none : l.span > 1 ? weight_family::int8_spans : weight_family::int8_blocks;
}
/// Whether multiply() takes weights of this format.
constexpr bool has_product(dtype format) { return family_of(format) != weight_family::none; }
// The binder refuses weights in formats that hold none, and so a model never multiplies by one without a product.
static_assert([] {
  for (const core::dtype_info& d : core::dtype_table)
    if (has_product(d.type) != core::holds_weights(d.type)) return false;
  return true;
}());

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
