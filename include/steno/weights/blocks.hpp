// steno/weights/blocks.hpp - values of any stored format as floats, and floats as a stored format.
//
// The scalar specification of what the bytes mean; layouts are in blocks/simple.hpp and blocks/k.hpp, products over
// them in kernels/. Equal to ggml's reference routines bit for bit (it has neither q8_128 nor bf16_a16).
// Tested in tests/weights/blocks_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/weights/blocks/floats.hpp>
#include <steno/weights/blocks/k.hpp>
#include <steno/weights/blocks/quantise.hpp>
#include <steno/weights/blocks/quantise_k.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/gguf_format.hpp>
#include <steno/weights/source.hpp>

#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

namespace detail {
template <class Block>
void read_blocks(const std::byte* src, float* dst, std::size_t count) {
  const auto* b = reinterpret_cast<const Block*>(src);  // arrays of bytes: no alignment
  for (std::size_t i = 0; i < count / Block::elements; ++i) blocks::read_block(b[i], dst + i * Block::elements);
}
template <class Block>
void write_blocks(const float* src, std::byte* dst, std::size_t count) {
  auto* b = reinterpret_cast<Block*>(dst);
  for (std::size_t i = 0; i < count / Block::elements; ++i) blocks::write_block(src + i * Block::elements, b[i]);
}
inline void check_blocks(dtype format, std::size_t count) {
  const std::size_t n = core::info(format).elements;
  if (n != 0 && count % n != 0)
    fail({.what = "number of values in " + format_name(format),
          .expected = "a multiple of " + std::to_string(n),
          .found = std::to_string(count)});
}
}  // namespace detail

/// Writes `count` values (whole blocks) stored at `src` in `format` to dst[count]. Needs no alignment. Throws for a
/// format that steno cannot compute with.
STENO_ON_CALL inline void dequantise(dtype format, const std::byte* src, float* dst, std::size_t count) {
  detail::check_blocks(format, count);
  switch (format) {
    case dtype::f32:
      return blocks::read_f32(src, dst, count);
    case dtype::f16:
      return blocks::read_f16(src, dst, count);
    case dtype::bf16:
    case dtype::bf16_a16:
      return blocks::read_bf16(src, dst, count);
    case dtype::i32:
      return blocks::read_i32(src, dst, count);
    case dtype::q8_0:
      return detail::read_blocks<blocks::q8_0>(src, dst, count);
    case dtype::q8_128:
      return detail::read_blocks<blocks::q8_128>(src, dst, count);
    case dtype::q4_0:
      return detail::read_blocks<blocks::q4_0>(src, dst, count);
    case dtype::q4_1:
      return detail::read_blocks<blocks::q4_1>(src, dst, count);
    case dtype::q5_0:
      return detail::read_blocks<blocks::q5_0>(src, dst, count);
    case dtype::q5_1:
      return detail::read_blocks<blocks::q5_1>(src, dst, count);
    case dtype::iq4_nl:
      return detail::read_blocks<blocks::iq4_nl>(src, dst, count);
    case dtype::q2_k:
      return detail::read_blocks<blocks::q2_k>(src, dst, count);
    case dtype::q3_k:
      return detail::read_blocks<blocks::q3_k>(src, dst, count);
    case dtype::q4_k:
      return detail::read_blocks<blocks::q4_k>(src, dst, count);
    case dtype::q5_k:
      return detail::read_blocks<blocks::q5_k>(src, dst, count);
    case dtype::q6_k:
      return detail::read_blocks<blocks::q6_k>(src, dst, count);
    case dtype::any:
      break;
  }
  fail({.what = "number format " + format_name(format) + " is not supported"});
}

/// Whether quantise() knows the format.
constexpr bool can_quantise(dtype format) {
  return format == dtype::f32 || format == dtype::f16 || format == dtype::bf16 || format == dtype::q8_0 ||
         format == dtype::q4_0 || format == dtype::q4_1 || format == dtype::q5_0 || format == dtype::q5_1 ||
         format == dtype::q4_k || format == dtype::q5_k || format == dtype::q6_k || format == dtype::q8_128 ||
         format == dtype::bf16_a16;
}

/// Stores src[count] (whole blocks) in `format` at `dst`, which holds bytes_of(format, count) bytes. Throws for a
/// format that cannot be written and, in block formats, for values that are not finite.
inline void quantise(dtype format, const float* src, std::byte* dst, std::size_t count) {
  detail::check_blocks(format, count);
  switch (format) {
    case dtype::f32:
      return blocks::write_f32(src, dst, count);
    case dtype::f16:
      return blocks::write_f16(src, dst, count);
    case dtype::bf16:
    case dtype::bf16_a16:
      return blocks::write_bf16(src, dst, count);
    case dtype::q8_0:
      return detail::write_blocks<blocks::q8_0>(src, dst, count);
    case dtype::q8_128:
      return detail::write_blocks<blocks::q8_128>(src, dst, count);
    case dtype::q4_0:
      return detail::write_blocks<blocks::q4_0>(src, dst, count);
    case dtype::q4_1:
      return detail::write_blocks<blocks::q4_1>(src, dst, count);
    case dtype::q5_0:
      return detail::write_blocks<blocks::q5_0>(src, dst, count);
    case dtype::q5_1:
      return detail::write_blocks<blocks::q5_1>(src, dst, count);
    case dtype::q4_k:
      return detail::write_blocks<blocks::q4_k>(src, dst, count);
    case dtype::q5_k:
      return detail::write_blocks<blocks::q5_k>(src, dst, count);
    case dtype::q6_k:
      return detail::write_blocks<blocks::q6_k>(src, dst, count);
    default:
      fail({.what = "number format " + format_name(format) + " cannot be written"});
  }
}

/// All values of a tensor, row-major; `where` names its file in the error for a format that steno cannot compute with.
STENO_ON_CALL inline std::vector<float> values_of(const tensor_ref& t, const std::string& where) {
  const core::dtype_info format = core::info(t.format);
  if (format.elements == 0)
    fail({.where = where,
          .what = "tensor " + quoted(t.name) + ": number format " + format_name(t.format) + " is not supported"});
  std::vector<float> values(t.bytes.size() / format.bytes * format.elements);
  dequantise(t.format, t.bytes.data(), values.data(), values.size());
  return values;
}

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
