// steno/kernels/pack.hpp - writes weights in the layout that the product kernels stream: 16 outputs to a vector.
//
// The layout: packed_layout.hpp; what the stored bytes mean: weights/blocks.hpp. Quants are moved, never rounded: the
// packed form means exactly what the file says. Tested in tests/kernels/pack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/kernels/pack_blocks.hpp>
#include <steno/kernels/pack_moves.hpp>
#include <steno/kernels/packed_layout.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

namespace detail {
/// Packs rows [16 g, 16 g + 16) of a matrix. False when one of their values is infinite or no number.
STENO_KERNEL_API bool pack_group(const weights::weight_ref& w, extent g, std::byte* out) noexcept;

#if STENO_KERNEL_BODIES
/// Whether `count` f16 are all finite: none, without its sign, reaches an exponent of ones. They are as many as outputs
/// of a group, or a multiple of that.
inline bool finite_scales(const std::byte* p, std::size_t count) noexcept {
  half_watch watch{0x7c00};
  for (std::size_t i = 0; i < count; i += 8) {
    halves v;
    std::memcpy(&v, p + 2 * i, sizeof v);
    watch.look(v);
  }
  return watch.finite();
}

/// Whether a packed group of blocks means finite values only. Quants always do, so that scales and minima are looked
/// at.
template <dtype Format>
inline bool finite_blocks(extent cols, const std::byte* p) noexcept {
  constexpr block_layout l = layout_of(Format);
  const auto units = static_cast<std::size_t>(cols / (block * l.unit()));
  if constexpr (l.bits == 8)
    return finite_scales(p + static_cast<std::size_t>(cols / block) * group_quants, units * group);
  constexpr std::size_t at = l.super ? 0 : l.plane_bytes(), step = l.bits == 8 ? 0 : l.unit_bytes();
  constexpr std::size_t count = group * (l.super ? 1 : l.vectors()) * (l.minima ? 2 : 1);
  bool finite = true;
  for (std::size_t u = 0; u < units; ++u) finite &= finite_scales(p + u * step + at, count);
  return finite;
}

STENO_KERNEL_BODY bool pack_group(const weights::weight_ref& w, extent g, std::byte* out) noexcept {
  switch (w.format) {
    case dtype::f16:
    case dtype::bf16:
    case dtype::bf16_a16:
      return pack_halves(w, g, out);
    case dtype::q8_0:
      pack_bytes<weights::blocks::q8_0>(w, g, out);
      return finite_blocks<dtype::q8_0>(w.cols, out);
    case dtype::q8_128:
      pack_bytes<weights::blocks::q8_128>(w, g, out);
      return finite_blocks<dtype::q8_128>(w.cols, out);
    case dtype::q4_0:
      pack_nibbles<1>(w, g, out);
      return finite_blocks<dtype::q4_0>(w.cols, out);
    case dtype::q4_1:
      pack_nibbles<2>(w, g, out);
      return finite_blocks<dtype::q4_1>(w.cols, out);
    case dtype::q5_0:
      pack_sorted<weights::blocks::q5_0>(w, g, out);
      return finite_blocks<dtype::q5_0>(w.cols, out);
    case dtype::q5_1:
      pack_sorted<weights::blocks::q5_1>(w, g, out);
      return finite_blocks<dtype::q5_1>(w.cols, out);
    case dtype::q2_k:
      pack_sorted<weights::blocks::q2_k>(w, g, out);
      return finite_blocks<dtype::q2_k>(w.cols, out);
    case dtype::q3_k:
      pack_sorted<weights::blocks::q3_k>(w, g, out);
      return finite_blocks<dtype::q3_k>(w.cols, out);
    case dtype::q4_k:
      pack_sorted<weights::blocks::q4_k>(w, g, out);
      return finite_blocks<dtype::q4_k>(w.cols, out);
    case dtype::q5_k:
      pack_sorted<weights::blocks::q5_k>(w, g, out);
      return finite_blocks<dtype::q5_k>(w.cols, out);
    case dtype::q6_k:
      pack_sorted<weights::blocks::q6_k>(w, g, out);
      return finite_blocks<dtype::q6_k>(w.cols, out);
    case dtype::iq4_nl:
      pack_levels(w, g, out);
      return finite_blocks<dtype::iq4_nl>(w.cols, out);
    default:
      return true;
  }
}
#endif
}  // namespace detail

/// Bytes that pack() writes; 0 when products read w.data in place.
inline std::size_t packed_bytes(const weights::weight_ref& w) {
  if (family_of(w.format) == weight_family::float_rows || !has_product(w.format)) return 0;
  return static_cast<std::size_t>(detail::groups_of(w.rows)) * detail::group_bytes(w.format, w.cols);
}

/// Writes the packed form of w, packed_bytes(w) bytes, best 64-byte aligned. Reads w.data only. False when a value of w
/// is infinite or no number, which a product would spread.
template <class = void>
bool pack(const weights::weight_ref& w, std::byte* out, const executor& run) {
  if (packed_bytes(w) == 0) return true;
  const std::size_t bytes = detail::group_bytes(w.format, w.cols);
  std::atomic<bool> finite = true;
  run.run(detail::groups_of(w.rows), [&](extent g, int) {
    if (!detail::pack_group(w, g, out + static_cast<std::size_t>(g) * bytes))
      finite.store(false, std::memory_order_relaxed);
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
