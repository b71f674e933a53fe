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
  if (w.format == dtype::q8_0) return pack_bytes(w, g, out);
  if (w.format == dtype::q4_0) return pack_nibbles<1>(w, g, out);
  if (w.format == dtype::q4_1) return pack_nibbles<2>(w, g, out);
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
