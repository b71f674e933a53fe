// steno/kernels/pack.hpp - writes weights in the layout that the product kernels stream: 16 outputs to a vector.
//
// The layout: packed_layout.hpp; what the stored bytes mean: weights/blocks.hpp. Quants are moved, never rounded: the
// packed form means exactly what the file says. Tested in tests/kernels/pack_test.cpp.
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

namespace steno::inline STENO_ABI::kernels {

namespace detail {
/// Packs rows [16 g, 16 g + 16) of a matrix.
STENO_KERNEL_API void pack_group(const weight_ref& w, extent g, std::byte* out) noexcept;

#if STENO_KERNEL_BODIES
STENO_KERNEL_API void pack_group(const weight_ref& w, extent g, std::byte* out) noexcept {
  switch (w.format) {
    case dtype::q8_0:
      return pack_bytes(w, g, out);
    case dtype::q4_0:
      return pack_nibbles<1>(w, g, out);
    case dtype::q4_1:
      return pack_nibbles<2>(w, g, out);
    case dtype::f16:
    case dtype::bf16:
      return pack_halves(w, g, out);
    case dtype::q5_0:
      return pack_sorted<blocks::q5_0>(w, g, out);
    case dtype::q5_1:
      return pack_sorted<blocks::q5_1>(w, g, out);
    case dtype::q2_k:
      return pack_sorted<blocks::q2_k>(w, g, out);
    case dtype::q3_k:
      return pack_sorted<blocks::q3_k>(w, g, out);
    case dtype::q4_k:
      return pack_sorted<blocks::q4_k>(w, g, out);
    case dtype::q5_k:
      return pack_sorted<blocks::q5_k>(w, g, out);
    case dtype::q6_k:
      return pack_sorted<blocks::q6_k>(w, g, out);
    case dtype::iq4_nl:
      return pack_levels(w, g, out);
    default:
      return;
  }
}
#endif

/// Whether `count` 16-bit floats are all finite: none, without its sign, reaches an exponent of ones.
inline bool finite_halves(const std::byte* p, std::size_t count, std::int16_t exponent) noexcept {
  std::int16_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int16_t v;
    std::memcpy(&v, p + 2 * i, sizeof v);
    v = static_cast<std::int16_t>(v & 0x7fff);
    most = v > most ? v : most;
  }
  return most < exponent;
}

/// Whether a packed group means finite values only. Quants always do, so that scales and minima are looked at.
inline bool finite_group(dtype format, extent cols, const std::byte* p) noexcept {
  constexpr std::int16_t half = 0x7c00, bfloat = 0x7f80;
  if (format == dtype::f16 || format == dtype::bf16)
    return finite_halves(p, static_cast<std::size_t>(cols * group), format == dtype::f16 ? half : bfloat);
  const block_layout l = layout_of(format);
  const auto units = static_cast<std::size_t>(cols / (block * l.unit()));
  if (l.bits == 8) return finite_halves(p + units * group_quants, units * group, half);
  const std::size_t at = l.super ? 0 : l.plane_bytes();
  const std::size_t count = group * (l.super ? 1 : l.vectors()) * (l.minima ? 2 : 1);
  bool finite = true;
  for (std::size_t u = 0; u < units; ++u) finite &= finite_halves(p + u * l.unit_bytes() + at, count, half);
  return finite;
}
}  // namespace detail

/// Bytes that pack() writes; 0 when products read w.data in place.
inline std::size_t packed_bytes(const weight_ref& w) {
  if (family_of(w.format) == weight_family::float_rows || !has_product(w.format)) return 0;
  return static_cast<std::size_t>(detail::groups_of(w.rows)) * detail::group_bytes(w.format, w.cols);
}

/// Writes the packed form of w, packed_bytes(w) bytes, best 64-byte aligned. Reads w.data only. False when a value of w
/// is infinite or no number, which a product would spread; looking costs some 3 % of loading 16-bit floats, else less.
inline bool pack(const weight_ref& w, std::byte* out, const executor& run) {
  if (packed_bytes(w) == 0) return true;
  const std::size_t bytes = detail::group_bytes(w.format, w.cols);
  std::atomic<bool> finite = true;
  run.run(detail::groups_of(w.rows), [&](extent g, int) {
    std::byte* const to = out + static_cast<std::size_t>(g) * bytes;
    detail::pack_group(w, g, to);
    if (!detail::finite_group(w.format, w.cols, to)) finite.store(false, std::memory_order_relaxed);
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace steno::inline STENO_ABI::kernels
