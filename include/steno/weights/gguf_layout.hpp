// steno/weights/gguf_layout.hpp - how many bytes a tensor takes in a GGUF file, with every check that reader and writer
// share: rank, element count below 2^63, rows of whole blocks, size below 2^64.
//
// bytes = elements / block elements * block bytes; the next tensor begins at the next multiple of the alignment.
// Tested in tests/weights/gguf_test.cpp and gguf_writer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/extents.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/gguf_format.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace detail {

/// What is wrong with a tensor's description.
struct layout_fault {
  std::string what, expected, found;
};

/// Sets `bytes` to the size of a tensor with a row-major shape; or says what is wrong.
STENO_ON_CALL STENO_COLD inline std::optional<layout_fault> measure_tensor(std::span<const extent> shape,
                                                                           std::int32_t type, std::uint64_t& bytes) {
  if (shape.size() > gguf_rank_limit)
    return layout_fault{"number of dimensions", "up to 4", std::to_string(shape.size())};
  std::uint64_t elements = 1, bound = 1;  // bound counts empty dimensions as 1: no part of the shape may overflow
  for (const extent n : shape) {
    if (n < 0) return layout_fault{"dimension", "0 or more", std::to_string(n)};
    const auto u = static_cast<std::uint64_t>(n);
    if (!checked_multiply(bound, std::max<std::uint64_t>(u, 1), bound) || !std::in_range<extent>(bound))
      return layout_fault{"number of elements", "below 2^" + std::to_string(std::numeric_limits<extent>::digits),
                          "more"};
    elements *= u;
  }
  const auto known = find_ggml_type(type);
  if (!known) return layout_fault{"type", "an id that ggml has", std::to_string(type)};
  const std::uint64_t inner = shape.empty() ? 1 : static_cast<std::uint64_t>(shape.back());
  if (inner % known->elements != 0)
    return layout_fault{"row length in " + std::string(known->name), "a multiple of " + std::to_string(known->elements),
                        std::to_string(inner)};
  if (!checked_multiply(elements / known->elements, known->bytes, bytes))
    return layout_fault{"size of the data", "below 2^64 bytes", "more"};
  return std::nullopt;
}

/// end = end + bytes, rounded up to the alignment; false when it does not fit.
[[nodiscard]] inline bool append_padded(std::uint64_t& end, std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t padded = 0;
  return checked_round_up(bytes, alignment, padded) && checked_add(end, padded, end);
}

}  // namespace detail
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
