// steno/kernels/isa/scalar.hpp - the 16-lane float vector without instructions of its own: the specification of the
// other two.
//
// Four groups of four lanes in the compilers' vector extension, so that a baseline build gets SSE or NEON and short
// compile times. Differs from the others in one point: fma(a, b, c) may round the product (a processor without FMA
// would otherwise call a library function per lane). Reductions add lanes i and i + 8, then i + 4, i + 2, i + 1, in
// every instruction set. Tested in tests/kernels/isa_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/core/half.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::scalar {

using four = float __attribute__((vector_size(16)));
using four_words = std::uint32_t __attribute__((vector_size(16)));
using four_halves = std::uint16_t __attribute__((vector_size(8)));
using four_bytes = std::int8_t __attribute__((vector_size(4)));

struct f32x16 {
  four a, b, c, d;  // lanes 0-3, 4-7, 8-11, 12-15
};

/// Rows and vectors of a register tile that this instruction set has registers for.
inline constexpr int tile_rows = 4, tile_vectors = 1;

STENO_INLINE four load_four(const float* p) {
  four r;
  std::memcpy(&r, p, sizeof r);
  return r;
}
STENO_INLINE void store_four(float* p, four x) { std::memcpy(p, &x, sizeof x); }
STENO_INLINE four_words words(four x) { return reinterpret_cast<four_words>(x); }
STENO_INLINE four floats(four_words x) { return reinterpret_cast<four>(x); }

STENO_INLINE f32x16 load(const float* p) {
  return {load_four(p), load_four(p + 4), load_four(p + 8), load_four(p + 12)};
}
STENO_INLINE void store(float* p, f32x16 x) {
  store_four(p, x.a);
  store_four(p + 4, x.b);
  store_four(p + 8, x.c);
  store_four(p + 12, x.d);
}
/// The first n lanes from memory (0 <= n <= 16), the others 0; memory behind them is not touched.
STENO_INLINE f32x16 load_n(const float* p, int n) {
  float lanes[16] = {};
  for (int i = 0; i < n; ++i) lanes[i] = p[i];
  return load(lanes);
}
STENO_INLINE void store_n(float* p, f32x16 x, int n) {
  float lanes[16];
  store(lanes, x);
  for (int i = 0; i < n; ++i) p[i] = lanes[i];
}
STENO_INLINE f32x16 broadcast(float x) {
  const four r = {x, x, x, x};
  return {r, r, r, r};
}
STENO_INLINE f32x16 zero() { return broadcast(0.0f); }
/// Zero-extended.
STENO_INLINE four_words load_halves(const std::uint16_t* p) {
  four_halves h;
  std::memcpy(&h, p, sizeof h);
  return __builtin_convertvector(h, four_words);
}
STENO_INLINE four load_four_f16(const std::uint16_t* p) {
  const four_words h = load_halves(p), magnitude = h & 0x7fffu;
  // The exponent's bias grows by 112 in one multiplication, exact also for subnormal halves; infinities and what is not
  // a number have all of its bits.
  const four value = floats(magnitude << 13) * 0x1p112f;
  const four_words special = reinterpret_cast<four_words>(magnitude > 0x7bffu) & 0x7f800000u;
  return floats(words(value) | special | (h & 0x8000u) << 16);
}
STENO_INLINE f32x16 load_f16(const std::uint16_t* p) {
  return {load_four_f16(p), load_four_f16(p + 4), load_four_f16(p + 8), load_four_f16(p + 12)};
}
STENO_INLINE void store_f16(std::uint16_t* p, f32x16 x) {
  float lanes[16];
  store(lanes, x);
  for (int i = 0; i < 16; ++i) p[i] = core::float_to_half(lanes[i]);
}
STENO_INLINE f32x16 load_bf16(const std::uint16_t* p) {
  return {floats(load_halves(p) << 16), floats(load_halves(p + 4) << 16), floats(load_halves(p + 8) << 16),
          floats(load_halves(p + 12) << 16)};
}

STENO_INLINE four load_four_i8(const std::int8_t* p) {
  four_bytes b;
  std::memcpy(&b, p, sizeof b);
  return __builtin_convertvector(b, four);
}
STENO_INLINE f32x16 load_i8(const std::int8_t* p) {
  return {load_four_i8(p), load_four_i8(p + 4), load_four_i8(p + 8), load_four_i8(p + 12)};
}

