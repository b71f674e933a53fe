// steno/weights/source.hpp - where weights come from: any type that finds tensors and settings by name.
//
// A GGUF file, an imported checkpoint, random numbers: the binder sees only this concept. Tensors are described with
// the shape in row-major order (outermost first), as the checkpoint's framework prints it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/core/extents.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// A stored tensor: row-major shape (outermost first, `rank` entries), format and bytes.
struct tensor_ref {
  std::string_view name;                    ///< of the checkpoint; refers to the source's memory
  dtype format = dtype::f32;                ///< of the values
  int rank = 0;                             ///< number of dimensions, 0 to 4
  std::array<extent, 4> shape{1, 1, 1, 1};  ///< outermost first; 1 behind the rank
  std::span<const std::byte> bytes;         ///< the values, row by row in whole blocks; belongs to the source

  extent rows() const { return rank == 1 ? 1 : shape[0]; }  ///< 1-D tensors are one row
  /// Values in a row: the product of all dimensions behind the first, of 1-D tensors the length.
  extent cols() const {
    extent n = 1;
    for (int i = rank == 1 ? 0 : 1; i < rank; ++i) n *= shape[static_cast<std::size_t>(i)];
    return n;
  }
  /// "[512 x 80]": for messages.
  STENO_COLD std::string shape_text() const {
    std::string s = "[";
    for (int i = 0; i < rank; ++i) s += (i ? " x " : "") + std::to_string(shape[static_cast<std::size_t>(i)]);
    return s + "]";
  }
};

/// What the binder needs of a source of weights.
template <class S>
concept weight_source = requires(const S& s, std::string_view name, std::size_t i) {
  { s.where() } -> std::convertible_to<std::string>;             // for error messages: the file's name
  { s.find(name) } -> std::same_as<std::optional<tensor_ref>>;   // a tensor by its exact name
  { s.size() } -> std::convertible_to<std::size_t>;              // number of tensors
  { s.tensor(i) } -> std::same_as<tensor_ref>;                   // the i-th tensor
  { s.number(name) } -> std::same_as<std::optional<double>>;     // an integer or real setting
  { s.text(name) } -> std::same_as<std::optional<std::string>>;  // a string setting
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
