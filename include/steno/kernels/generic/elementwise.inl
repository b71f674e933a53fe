// steno/kernels/generic/elementwise.inl - rows of sums and activations; compiled per instruction set by
// elementwise.hpp. Coefficients: minimax fits of our own (Lawson's algorithm).
// SPDX-License-Identifier: Apache-2.0

inline void add_row(const float* a, const float* b, float* y, extent count) noexcept {
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, load(a + i) + load(b + i));
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(y + i, load_n(a + i, n) + load_n(b + i, n), n);
  }
}

inline void scale_row(const float* x, float factor, float* y, extent count) noexcept {
  const f32x16 f = broadcast(factor);
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, load(x + i) * f);
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(y + i, load_n(x + i, n) * f, n);
  }
}

STENO_INLINE f32x16 relu(f32x16 x) { return where_less(x, zero(), zero(), x); }

STENO_INLINE f32x16 sigmoid(f32x16 x) { return broadcast(1.0f) / (broadcast(1.0f) + exp(zero() - x)); }

STENO_INLINE f32x16 silu(f32x16 x) { return x / (broadcast(1.0f) + exp(zero() - x)); }

/// x + x^3 P(x^2) below 0.625; above, 1 - 2 / (e^2|x| + 1) with the sign of x.
STENO_INLINE f32x16 tanh(f32x16 x) {
  const f32x16 size = abs(x), square = x * x;
  f32x16 p = fma(broadcast(-5.704985101e-03f), square, broadcast(2.063908563e-02f));
  p = fma(p, square, broadcast(-5.373971462e-02f));
  p = fma(p, square, broadcast(1.333144219e-01f));
  p = fma(p, square, broadcast(-3.333328194e-01f));
  const f32x16 inner = fma(p * square, x, x);
  const f32x16 outer = broadcast(1.0f) - broadcast(2.0f) / (exp(size + size) + broadcast(1.0f));
  return where_less(size, broadcast(0.625f), inner, with_sign(outer, x));
}

/// x Phi(x) with z = |x| / sqrt 2: Phi = (1 + erf z) / 2 from erf(z) = z P(z^2) below z = 1; above, the tail
/// Q = erfc(z) / 2 = e^-z^2 t R(t) / 2 with t = 1 / (1 + 0.4 z), and Phi is Q or 1 - Q. z^2 is x^2 / 2 in two parts:
/// its rounding error would grow to 40 ulp of the tail.
STENO_INLINE f32x16 gelu(f32x16 x) {
  const f32x16 bounded = min(broadcast(14.0f), abs(x));  // Phi is 0 or 1 in float beyond; NaN passes
  const f32x16 z = bounded * broadcast(0.70710678f), doubled = bounded * bounded;
  const f32x16 square = doubled * broadcast(0.5f);
  f32x16 p = fma(broadcast(7.853520732e-05f), square, broadcast(-8.010082033e-04f));
  p = fma(p, square, broadcast(5.188313598e-03f));
  p = fma(p, square, broadcast(-2.685380338e-02f));
  p = fma(p, square, broadcast(1.128358489e-01f));
  p = fma(p, square, broadcast(-3.761262579e-01f));
  p = fma(p, square, broadcast(1.128379166e+00f));
  const f32x16 centre = fma(with_sign(z, x) * p, broadcast(0.5f), broadcast(0.5f));
  const f32x16 t = broadcast(1.0f) / fma(z, broadcast(0.4f), broadcast(1.0f));
  f32x16 r = fma(broadcast(-1.165599671e-01f), t, broadcast(2.444081227e-01f));
  r = fma(r, t, broadcast(7.392145926e-03f));
  r = fma(r, t, broadcast(2.135384030e-01f));
  r = fma(r, t, broadcast(1.986334360e-01f));
  r = fma(r, t, broadcast(2.267160473e-01f));
  r = fma(r, t, broadcast(2.256255291e-01f));
  const f32x16 rest = fma(bounded, bounded, zero() - doubled) * broadcast(0.5f);
  const f32x16 power = exp_bounded(zero() - square);
  const f32x16 tail = fnma(power, rest, power) * (t * r) * broadcast(0.5f);
  const f32x16 outer = where_less(x, zero(), tail, broadcast(1.0f) - tail);
  return x * where_less(z, broadcast(1.0f), centre, outer);
}

template <f32x16 (*F)(f32x16)>
STENO_INLINE void map_row(const float* x, float* y, extent count) {
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, F(load(x + i)));
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(y + i, F(load_n(x + i, n)), n);
  }
}

inline void relu_row(const float* x, float* y, extent count) noexcept { map_row<relu>(x, y, count); }
inline void gelu_row(const float* x, float* y, extent count) noexcept { map_row<gelu>(x, y, count); }
inline void silu_row(const float* x, float* y, extent count) noexcept { map_row<silu>(x, y, count); }
inline void sigmoid_row(const float* x, float* y, extent count) noexcept { map_row<sigmoid>(x, y, count); }
inline void tanh_row(const float* x, float* y, extent count) noexcept { map_row<tanh>(x, y, count); }
