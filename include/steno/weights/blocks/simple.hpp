// steno/weights/blocks/simple.hpp - formats of 32 values with one half-precision scale: q8_0, q4_0, q4_1, q5_0, q5_1,
// iq4_nl; and of 128 values: q8_128.
//
// x = d*q, d*(n - 8), d*n + m, d*(n - 16), d*n + m, d*T[n]; q is a signed byte, n a nibble (value j in the low half of
// byte j, value j + 16 in its high half) with a fifth bit from h in q5. Follows dequantize_row_* of ggml-quants.c bit
// for bit: every product is exact in float (an 11-bit scale times no more than 8 bits), so it does not matter whether a
// compiler contracts the addition into a fused one. Tested in tests/weights/blocks_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/half.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace blocks {

// Halves and words lie unaligned in a file, so they are arrays of bytes.

/// 32 signed bytes with one scale: x = d * q.
struct q8_0 {
  static constexpr std::size_t elements = 32;  ///< values in a block
  std::uint8_t d[2];                           ///< scale, a half
  std::int8_t q[32];                           ///< the values
};
/// 32 nibbles with one scale: x = d * (n - 8).
struct q4_0 {
  static constexpr std::size_t elements = 32;  ///< values in a block
  std::uint8_t d[2];                           ///< scale, a half
  std::uint8_t q[16];                          ///< nibbles: value j in the low half of byte j, j + 16 in the high one
};
/// 32 nibbles with a scale and a minimum: x = d * n + m.
struct q4_1 {
  static constexpr std::size_t elements = 32;  ///< values in a block
  std::uint8_t d[2];                           ///< scale, a half
  std::uint8_t m[2];                           ///< minimum, a half
  std::uint8_t q[16];                          ///< nibbles, as in q4_0
};
/// 32 values of five bits with one scale: x = d * (n - 16).
struct q5_0 {
  static constexpr std::size_t elements = 32;  ///< values in a block
  std::uint8_t d[2];                           ///< scale, a half
  std::uint8_t h[4];                           ///< fifth bits: bit i % 8 of byte i / 8 is that of value i
  std::uint8_t q[16];                          ///< the four low bits, as the nibbles in q4_0
};
/// 32 values of five bits with a scale and a minimum: x = d * n + m.
struct q5_1 {
  static constexpr std::size_t elements = 32;  ///< values in a block
  std::uint8_t d[2];                           ///< scale, a half
  std::uint8_t m[2];                           ///< minimum, a half
  std::uint8_t h[4];                           ///< fifth bits, as in q5_0
  std::uint8_t q[16];                          ///< the four low bits, as the nibbles in q4_0
};
/// 32 nibbles that choose among uneven levels, with one scale: x = d * iq4_nl_levels[n].
struct iq4_nl {
  static constexpr std::size_t elements = 32;  ///< values in a block
  std::uint8_t d[2];                           ///< scale, a half
  std::uint8_t q[16];                          ///< nibbles, as in q4_0
};
/// 128 signed bytes with one scale: x = d * q. Not ggml's, but q8_0 with fewer scales, so that products add up more
/// integers before they become floats.
struct q8_128 {
  static constexpr std::size_t elements = 128;  ///< values in a block
  std::uint8_t d[2];                            ///< scale, a half
  std::int8_t q[128];                           ///< the values
};
static_assert(sizeof(q8_0) == 34 && sizeof(q4_0) == 18 && sizeof(q4_1) == 20 && sizeof(q5_0) == 22 &&
              sizeof(q8_128) == 130 && sizeof(q5_1) == 24 && sizeof(iq4_nl) == 18 && alignof(q5_1) == 1);

/// The sixteen levels of iq4_nl.
inline constexpr std::int8_t iq4_nl_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};

/// A stored half as float.
inline float scale_at(const std::uint8_t* p) {
  std::uint16_t h;
  std::memcpy(&h, p, sizeof h);
  return core::half_to_float(h);
}
/// Stores a half where it need not be aligned.
inline void set_scale(std::uint8_t* p, std::uint16_t half) { std::memcpy(p, &half, sizeof half); }

/// The values of a block as floats; likewise for the formats below.
inline void read_block(const q8_0& b, float* x) {
  const float d = scale_at(b.d);
  for (int i = 0; i < 32; ++i) x[i] = d * static_cast<float>(b.q[i]);
}
inline void read_block(const q8_128& b, float* x) {
  const float d = scale_at(b.d);
  for (int i = 0; i < 128; ++i) x[i] = d * static_cast<float>(b.q[i]);
}
inline void read_block(const q4_0& b, float* x) {
  const float d = scale_at(b.d);
  for (int j = 0; j < 16; ++j) {
    x[j] = d * static_cast<float>((b.q[j] & 15) - 8);
    x[j + 16] = d * static_cast<float>((b.q[j] >> 4) - 8);
  }
}
inline void read_block(const q4_1& b, float* x) {
  const float d = scale_at(b.d), m = scale_at(b.m);
  for (int j = 0; j < 16; ++j) {
    x[j] = d * static_cast<float>(b.q[j] & 15) + m;
    x[j + 16] = d * static_cast<float>(b.q[j] >> 4) + m;
  }
}
/// The five bits of value i (0..31) of a q5_0 or q5_1 block.
inline int five_bits(const std::uint8_t (&h)[4], const std::uint8_t (&q)[16], int i) {
  const int nibble = i < 16 ? q[i] & 15 : q[i - 16] >> 4;
  return nibble | (h[i / 8] >> (i % 8) & 1) << 4;
}
inline void read_block(const q5_0& b, float* x) {
  const float d = scale_at(b.d);
  for (int i = 0; i < 32; ++i) x[i] = d * static_cast<float>(five_bits(b.h, b.q, i) - 16);
}
inline void read_block(const q5_1& b, float* x) {
  const float d = scale_at(b.d), m = scale_at(b.m);
  for (int i = 0; i < 32; ++i) x[i] = d * static_cast<float>(five_bits(b.h, b.q, i)) + m;
}
STENO_ON_CALL inline void read_block(const iq4_nl& b, float* x) {
  const float d = scale_at(b.d);
  for (int j = 0; j < 16; ++j) {
    x[j] = d * static_cast<float>(iq4_nl_levels[b.q[j] & 15]);
    x[j + 16] = d * static_cast<float>(iq4_nl_levels[b.q[j] >> 4]);
  }
}

}  // namespace blocks
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
