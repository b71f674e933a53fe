// steno/weights/blocks/quantise.hpp - float values to q8_0, q8_128, q4_0, q4_1, q5_0 and q5_1 blocks.
//
// q8_0, q8_128: d = max|x|/127, q = round(x/d), halves away from zero. q4_0, q5_0: d = m/-8, m/-16 with m the first
// value of largest magnitude, q = min(15, trunc(x/d + 8.5)), min(31, trunc(x/d + 16.5)). q4_1, q5_1: m = min x, d =
// (max x - m) / 15, / 31, q = trunc((x - m)/d + 0.5). The division is a product with 1/d; d and m are rounded to half
// only where they are stored. Follows quantize_row_*_ref of ggml-quants.c. Tested in tests/weights/blocks_test.cpp (the
// bytes of ggml).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/core/fused.hpp>
#include <steno/error.hpp>
#include <steno/weights/blocks/simple.hpp>

#include <algorithm>
#include <string>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace blocks {

/// Bits of the largest |x| of Count values: non-negative floats order as their bits do, and NaN comes out on top.
template <int Count = 32>
std::int32_t largest_magnitude(const float* x) {
  std::int32_t largest = 0;
  for (int i = 0; i < Count; ++i) largest = std::max(largest, core::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  return largest;
}
/// The stored form of scale d; throws when the block of values has no finite one.
inline std::uint16_t checked_scale(std::int32_t largest, float d, std::string_view format) {
  const std::uint16_t half = core::float_to_half(d);
  if (largest >= 0x7f800000 || (half & 0x7fffu) >= 0x7c00u)
    fail({.what = "a value cannot be stored as " + std::string(format),
          .expected = "finite numbers whose scale fits into half precision",
          .found = std::to_string(core::bit_cast<float>(largest))});
  return half;
}
/// The stored form of a minimum; throws when half precision does not hold it.
inline std::uint16_t checked_minimum(float m, std::string_view format) {
  return checked_scale(core::bit_cast<std::int32_t>(m) & 0x7fffffff, m, format);
}
/// 1/d, or 0 where that is no finite number: the stored scale is 0 then, and so are all values.
inline float inverse(float d) {
  const float id = d != 0.0f ? 1.0f / d : 0.0f;
  return (core::bit_cast<std::uint32_t>(id) & 0x7fffffffu) < 0x7f800000u ? id : 0.0f;
}

/// The bytes of Count values; their scale is returned rounded to half.
template <int Count>
std::uint16_t write_bytes(const float* x, std::int8_t* q, std::string_view format) {
  const std::int32_t largest = largest_magnitude<Count>(x);
  const float d = core::bit_cast<float>(largest) / 127.0f;
  const std::uint16_t stored = checked_scale(largest, d, format);
  const float id = inverse(d);
  for (int i = 0; i < Count; ++i) {  // roundf, in a form that vectorises; comparisons cannot be contracted
    const float v = x[i] * id;
    const auto t = static_cast<std::int32_t>(v);
    const auto f = static_cast<float>(t);
    q[i] = static_cast<std::int8_t>(t + (v >= f + 0.5f) - (v <= f - 0.5f));
  }
  return stored;
}
inline void write_block(const float* x, q8_0& b) { set_scale(b.d, write_bytes<32>(x, b.q, "q8_0")); }
inline void write_block(const float* x, q8_128& b) { set_scale(b.d, write_bytes<128>(x, b.q, "q8_128")); }

/// levels[i] = min(2*Half - 1, trunc(x[i]/d + Half + 0.5)) with d = m/-Half, which is returned rounded to half.
template <int Half>
std::uint16_t write_levels(const float* x, std::int32_t (&levels)[32], std::string_view format) {
  const std::int32_t largest = largest_magnitude(x);
  float m = 0.0f;
  for (int i = 31; i >= 0; --i)
    if ((core::bit_cast<std::int32_t>(x[i]) & 0x7fffffff) == largest) m = x[i];
  const float d = m / static_cast<float>(-Half);
  const std::uint16_t stored = checked_scale(largest, d, format);
  const float id = inverse(d);
  float v[32];
  for (int i = 0; i < 32; ++i) v[i] = x[i] * id;
  core::keep_rounded(v);
  for (int i = 0; i < 32; ++i)
    levels[i] = std::min(2 * Half - 1, static_cast<std::int32_t>(v[i] + (static_cast<float>(Half) + 0.5f)));
  return stored;
}
/// The four low bits of 32 levels: value j in the low half of byte j, j + 16 in the high one.
inline void put_nibbles(const std::int32_t (&levels)[32], std::uint8_t (&q)[16]) {
  for (int j = 0; j < 16; ++j) q[j] = static_cast<std::uint8_t>((levels[j] & 15) | (levels[j + 16] & 15) << 4);
}
/// 32 levels of five bits: nibbles, and the fifth bits in a word.
inline void put_five_bits(const std::int32_t (&levels)[32], std::uint8_t (&h)[4], std::uint8_t (&q)[16]) {
  put_nibbles(levels, q);
  std::uint32_t fifth = 0;
  for (int i = 0; i < 32; ++i) fifth |= static_cast<std::uint32_t>(levels[i] >> 4) << i;
  std::memcpy(h, &fifth, sizeof fifth);
}
inline void write_block(const float* x, q4_0& b) {
  std::int32_t n[32];
  set_scale(b.d, write_levels<8>(x, n, "q4_0"));
  put_nibbles(n, b.q);
}
inline void write_block(const float* x, q5_0& b) {
  std::int32_t n[32];
  set_scale(b.d, write_levels<16>(x, n, "q5_0"));
  put_five_bits(n, b.h, b.q);
}

/// levels[i] = trunc((x[i] - m)/d + 0.5), 0..Highest, with m the least value and d = (largest - m)/Highest. Writes both
/// as halves.
template <int Highest>
void write_levels_above(const float* x, std::int32_t (&levels)[32], std::uint8_t* scale, std::uint8_t* minimum,
                        std::string_view format) {
  const std::int32_t largest = largest_magnitude(x);  // finds what is not finite
  float least = x[0], highest = x[0];
  for (int i = 1; i < 32; ++i) {
    least = std::min(least, x[i]);
    highest = std::max(highest, x[i]);
  }
  const float d = (highest - least) / static_cast<float>(Highest);
  set_scale(scale, checked_scale(largest, d, format));
  set_scale(minimum, checked_minimum(least, format));
  const float id = inverse(d);
  float v[32];
  for (int i = 0; i < 32; ++i) v[i] = (x[i] - least) * id;
  core::keep_rounded(v);
  for (int i = 0; i < 32; ++i) levels[i] = std::min(Highest, static_cast<std::int32_t>(v[i] + 0.5f));
}
inline void write_block(const float* x, q4_1& b) {
  std::int32_t n[32];
  write_levels_above<15>(x, n, b.d, b.m, "q4_1");
  put_nibbles(n, b.q);
}
inline void write_block(const float* x, q5_1& b) {
  std::int32_t n[32];
  write_levels_above<31>(x, n, b.d, b.m, "q5_1");
  put_five_bits(n, b.h, b.q);
}

}  // namespace blocks
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
