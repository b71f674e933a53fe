// steno/kernels/isa/neon.hpp - the 16-lane float vector as four NEON registers. Operations as specified in scalar.hpp.
//
// Every AArch64 processor has these instructions (conversions of halves and fused multiply-add included), so there is
// no target region. Tested in tests/kernels/isa_test.cpp, which tests/aarch64 runs on an emulator.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::neon {

struct f32x16 {
  float32x4_t a, b, c, d;  // lanes 0-3, 4-7, 8-11, 12-15
};

inline constexpr int tile_rows = 4, tile_vectors = 1;

STENO_INLINE float32x4_t load_four(const float* p) { return vld1q_f32(p); }
STENO_INLINE void store_four(float* p, float32x4_t x) { vst1q_f32(p, x); }
STENO_INLINE f32x16 load(const float* p) {
  return {vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)};
}
STENO_INLINE void store(float* p, f32x16 x) {
  vst1q_f32(p, x.a);
  vst1q_f32(p + 4, x.b);
  vst1q_f32(p + 8, x.c);
  vst1q_f32(p + 12, x.d);
}
/// The first n of four values (none for n <= 0, all for n >= 4), the others 0.
STENO_INLINE float32x4_t load_four_n(const float* p, int n) {
  if (n >= 4) return vld1q_f32(p);
  float32x4_t r = vdupq_n_f32(0);
  if (n > 0) r = vld1q_lane_f32(p, r, 0);
  if (n > 1) r = vld1q_lane_f32(p + 1, r, 1);
  if (n > 2) r = vld1q_lane_f32(p + 2, r, 2);
  return r;
}
STENO_INLINE void store_four_n(float* p, float32x4_t x, int n) {
  if (n >= 4) return vst1q_f32(p, x);
  if (n > 0) vst1q_lane_f32(p, x, 0);
  if (n > 1) vst1q_lane_f32(p + 1, x, 1);
  if (n > 2) vst1q_lane_f32(p + 2, x, 2);
}
STENO_INLINE f32x16 load_n(const float* p, int n) {
  return {load_four_n(p, n), load_four_n(p + 4, n - 4), load_four_n(p + 8, n - 8), load_four_n(p + 12, n - 12)};
}
STENO_INLINE void store_n(float* p, f32x16 x, int n) {
  store_four_n(p, x.a, n);
  store_four_n(p + 4, x.b, n - 4);
  store_four_n(p + 8, x.c, n - 8);
  store_four_n(p + 12, x.d, n - 12);
}
STENO_INLINE f32x16 broadcast(float x) {
  const float32x4_t r = vdupq_n_f32(x);
  return {r, r, r, r};
}
STENO_INLINE f32x16 zero() { return broadcast(0.0f); }
STENO_INLINE float32x4_t widen_f16(uint16x4_t h) { return vcvt_f32_f16(vreinterpret_f16_u16(h)); }
STENO_INLINE f32x16 load_f16(const std::uint16_t* p) {
  const uint16x8_t low = vld1q_u16(p), high = vld1q_u16(p + 8);
  return {widen_f16(vget_low_u16(low)), widen_f16(vget_high_u16(low)), widen_f16(vget_low_u16(high)),
          widen_f16(vget_high_u16(high))};
}
STENO_INLINE uint16x4_t narrow_f16(float32x4_t x) { return vreinterpret_u16_f16(vcvt_f16_f32(x)); }
STENO_INLINE void store_f16(std::uint16_t* p, f32x16 x) {
  vst1q_u16(p, vcombine_u16(narrow_f16(x.a), narrow_f16(x.b)));
  vst1q_u16(p + 8, vcombine_u16(narrow_f16(x.c), narrow_f16(x.d)));
}
STENO_INLINE float32x4_t widen_bf16(uint16x4_t h) { return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(h), 16)); }
STENO_INLINE f32x16 load_bf16(const std::uint16_t* p) {
  const uint16x8_t low = vld1q_u16(p), high = vld1q_u16(p + 8);
  return {widen_bf16(vget_low_u16(low)), widen_bf16(vget_high_u16(low)), widen_bf16(vget_low_u16(high)),
          widen_bf16(vget_high_u16(high))};
}
STENO_INLINE f32x16 load_i8(const std::int8_t* p) {
  const int8x16_t bytes = vld1q_s8(p);
  const int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_s8(vget_high_s8(bytes));
  return {vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))),
          vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vcvtq_f32_s32(vmovl_s16(vget_high_s16(high)))};
}

