// steno/weights/blocks/simple.hpp - formats of 32 values with one half-precision scale: q8_0, q4_0, q4_1, q5_0, q5_1,
// iq4_nl.
//
// x = d*q, d*(n - 8), d*n + m, d*(n - 16), d*n + m, d*T[n]; q is a signed byte, n a nibble (value j in the low half of
// byte j, value j + 16 in its high half) with a fifth bit from h in q5. Follows dequantize_row_* of ggml-quants.c bit
// for bit: every product is exact in float (an 11-bit scale times no more than 8 bits), so it does not matter whether a
// compiler contracts the addition into a fused one. Tested in tests/weights/blocks_test.cpp.
#pragma once
#include <steno/core/half.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace blocks {

// Halves and words lie unaligned in a file, so they are arrays of bytes.
struct q8_0 {
  static constexpr std::size_t elements = 32;
  std::uint8_t d[2];
  std::int8_t q[32];
};
struct q4_0 {
  static constexpr std::size_t elements = 32;
  std::uint8_t d[2];
  std::uint8_t q[16];
};
struct q4_1 {
  static constexpr std::size_t elements = 32;
  std::uint8_t d[2], m[2];
  std::uint8_t q[16];
};
struct q5_0 {
  static constexpr std::size_t elements = 32;
  std::uint8_t d[2];
  std::uint8_t h[4];
  std::uint8_t q[16];
};
struct q5_1 {
  static constexpr std::size_t elements = 32;
  std::uint8_t d[2], m[2];
  std::uint8_t h[4];
  std::uint8_t q[16];
};
struct iq4_nl {
  static constexpr std::size_t elements = 32;
  std::uint8_t d[2];
  std::uint8_t q[16];
};
static_assert(sizeof(q8_0) == 34 && sizeof(q4_0) == 18 && sizeof(q4_1) == 20 && sizeof(q5_0) == 22 &&
              sizeof(q5_1) == 24 && sizeof(iq4_nl) == 18 && alignof(q5_1) == 1);

/// The sixteen levels of iq4_nl.
inline constexpr std::int8_t iq4_nl_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                  1,    13,   25,  38,  53,  69,  89,  113};

/// A stored half as float.
inline float scale_at(const std::uint8_t* p) {
  std::uint16_t h;
  std::memcpy(&h, p, sizeof h);
  return half_to_float(h);
}
inline void set_scale(std::uint8_t* p, std::uint16_t half) { std::memcpy(p, &half, sizeof half); }

inline void read_block(const q8_0& b, float* x) {
  const float d = scale_at(b.d);
  for (int i = 0; i < 32; ++i) x[i] = d * static_cast<float>(b.q[i]);
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
inline void read_block(const iq4_nl& b, float* x) {
  const float d = scale_at(b.d);
  for (int j = 0; j < 16; ++j) {
    x[j] = d * static_cast<float>(iq4_nl_levels[b.q[j] & 15]);
    x[j + 16] = d * static_cast<float>(iq4_nl_levels[b.q[j] >> 4]);
  }
}

}  // namespace blocks
}  // namespace STENO_ABI
}  // namespace steno
