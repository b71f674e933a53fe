// steno/kernels/pack.hpp - the layout of int8 weights that the product kernels stream: 16 outputs to a vector.
//
// Formats fall into two families. float_rows (f32, f16, bf16): products read the stored rows, nothing is packed.
// int8_blocks (q8_0; others will be repacked into it): groups of 16 rows of the weight, K / 32 blocks each:
//   quants  blocks x [8][16][4] u8   byte (j, c, i) = q[row c of the group][32 b + 4 j + i] + 128
//   scales  blocks x [16] f16
// Rows beyond the last are quants of 128 (zero) and scale 0; the number of groups is even, since tiles take two. The
// +128 makes the bytes unsigned, as vpdpbusd wants them; the kernels take it off again through the start value -128 *
// sum(x) of the accumulator. Bytes per weight stay 34 / 32. Tested in tests/kernels/pack_test.cpp.
#pragma once
#include <steno/core/executor.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno::inline STENO_ABI::kernels {

/// How products treat a stored format; `none`: there is no product for it.
enum class weight_family { none, float_rows, int8_blocks };

constexpr weight_family family_of(dtype format) {
  switch (format) {
    case dtype::f32:
    case dtype::f16:
    case dtype::bf16:
      return weight_family::float_rows;
    case dtype::q8_0:
      return weight_family::int8_blocks;
    default:
      return weight_family::none;
  }
}
/// Whether multiply() takes weights of this format.
constexpr bool has_product(dtype format) { return family_of(format) != weight_family::none; }

namespace detail {
inline constexpr extent block = 32;               // values that share a scale
inline constexpr extent group = 16;               // outputs that share a vector
inline constexpr std::size_t group_quants = 512;  // bytes of one block of a group
inline constexpr std::size_t group_scales = 32;
inline constexpr std::size_t q8_0_bytes = 34;

/// Groups of a matrix with `rows` rows.
constexpr extent groups_of(extent rows) { return (rows + 2 * group - 1) / (2 * group) * 2; }
constexpr std::size_t group_bytes(extent cols) {
  return static_cast<std::size_t>(cols / block) * (group_quants + group_scales);
}

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
inline void pack_group(const weight_ref& w, extent g, std::byte* out) noexcept {
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
}  // namespace detail

/// Bytes that pack() writes; 0 when products read w.data in place.
inline std::size_t packed_bytes(const weight_ref& w) {
  if (family_of(w.format) != weight_family::int8_blocks) return 0;
  return static_cast<std::size_t>(detail::groups_of(w.rows)) * detail::group_bytes(w.cols);
}

/// Writes the packed form of w, packed_bytes(w) bytes, best 64-byte aligned. Reads w.data only.
inline void pack(const weight_ref& w, std::byte* out, const executor& run) {
  if (packed_bytes(w) == 0) return;
  const std::size_t bytes = detail::group_bytes(w.cols);
  run.run(detail::groups_of(w.rows),
          [&](extent g, int) { detail::pack_group(w, g, out + static_cast<std::size_t>(g) * bytes); });
}

}  // namespace steno::inline STENO_ABI::kernels