STENO_INLINE f32x16 operator+(f32x16 x, f32x16 y) { return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d}; }
STENO_INLINE f32x16 operator-(f32x16 x, f32x16 y) { return {x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d}; }
STENO_INLINE f32x16 operator*(f32x16 x, f32x16 y) { return {x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d}; }
STENO_INLINE f32x16 operator/(f32x16 x, f32x16 y) { return {x.a / y.a, x.b / y.b, x.c / y.c, x.d / y.d}; }
/// x * y + z
STENO_INLINE f32x16 fma(f32x16 x, f32x16 y, f32x16 z) {
  return {x.a * y.a + z.a, x.b * y.b + z.b, x.c * y.c + z.c, x.d * y.d + z.d};
}
/// z - x * y
STENO_INLINE f32x16 fnma(f32x16 x, f32x16 y, f32x16 z) {
  return {z.a - x.a * y.a, z.b - x.b * y.b, z.c - x.c * y.c, z.d - x.d * y.d};
}
/// x < y ? p : q
STENO_INLINE f32x16 where_less(f32x16 x, f32x16 y, f32x16 p, f32x16 q) {
  return {x.a < y.a ? p.a : q.a, x.b < y.b ? p.b : q.b, x.c < y.c ? p.c : q.c, x.d < y.d ? p.d : q.d};
}
/// The second where one is not a number, as in the x86 instructions.
STENO_INLINE f32x16 min(f32x16 x, f32x16 y) { return where_less(x, y, x, y); }
STENO_INLINE f32x16 max(f32x16 x, f32x16 y) { return where_less(y, x, x, y); }
STENO_INLINE f32x16 abs(f32x16 x) {
  return {floats(words(x.a) & 0x7fffffffu), floats(words(x.b) & 0x7fffffffu), floats(words(x.c) & 0x7fffffffu),
          floats(words(x.d) & 0x7fffffffu)};
}
/// The first n lanes of x, the others of y.
STENO_INLINE f32x16 first_n(int n, f32x16 x, f32x16 y) {
  float lanes[16];
  store(lanes, y);
  store_n(lanes, x, n);
  return load(lanes);
}
STENO_INLINE four with_sign(four x, four s) { return floats(words(x) | (words(s) & 0x80000000u)); }
/// The magnitude of x with the sign of s; x must not be negative.
STENO_INLINE f32x16 with_sign(f32x16 x, f32x16 s) {
  return {with_sign(x.a, s.a), with_sign(x.b, s.b), with_sign(x.c, s.c), with_sign(x.d, s.d)};
}
STENO_INLINE four times_power_of_two(four x, four shifted) { return floats(words(x) + (words(shifted) << 23)); }
/// x * 2^n where `shifted` is n + 1.5 * 2^23: n goes straight into the exponent, whose range the caller answers for.
STENO_INLINE f32x16 times_power_of_two(f32x16 x, f32x16 shifted) {
  return {times_power_of_two(x.a, shifted.a), times_power_of_two(x.b, shifted.b), times_power_of_two(x.c, shifted.c),
          times_power_of_two(x.d, shifted.d)};
}

STENO_INLINE float reduce_add(f32x16 x) {
  const four s = (x.a + x.c) + (x.b + x.d);
  return (s[0] + s[2]) + (s[1] + s[3]);
}
STENO_INLINE float reduce_max(f32x16 x) {
  const four m = x.a > x.c ? x.a : x.c, n = x.b > x.d ? x.b : x.d, s = m > n ? m : n;
  return std::max(std::max(s[0], s[2]), std::max(s[1], s[3]));
}
/// The lowest bytes of the words.
STENO_INLINE void store_low_bytes(std::int8_t* p, four x) {
  const four_bytes b = __builtin_convertvector(words(x), four_bytes);
  std::memcpy(p, &b, sizeof b);
}
/// Rounds to nearest even and saturates to [-128, 127]; not for NaN.
STENO_INLINE void store_i8(std::int8_t* p, f32x16 x) {
  // The sum's low bits are the rounded integer.
  const f32x16 shifted = min(max(x, broadcast(-128.0f)), broadcast(127.0f)) + broadcast(0x1.8p23f);
  store_low_bytes(p, shifted.a);
  store_low_bytes(p + 4, shifted.b);
  store_low_bytes(p + 8, shifted.c);
  store_low_bytes(p + 12, shifted.d);
}
/// 32 values as bytes; below 2^31 in size.
STENO_INLINE void store_i8(std::int8_t* p, f32x16 x, f32x16 y) {
  store_i8(p, x);
  store_i8(p + 16, y);
}
/// Sums of the first and of the last 16 of 32 bytes, at four places.
STENO_INLINE void sums_i8(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c, const std::int8_t* d,
                          float* first, float* second) {
  const std::int8_t* const from[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) {
    int sums[2] = {};
    for (int k = 0; k < 32; ++k) sums[k / 16] += from[i][k];
    first[i] = static_cast<float>(sums[0]);
    second[i] = static_cast<float>(sums[1]);
  }
}
/// to[i * to_stride + j] = from[j * from_stride + i] for i, j < 16.
STENO_INLINE void transpose(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) to[i * to_stride + j] = from[j * from_stride + i];
}

#include <steno/kernels/isa/math.inl>
}  // namespace kernels::scalar
}  // namespace STENO_ABI
}  // namespace steno
