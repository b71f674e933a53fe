// steno/weights/gguf_format.hpp - facts of the GGUF container: value types, tensor types, limits.
//
// Layout (little endian): magic, u32 version, i64 tensors, i64 pairs; pairs (string key, i32 type, value); tensor infos
// (string name, u32 n_dims, i64 ne[n_dims] innermost first, i32 type, u64 offset); zero padding; tensor data, each
// tensor at a multiple of the alignment. A string is u64 length + bytes; an array is i32 type, u64 count, elements.
// Follows gguf.cpp of ggml. Tested in tests/weights/gguf_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Type ids of values in the key-value section.
enum class gguf_type : std::int32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

inline constexpr std::int32_t gguf_types = 13;
inline constexpr std::string_view gguf_magic = "GGUF";
inline constexpr std::uint32_t gguf_version = 3;            ///< what is written; 2 is read too (same layout)
inline constexpr std::uint32_t gguf_alignment = 32;         ///< when general.alignment is absent
inline constexpr std::uint64_t gguf_max_length = 1u << 30;  ///< ggml's limit of string lengths and array counts
inline constexpr std::uint64_t gguf_name_limit = 63;        ///< bytes of a tensor's name
inline constexpr std::uint32_t gguf_rank_limit = 4;
inline constexpr std::string_view gguf_alignment_key = "general.alignment";

/// Bytes of one value; 0 for strings and arrays, whose size is stored with them.
constexpr std::size_t size_of_type(gguf_type t) {
  constexpr std::size_t sizes[gguf_types] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[static_cast<std::size_t>(t)];
}
constexpr std::string_view name_of(gguf_type t) {
  constexpr std::string_view names[gguf_types] = {"u8",   "i8",  "u16",   "i16", "u32", "i32", "f32",
                                                  "bool", "str", "array", "u64", "i64", "f64"};
  return names[static_cast<std::size_t>(t)];
}
constexpr bool is_gguf_type(std::int32_t id) { return id >= 0 && id < gguf_types; }
constexpr bool is_power_of_two(std::uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

namespace detail {
// ggml's formats that steno can list and copy but not compute with. Removed ids (4, 5, 31-33, 36-38) are absent.
struct foreign_format {
  std::int32_t id;
  std::string_view name;
  std::size_t elements, bytes;
};
inline constexpr foreign_format foreign_formats[] = {
    {9, "q8_1", 32, 36},      {15, "q8_k", 256, 292}, {16, "iq2_xxs", 256, 66}, {17, "iq2_xs", 256, 74},
    {18, "iq3_xxs", 256, 98}, {19, "iq1_s", 256, 50}, {21, "iq3_s", 256, 110},  {22, "iq2_s", 256, 82},
    {23, "iq4_xs", 256, 136}, {24, "i8", 1, 1},       {25, "i16", 1, 2},        {27, "i64", 1, 8},
    {28, "f64", 1, 8},        {29, "iq1_m", 256, 56}, {34, "tq1_0", 256, 54},   {35, "tq2_0", 256, 66},
    {39, "mxfp4", 32, 17},    {40, "nvfp4", 64, 36},  {41, "q1_0", 128, 18},    {42, "q2_0", 64, 18},
};
}  // namespace detail

/// Name and block of any tensor type that ggml has, also of those steno only copies; nothing for other ids.
constexpr std::optional<core::dtype_info> find_ggml_type(std::int32_t id) {
  if (const auto known = core::find_dtype(id)) return known;
  for (const auto& f : detail::foreign_formats)
    if (f.id == id) return core::dtype_info{static_cast<dtype>(id), f.name, f.elements, f.bytes};
  return std::nullopt;
}
/// ggml's name of a tensor's format, for messages: "q4_k", "iq2_xxs", "type 77".
STENO_COLD inline std::string format_name(dtype t) {
  const auto known = find_ggml_type(static_cast<std::int32_t>(t));
  return known ? std::string(known->name) : "type " + std::to_string(static_cast<std::int32_t>(t));
}

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
