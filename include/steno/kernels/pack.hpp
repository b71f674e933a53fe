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