STENO_INLINE f32x16 operator+(f32x16 x, f32x16 y) {
  return {vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b), vaddq_f32(x.c, y.c), vaddq_f32(x.d, y.d)};
}
STENO_INLINE f32x16 operator-(f32x16 x, f32x16 y) {
  return {vsubq_f32(x.a, y.a), vsubq_f32(x.b, y.b), vsubq_f32(x.c, y.c), vsubq_f32(x.d, y.d)};
}
STENO_INLINE f32x16 operator*(f32x16 x, f32x16 y) {
  return {vmulq_f32(x.a, y.a), vmulq_f32(x.b, y.b), vmulq_f32(x.c, y.c), vmulq_f32(x.d, y.d)};
}
STENO_INLINE f32x16 operator/(f32x16 x, f32x16 y) {
  return {vdivq_f32(x.a, y.a), vdivq_f32(x.b, y.b), vdivq_f32(x.c, y.c), vdivq_f32(x.d, y.d)};
}
STENO_INLINE f32x16 fma(f32x16 x, f32x16 y, f32x16 z) {
  return {vfmaq_f32(z.a, x.a, y.a), vfmaq_f32(z.b, x.b, y.b), vfmaq_f32(z.c, x.c, y.c), vfmaq_f32(z.d, x.d, y.d)};
}
STENO_INLINE f32x16 fnma(f32x16 x, f32x16 y, f32x16 z) {
  return {vfmsq_f32(z.a, x.a, y.a), vfmsq_f32(z.b, x.b, y.b), vfmsq_f32(z.c, x.c, y.c), vfmsq_f32(z.d, x.d, y.d)};
}
STENO_INLINE float32x4_t where_less(float32x4_t x, float32x4_t y, float32x4_t p, float32x4_t q) {
  return vbslq_f32(vcltq_f32(x, y), p, q);
}
STENO_INLINE f32x16 where_less(f32x16 x, f32x16 y, f32x16 p, f32x16 q) {
  return {where_less(x.a, y.a, p.a, q.a), where_less(x.b, y.b, p.b, q.b), where_less(x.c, y.c, p.c, q.c),
          where_less(x.d, y.d, p.d, q.d)};
}
// fmin and fmax pass on what is not a number, whichever side it stands on; the specification wants the second.
STENO_INLINE float32x4_t max(float32x4_t x, float32x4_t y) { return where_less(y, x, x, y); }
STENO_INLINE f32x16 min(f32x16 x, f32x16 y) { return where_less(x, y, x, y); }
STENO_INLINE f32x16 max(f32x16 x, f32x16 y) { return where_less(y, x, x, y); }
STENO_INLINE f32x16 abs(f32x16 x) { return {vabsq_f32(x.a), vabsq_f32(x.b), vabsq_f32(x.c), vabsq_f32(x.d)}; }
/// All bits set in lanes i < n - first.
STENO_INLINE uint32x4_t lanes_before(int n, int first) {
  alignas(16) static constexpr std::int32_t places[4] = {0, 1, 2, 3};
  return vcltq_s32(vld1q_s32(places), vdupq_n_s32(n - first));
}
STENO_INLINE f32x16 first_n(int n, f32x16 x, f32x16 y) {
  return {vbslq_f32(lanes_before(n, 0), x.a, y.a), vbslq_f32(lanes_before(n, 4), x.b, y.b),
          vbslq_f32(lanes_before(n, 8), x.c, y.c), vbslq_f32(lanes_before(n, 12), x.d, y.d)};
}
STENO_INLINE float32x4_t with_sign(float32x4_t x, float32x4_t s) {
  const uint32x4_t sign = vandq_u32(vreinterpretq_u32_f32(s), vdupq_n_u32(0x80000000u));
  return vreinterpretq_f32_u32(vorrq_u32(vreinterpretq_u32_f32(x), sign));
}
STENO_INLINE f32x16 with_sign(f32x16 x, f32x16 s) {
  return {with_sign(x.a, s.a), with_sign(x.b, s.b), with_sign(x.c, s.c), with_sign(x.d, s.d)};
}
STENO_INLINE float32x4_t times_power_of_two(float32x4_t x, float32x4_t shifted) {
  return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), vshlq_n_s32(vreinterpretq_s32_f32(shifted), 23)));
}
STENO_INLINE f32x16 times_power_of_two(f32x16 x, f32x16 shifted) {
  return {times_power_of_two(x.a, shifted.a), times_power_of_two(x.b, shifted.b), times_power_of_two(x.c, shifted.c),
          times_power_of_two(x.d, shifted.d)};
}

