// steno/kernels/precision.hpp - how exact attention and its caches are beside weights of a format.
//
// Weights in blocks of small integers are off by far more than 16 bits are, and what meets them is rounded to 8 bits in
// blocks in every product, so attention may round to 16 bits or to bfloat16; so it may beside bf16_a16, whose products
// round to bfloat16. Other floats of any width are kept as they are.
// Decided here alone, for every layer. Tested in tests/kernels/precision_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/kernels/packed_layout.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace kernels {

/// Whether products with weights of this format round what they are multiplied by: attention_options::rounds.
constexpr bool rounds_beside(dtype weights) noexcept {
  return is_int8(family_of(weights)) || family_of(weights) == weight_family::rounded_columns;
}

/// How an encoder's keys and values are packed for many calls of a decoder.
constexpr dtype packed_format_beside(dtype weights) noexcept {
  return rounds_beside(weights) ? dtype::f16 : dtype::f32;
}

/// How keys and values of a text are usually kept: as floats, which changes nothing, beside weights that are floats of
/// any width; as halves beside block formats, whose own error is a hundred times larger.
constexpr dtype cache_format_beside(dtype weights) noexcept { return rounds_beside(weights) ? dtype::f16 : dtype::f32; }

}  // namespace kernels
}  // namespace STENO_ABI
}  // namespace steno
