// steno/core/dtype.hpp - number formats of stored tensors: their ggml ids, names and block sizes.
//
// Values are ggml's type ids, so a GGUF tag converts by a checked cast; ggml has neither q8_128 nor bf16_a16, whose ids
// are far from its own. Block layouts and dequantisation are in weights/blocks.hpp. Tested in
// tests/weights/blocks_test.cpp and gguf_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

/// A number format; the values are ggml's type ids, but for q8_128 and bf16_a16.
enum class dtype : std::int32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq4_nl = 20,
  i32 = 26,
  bf16 = 30,
  bf16_a16 = 20030,  ///< steno's own: stored as bf16 is, and products round activations to bfloat16, too
  q8_128 = 20128,    ///< steno's own: q8_0 with a scale for every 128 values
  any = -1,          ///< as a template argument: whatever the file holds
};

namespace core {
/// How a format is stored: `elements` values take `bytes` bytes; rows are whole blocks.
struct dtype_info {
  dtype type;             ///< the format that this row is about
  std::string_view name;  ///< as ggml writes it: "f32", "q4_k"
  std::size_t elements;   ///< values in a block; 1 for formats without blocks
  std::size_t bytes;      ///< size of a block
};

/// Every format that steno knows.
inline constexpr dtype_info dtype_table[] = {
    {dtype::f32, "f32", 1, 4},       {dtype::f16, "f16", 1, 2},           {dtype::bf16, "bf16", 1, 2},
    {dtype::q8_0, "q8_0", 32, 34},   {dtype::q4_0, "q4_0", 32, 18},       {dtype::q4_1, "q4_1", 32, 20},
    {dtype::q5_0, "q5_0", 32, 22},   {dtype::q5_1, "q5_1", 32, 24},       {dtype::iq4_nl, "iq4_nl", 32, 18},
    {dtype::q2_k, "q2_k", 256, 84},  {dtype::q3_k, "q3_k", 256, 110},     {dtype::q4_k, "q4_k", 256, 144},
    {dtype::q5_k, "q5_k", 256, 176}, {dtype::q6_k, "q6_k", 256, 210},     {dtype::q8_128, "q8_128", 128, 130},
    {dtype::i32, "i32", 1, 4},       {dtype::bf16_a16, "bf16_a16", 1, 2},
};

/// The format with this ggml id, or nothing when steno does not know it.
constexpr std::optional<dtype_info> find_dtype(std::int32_t ggml_id) {
  for (const dtype_info& d : dtype_table)
    if (static_cast<std::int32_t>(d.type) == ggml_id) return d;
  return std::nullopt;
}
/// The format with this name, or nothing when steno does not know it.
constexpr std::optional<dtype_info> find_dtype(std::string_view name) {
  for (const dtype_info& d : dtype_table)
    if (d.name == name) return d;
  return std::nullopt;
}
/// Facts of a known format (`any` and unknown ids have none: name "?", sizes 0).
constexpr dtype_info info(dtype t) {
  const auto d = find_dtype(static_cast<std::int32_t>(t));
  return d ? *d : dtype_info{t, "?", 0, 0};
}
/// Whether values of a format are weights: every known one but the integers.
constexpr bool holds_weights(dtype t) { return info(t).elements != 0 && t != dtype::i32; }
/// Bytes of `count` values; count must be a multiple of the block.
constexpr std::size_t bytes_of(dtype t, std::size_t count) { return count / info(t).elements * info(t).bytes; }
}  // namespace core

}  // namespace STENO_ABI
}  // namespace steno