STENO_INLINE float reduce_add(f32x16 x) {
  const float32x4_t s = vaddq_f32(vaddq_f32(x.a, x.c), vaddq_f32(x.b, x.d));
  return vpadds_f32(vadd_f32(vget_low_f32(s), vget_high_f32(s)));
}
/// acc + x y: in two steps where registers are few (isa/avx2.hpp).
STENO_INLINE f32x16 add_dots(f32x16 x, f32x16 y, f32x16 acc) { return fma(x, y, acc); }
STENO_INLINE f32x16 add_last_dots(f32x16, f32x16, f32x16 acc) { return acc; }
/// p[i] = reduce_add(a[i]), for two of them.
STENO_INLINE void store_sums(float* p, const f32x16* a) {
  p[0] = reduce_add(a[0]);
  p[1] = reduce_add(a[1]);
}
STENO_INLINE float reduce_max(f32x16 x) {
  float32x4_t m = max(max(x.a, x.c), max(x.b, x.d));
  m = max(m, vextq_f32(m, m, 2));
  return vgetq_lane_f32(max(m, vextq_f32(m, m, 1)), 0);
}
/// Four whole numbers, to nearest even.
STENO_INLINE int16x4_t narrow_whole(float32x4_t x) { return vqmovn_s32(vcvtnq_s32_f32(x)); }
STENO_INLINE void store_i8(std::int8_t* p, f32x16 x) {
  const int16x8_t low = vcombine_s16(narrow_whole(x.a), narrow_whole(x.b));
  const int16x8_t high = vcombine_s16(narrow_whole(x.c), narrow_whole(x.d));
  vst1q_s8(p, vcombine_s8(vqmovn_s16(low), vqmovn_s16(high)));
}

STENO_INLINE void store_i8(std::int8_t* p, f32x16 x, f32x16 y) {
  store_i8(p, x);
  store_i8(p + 16, y);
}
/// Sums of 16 bytes at each of four places.
STENO_INLINE float32x4_t sums_of_16(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c,
                                    const std::int8_t* d) {
  const int16x8_t low = vpaddq_s16(vpaddlq_s8(vld1q_s8(a)), vpaddlq_s8(vld1q_s8(b)));
  const int16x8_t high = vpaddq_s16(vpaddlq_s8(vld1q_s8(c)), vpaddlq_s8(vld1q_s8(d)));
  return vcvtq_f32_s32(vpaddlq_s16(vpaddq_s16(low, high)));
}
STENO_INLINE void sums_i8(const std::int8_t* a, const std::int8_t* b, const std::int8_t* c, const std::int8_t* d,
                          float* first, float* second) {
  vst1q_f32(first, sums_of_16(a, b, c, d));
  vst1q_f32(second, sums_of_16(a + 16, b + 16, c + 16, d + 16));
}

/// Four columns of four rows become four rows of four.
STENO_INLINE void transpose_4x4(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  const float32x4_t a = vld1q_f32(from), b = vld1q_f32(from + from_stride);
  const float32x4_t c = vld1q_f32(from + 2 * from_stride), d = vld1q_f32(from + 3 * from_stride);
  const float32x4_t ac = vzip1q_f32(a, c), ca = vzip2q_f32(a, c), bd = vzip1q_f32(b, d), db = vzip2q_f32(b, d);
  vst1q_f32(to, vzip1q_f32(ac, bd));
  vst1q_f32(to + to_stride, vzip2q_f32(ac, bd));
  vst1q_f32(to + 2 * to_stride, vzip1q_f32(ca, db));
  vst1q_f32(to + 3 * to_stride, vzip2q_f32(ca, db));
}
STENO_INLINE void transpose(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride) {
  for (std::ptrdiff_t i = 0; i < 16; i += 4)
    for (std::ptrdiff_t j = 0; j < 16; j += 4)
      transpose_4x4(from + j * from_stride + i, from_stride, to + i * to_stride + j, to_stride);
}

#include <steno/kernels/isa/math.inl>
}  // namespace kernels::neon
}  // namespace STENO_ABI
}  // namespace steno
