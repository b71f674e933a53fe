// steno/kernels/generic/numbers.inl - looks for NaN and infinities in a row; compiled per instruction set by
// numbers.hpp. Zero times a finite number is zero; times anything else it is NaN, and so is a sum with it.
// SPDX-License-Identifier: Apache-2.0

/// An infinity becomes the largest number; NaN stays NaN.
STENO_INLINE f32x16 without_infinity(f32x16 x) {
  const f32x16 largest = broadcast(std::numeric_limits<float>::max());
  return min(largest, max(zero() - largest, x));
}

inline bool row_is_finite(const float* x, extent count) noexcept {
  f32x16 s0 = zero(), s1 = zero();
  extent i = 0;
  for (; i + 32 <= count; i += 32) {
    s0 = fma(load(x + i), zero(), s0);
    s1 = fma(load(x + i + 16), zero(), s1);
  }
  for (; i < count; i += 16) s0 = fma(load_n(x + i, static_cast<int>(std::min<extent>(16, count - i))), zero(), s0);
  return reduce_add(s0 + s1) == 0;
}

inline bool row_is_numbers(const float* x, extent count) noexcept {
  f32x16 s0 = zero(), s1 = zero();
  extent i = 0;
  for (; i + 32 <= count; i += 32) {
    s0 = fma(without_infinity(load(x + i)), zero(), s0);
    s1 = fma(without_infinity(load(x + i + 16)), zero(), s1);
  }
  for (; i < count; i += 16)
    s0 = fma(without_infinity(load_n(x + i, static_cast<int>(std::min<extent>(16, count - i)))), zero(), s0);
  return reduce_add(s0 + s1) == 0;
}
