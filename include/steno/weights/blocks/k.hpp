// steno/weights/blocks/k.hpp - ggml's K formats: 256 values in groups of 16 or 32 whose scales are small integers.
//
// q2_k, q4_k, q5_k: x = (d*scale)*v - dmin*minimum; q3_k, q6_k: x = (d*scale)*v. Follows dequantize_row_q*_K of
// ggml-quants.c bit for bit. Products are exact in float (11 bits of d, up to 8 of the scale, 5 or 6 of v, 24 in all;
// q6_k has 8 + 6 bits and rounds once, in its only product), so contraction of the subtraction into a fused one changes
// nothing. Tested in tests/weights/blocks_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/blocks/simple.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace weights {
namespace blocks {

/// 256 values of 2 bits in 16 groups, each with a scale and a minimum of 4 bits: x = d * scale * v - dmin * minimum.
struct q2_k {
  static constexpr std::size_t elements = 256;  ///< values in a block
  std::uint8_t s[16];                           ///< of each group: scale in the low half, minimum in the high one
  std::uint8_t q[64];                           ///< the values, four in a byte
  std::uint8_t d[2];                            ///< scale of the scales, a half
  std::uint8_t dmin[2];                         ///< scale of the minima, a half
};
/// 256 values of 3 bits in 16 groups, each with a signed scale of 6 bits: x = d * scale * v, v in -4..3.
struct q3_k {
  static constexpr std::size_t elements = 256;  ///< values in a block
  std::uint8_t high[32];                        ///< third bit of each value, inverted: 0 takes 4 away
  std::uint8_t q[64];                           ///< the two low bits of each value, four values in a byte
  std::uint8_t s[12];                           ///< the groups' scales, see q3_k_scale()
  std::uint8_t d[2];                            ///< scale of the scales, a half
};
/// 256 values of 4 bits in 8 groups, each with a scale and a minimum of 6 bits: x = d * scale * v - dmin * minimum.
struct q4_k {
  static constexpr std::size_t elements = 256;  ///< values in a block
  std::uint8_t d[2];                            ///< scale of the scales, a half
  std::uint8_t dmin[2];                         ///< scale of the minima, a half
  std::uint8_t s[12];                           ///< the groups' scales and minima, see k_scale()
  std::uint8_t q[128];                          ///< the values, two in a byte
};
/// 256 values of 5 bits in 8 groups, otherwise as q4_k.
struct q5_k {
  static constexpr std::size_t elements = 256;  ///< values in a block
  std::uint8_t d[2];                            ///< scale of the scales, a half
  std::uint8_t dmin[2];                         ///< scale of the minima, a half
  std::uint8_t s[12];                           ///< the groups' scales and minima, see k_scale()
  std::uint8_t high[32];                        ///< fifth bit of each value
  std::uint8_t q[128];                          ///< the four low bits of each value, two values in a byte
};
/// 256 values of 6 bits in 16 groups, each with a signed scale of 8 bits: x = d * scale * v, v in -32..31.
struct q6_k {
  static constexpr std::size_t elements = 256;  ///< values in a block
  std::uint8_t low[128];                        ///< the four low bits of each value, two values in a byte
  std::uint8_t high[64];                        ///< the two high bits of each value, four values in a byte
  std::int8_t s[16];                            ///< the groups' scales
  std::uint8_t d[2];                            ///< scale of the scales, a half
};
static_assert(sizeof(q2_k) == 84 && sizeof(q3_k) == 110 && sizeof(q4_k) == 144 && sizeof(q5_k) == 176 &&
              sizeof(q6_k) == 210 && alignof(q6_k) == 1);

/// Scale of group g (0..15) of q3_k, -32..31: four low bits in s[0..7], two high bits in s[8..11].
inline int q3_k_scale(const std::uint8_t (&s)[12], int g) {
  const int low = g < 8 ? s[g] & 15 : s[g - 8] >> 4;
  const int high = s[8 + g % 4] >> (2 * (g / 4)) & 3;
  return (low | high << 4) - 32;
}
/// Integer scale and minimum of a group of q4_k or q5_k, each 0..63.
struct scale_and_minimum {
  int scale;    ///< times d: the step between levels
  int minimum;  ///< times dmin: what is taken away from each value
};
/// Scale and minimum of group g (0..7) of q4_k and q5_k: six bits each in twelve bytes.
inline scale_and_minimum k_scale(const std::uint8_t (&s)[12], int g) {
  if (g < 4) return {s[g] & 63, s[g + 4] & 63};
  return {(s[g + 4] & 15) | (s[g - 4] >> 6) << 4, (s[g + 4] >> 4) | (s[g] >> 6) << 4};
}

inline void read_block(const q2_k& b, float* x) {
  const float d = scale_at(b.d), dmin = scale_at(b.dmin);
  for (int g = 0; g < 16; ++g) {  // group 8*half + 2*j + k: bits 2j of q[32*half + 16*k + l]
    const int half = g / 8, j = g / 2 % 4, k = g % 2;
    const float scale = d * static_cast<float>(b.s[g] & 15), minimum = dmin * static_cast<float>(b.s[g] >> 4);
    for (int l = 0; l < 16; ++l)
      x[16 * g + l] = scale * static_cast<float>(b.q[32 * half + 16 * k + l] >> (2 * j) & 3) - minimum;
  }
}
inline void read_block(const q3_k& b, float* x) {
  const float d = scale_at(b.d);
  for (int g = 0; g < 16; ++g) {  // as q2_k; the third bit is bit 4*half + j of high[16*k + l], inverted
    const int half = g / 8, j = g / 2 % 4, k = g % 2;
    const float scale = d * static_cast<float>(q3_k_scale(b.s, g));
    for (int l = 0; l < 16; ++l) {
      const int low = b.q[32 * half + 16 * k + l] >> (2 * j) & 3;
      const int bit = b.high[16 * k + l] >> (4 * half + j) & 1;
      x[16 * g + l] = scale * static_cast<float>(low + 4 * bit - 4);
    }
  }
}
inline void read_block(const q4_k& b, float* x) {
  const float d = scale_at(b.d), dmin = scale_at(b.dmin);
  for (int g = 0; g < 8; ++g) {  // groups 2p and 2p + 1 are the low and high halves of q[32*p + l]
    const auto [s, m] = k_scale(b.s, g);
    const float scale = d * static_cast<float>(s), minimum = dmin * static_cast<float>(m);
    for (int l = 0; l < 32; ++l)
      x[32 * g + l] = scale * static_cast<float>(b.q[32 * (g / 2) + l] >> (4 * (g % 2)) & 15) - minimum;
  }
}
inline void read_block(const q5_k& b, float* x) {
  const float d = scale_at(b.d), dmin = scale_at(b.dmin);
  for (int g = 0; g < 8; ++g) {
    const auto [s, m] = k_scale(b.s, g);
    const float scale = d * static_cast<float>(s), minimum = dmin * static_cast<float>(m);
    for (int l = 0; l < 32; ++l) {
      const int low = b.q[32 * (g / 2) + l] >> (4 * (g % 2)) & 15, bit = b.high[l] >> g & 1;
      x[32 * g + l] = scale * static_cast<float>(low | bit << 4) - minimum;
    }
  }
}
inline void read_block(const q6_k& b, float* x) {
  const float d = scale_at(b.d);
  for (int g = 0; g < 16; ++g) {  // group 8*half + 2*j + k: values 128*half + 32*j + 16*k + l
    const int half = g / 8, j = g / 2 % 4, k = g % 2;
    const float scale = d * static_cast<float>(b.s[g]);
    for (int l = 0; l < 16; ++l) {
      const int low = b.low[64 * half + 32 * (j & 1) + 16 * k + l] >> (4 * (j / 2)) & 15;
      const int high = b.high[32 * half + 16 * k + l] >> (2 * j) & 3;
      x[16 * g + l] = scale * static_cast<float>((low | high << 4) - 32);
    }
  }
}

}  // namespace blocks
}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
