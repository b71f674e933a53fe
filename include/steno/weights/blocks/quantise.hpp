// steno/weights/blocks/quantise.hpp - float values to q8_0, q4_0 and q5_0 blocks.
//
// q8_0: d = max|x|/127, q = round(x/d), halves away from zero. q4_0, q5_0: d = m/-8, m/-16 with m the first value of
// largest magnitude, q = min(15, trunc(x/d + 8.5)), min(31, trunc(x/d + 16.5)). The division is a product with 1/d; d
// is rounded to half only where it is stored. Follows quantize_row_*_ref of ggml-quants.c. Tested in
// tests/weights/blocks_test.cpp (the bytes of ggml).
#pragma once
#include <steno/error.hpp>
#include <steno/weights/blocks/simple.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace blocks {

/// Bits of the largest |x| of 32 values: non-negative floats order as their bits do, and NaN comes out on top.
inline std::int32_t largest_magnitude(const float* x) {
  std::int32_t largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff);
  return largest;
}
/// The stored form of scale d; throws when the block of values has no finite one.
inline std::uint16_t checked_scale(std::int32_t largest, float d, std::string_view format) {
  const std::uint16_t half = core::float_to_half(d);
  if (largest >= 0x7f800000 || (half & 0x7fffu) >= 0x7c00u)
    fail({.what = "a value cannot be stored as " + std::string(format),
          .expected = "finite numbers whose scale fits into half precision",
          .found = std::to_string(std::bit_cast<float>(largest))});
  return half;
}
/// 1/d, or 0 where that is no finite number: the stored scale is 0 then, and so are all values.
inline float inverse(float d) {
  const float id = d != 0.0f ? 1.0f / d : 0.0f;
  return (std::bit_cast<std::uint32_t>(id) & 0x7fffffffu) < 0x7f800000u ? id : 0.0f;
}

inline void write_block(const float* x, q8_0& b) {
  const std::int32_t largest = largest_magnitude(x);
  const float d = std::bit_cast<float>(largest) / 127.0f;
  set_scale(b.d, checked_scale(largest, d, "q8_0"));
  const float id = inverse(d);
  for (int i = 0; i < 32; ++i) {  // roundf, in a form that vectorises; comparisons cannot be contracted
    const float v = x[i] * id;
    const auto t = static_cast<std::int32_t>(v);
    const auto f = static_cast<float>(t);
    b.q[i] = static_cast<std::int8_t>(t + (v >= f + 0.5f) - (v <= f - 0.5f));
  }
}

/// levels[i] = min(2*Half - 1, trunc(x[i]/d + Half + 0.5)) with d = m/-Half, which is returned rounded to half.
template <int Half>
std::uint16_t write_levels(const float* x, std::int32_t (&levels)[32], std::string_view format) {
  const std::int32_t largest = largest_magnitude(x);
  float m = 0.0f;
  for (int i = 31; i >= 0; --i)
    if ((std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff) == largest) m = x[i];
  const float d = m / static_cast<float>(-Half);
  const std::uint16_t stored = checked_scale(largest, d, format);
  const float id = inverse(d);
  float v[32];
  for (int i = 0; i < 32; ++i) v[i] = x[i] * id;
  asm volatile("" : : "r"(v) : "memory");  // the product is rounded before the addition: no fused multiply-add
  for (int i = 0; i < 32; ++i)
    levels[i] = std::min(2 * Half - 1, static_cast<std::int32_t>(v[i] + (static_cast<float>(Half) + 0.5f)));
  return stored;
}
inline void write_block(const float* x, q4_0& b) {
  std::int32_t n[32];
  set_scale(b.d, write_levels<8>(x, n, "q4_0"));
  for (int j = 0; j < 16; ++j) b.q[j] = static_cast<std::uint8_t>(n[j] | n[j + 16] << 4);
}
inline void write_block(const float* x, q5_0& b) {
  std::int32_t n[32];
  set_scale(b.d, write_levels<16>(x, n, "q5_0"));
  for (int j = 0; j < 16; ++j) b.q[j] = static_cast<std::uint8_t>((n[j] & 15) | (n[j + 16] & 15) << 4);
  std::uint32_t h = 0;
  for (int i = 0; i < 32; ++i) h |= static_cast<std::uint32_t>(n[i] >> 4) << i;
  std::memcpy(b.h, &h, sizeof h);
}

}  // namespace blocks
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
