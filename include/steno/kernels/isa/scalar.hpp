// steno/kernels/isa/scalar.hpp - the 16-lane float vector in plain C++: the specification of the other two.
//
// Differs from them in one point: fma(a, b, c) may round the product (a processor without FMA would otherwise call a
// library function per lane). Reductions add lanes i and i + 8, then i + 4, i + 2, i + 1, in every instruction set.
// Tested in tests/kernels/isa_test.cpp.
#pragma once
#include <steno/core/half.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace steno::inline STENO_ABI::kernels::scalar {

struct f32x16 {
  float lane[16];
};

/// Number of f32x16 values that a register tile of `tile_rows` rows may be wide (kernels/generic/tile.inl).
inline constexpr int tile_rows = 4, tile_vectors = 1;

template <class F>
STENO_INLINE f32x16 each_lane(F f) {
  f32x16 r;
  for (int i = 0; i < 16; ++i) r.lane[i] = f(i);
  return r;
}

STENO_INLINE f32x16 load(const float* p) {
  return each_lane([=](int i) { return p[i]; });
}
/// The first n lanes from memory (0 <= n <= 16), the others 0; memory behind them is not touched.
STENO_INLINE f32x16 load_n(const float* p, int n) {
  return each_lane([=](int i) { return i < n ? p[i] : 0.0f; });
}
STENO_INLINE void store(float* p, f32x16 a) {
  for (int i = 0; i < 16; ++i) p[i] = a.lane[i];
}
STENO_INLINE void store_n(float* p, f32x16 a, int n) {
  for (int i = 0; i < n; ++i) p[i] = a.lane[i];
}
STENO_INLINE f32x16 broadcast(float x) {
  return each_lane([=](int) { return x; });
}
STENO_INLINE f32x16 zero() { return broadcast(0.0f); }
STENO_INLINE f32x16 load_f16(const std::uint16_t* p) {
  return each_lane([=](int i) { return half_to_float(p[i]); });
}
STENO_INLINE f32x16 load_bf16(const std::uint16_t* p) {
  return each_lane([=](int i) { return bfloat_to_float(p[i]); });
}

STENO_INLINE f32x16 operator+(f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return a.lane[i] + b.lane[i]; });
}
STENO_INLINE f32x16 operator-(f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return a.lane[i] - b.lane[i]; });
}
STENO_INLINE f32x16 operator*(f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return a.lane[i] * b.lane[i]; });
}
STENO_INLINE f32x16 operator/(f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return a.lane[i] / b.lane[i]; });
}
/// a * b + c
STENO_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) {
  return each_lane([=](int i) { return a.lane[i] * b.lane[i] + c.lane[i]; });
}
/// c - a * b
STENO_INLINE f32x16 fnma(f32x16 a, f32x16 b, f32x16 c) {
  return each_lane([=](int i) { return c.lane[i] - a.lane[i] * b.lane[i]; });
}
/// The second where one is not a number, as in the x86 instructions.
STENO_INLINE f32x16 min(f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
STENO_INLINE f32x16 max(f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
STENO_INLINE f32x16 abs(f32x16 a) {
  return each_lane([=](int i) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.lane[i]) & 0x7fffffffu); });
}
/// a < b ? x : y
STENO_INLINE f32x16 where_less(f32x16 a, f32x16 b, f32x16 x, f32x16 y) {
  return each_lane([=](int i) { return a.lane[i] < b.lane[i] ? x.lane[i] : y.lane[i]; });
}
/// The first n lanes of a, the others of b.
STENO_INLINE f32x16 first_n(int n, f32x16 a, f32x16 b) {
  return each_lane([=](int i) { return i < n ? a.lane[i] : b.lane[i]; });
}
/// The magnitude of a with the sign of s; a must not be negative.
STENO_INLINE f32x16 with_sign(f32x16 a, f32x16 s) {
  return each_lane([=](int i) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.lane[i]) |
                                (std::bit_cast<std::uint32_t>(s.lane[i]) & 0x80000000u));
  });
}
/// a * 2^n where `shifted` is n + 1.5 * 2^23: n goes straight into the exponent, whose range the caller answers for.
STENO_INLINE f32x16 times_power_of_two(f32x16 a, f32x16 shifted) {
  return each_lane([=](int i) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.lane[i]) +
                                (std::bit_cast<std::uint32_t>(shifted.lane[i]) << 23));
  });
}

STENO_INLINE float reduce_add(f32x16 a) {
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] + a.lane[i + half];
  return a.lane[0];
}
STENO_INLINE float reduce_max(f32x16 a) {
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
  return a.lane[0];
}
/// Rounds to nearest even and saturates to [-128, 127]; not for NaN.
STENO_INLINE void store_i8(std::int8_t* p, f32x16 a) {
  for (int i = 0; i < 16; ++i) {
    const float bounded = std::min(std::max(a.lane[i], -128.0f), 127.0f);
    const float shifted = bounded + 0x1.8p23f;  // the sum's low bits are the rounded integer
    p[i] = static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(shifted) & 0xffu);
  }
}

/// to[i * to_stride + j] = from[j * from_stride + i] for i, j < 16.
STENO_INLINE void transpose(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) to[i * to_stride + j] = from[j * from_stride + i];
}

#include <steno/kernels/isa/math.inl>
}  // namespace steno::inline STENO_ABI::kernels::scalar
