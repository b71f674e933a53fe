// steno/kernels/generic/norm.inl - one row of layer norm and RMS norm; compiled per instruction set by norm.hpp.
// Sums run over four vectors, added as (0 + 1) + (2 + 3), then over lanes.
// SPDX-License-Identifier: Apache-2.0

inline float norm_sum(const float* x, extent count) {
  f32x16 s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
  extent i = 0;
  for (; i + 64 <= count; i += 64) {
    s0 = s0 + load(x + i);
    s1 = s1 + load(x + i + 16);
    s2 = s2 + load(x + i + 32);
    s3 = s3 + load(x + i + 48);
  }
  for (; i + 16 <= count; i += 16) s0 = s0 + load(x + i);
  if (i < count) s1 = s1 + load_n(x + i, static_cast<int>(count - i));
  return reduce_add((s0 + s1) + (s2 + s3));
}

/// Sums of d and d^2 over d = x - shift.
inline void norm_moments(const float* x, extent count, float shift, float* sum, float* squares) {
  const f32x16 m = broadcast(shift);
  f32x16 s0 = zero(), s1 = zero(), q0 = zero(), q1 = zero(), q2 = zero(), q3 = zero();
  extent i = 0;
  for (; i + 64 <= count; i += 64) {
    const f32x16 a = load(x + i) - m, b = load(x + i + 16) - m, c = load(x + i + 32) - m, d = load(x + i + 48) - m;
    s0 = s0 + (a + b);
    s1 = s1 + (c + d);
    q0 = fma(a, a, q0);
    q1 = fma(b, b, q1);
    q2 = fma(c, c, q2);
    q3 = fma(d, d, q3);
  }
  for (; i + 16 <= count; i += 16) {
    const f32x16 a = load(x + i) - m;
    s0 = s0 + a;
    q0 = fma(a, a, q0);
  }
  if (i < count) {
    const int n = static_cast<int>(count - i);
    const f32x16 a = first_n(n, load_n(x + i, n) - m, zero());
    s1 = s1 + a;
    q1 = fma(a, a, q1);
  }
  *sum = reduce_add(s0 + s1);
  *squares = reduce_add((q0 + q1) + (q2 + q3));
}

inline void layer_norm_row(const float* x, const float* gamma, const float* beta, float eps, float* y,
                           extent count) noexcept {
  const float n = static_cast<float>(count);
  const float mean = norm_sum(x, count) / n;
  float sum = 0, squares = 0;
  norm_moments(x, count, mean, &sum, &squares);
  const float correction = sum / n;  // what rounding left in the mean
  const float variance = std::max(squares / n - correction * correction, 0.0f);
  const float factor = 1.0f / std::sqrt(variance + eps);
  const f32x16 m = broadcast(mean), f = broadcast(factor), c = broadcast(correction * factor);
  extent i = 0;
  for (; i + 16 <= count; i += 16) {
    const f32x16 unit = (load(x + i) - m) * f - c;
    store(y + i, fma(unit, load(gamma + i), load(beta + i)));
  }
  if (i < count) {
    const int rest = static_cast<int>(count - i);
    const f32x16 unit = (load_n(x + i, rest) - m) * f - c;
    store_n(y + i, fma(unit, load_n(gamma + i, rest), load_n(beta + i, rest)), rest);
  }
}

inline void rms_norm_row(const float* x, const float* gamma, float eps, float* y, extent count) noexcept {
  float sum = 0, squares = 0;
  norm_moments(x, count, 0.0f, &sum, &squares);
  const f32x16 f = broadcast(1.0f / std::sqrt(squares / static_cast<float>(count) + eps));
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, load(x + i) * f * load(gamma + i));
  if (i < count) {
    const int rest = static_cast<int>(count - i);
    store_n(y + i, load_n(x + i, rest) * f * load_n(gamma + i, rest), rest);
  }
}
