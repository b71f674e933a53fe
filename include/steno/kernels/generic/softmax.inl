// steno/kernels/generic/softmax.inl - one row of softmax and log softmax; compiled per instruction set by softmax.hpp.
// Sums run over four vectors, added as (0 + 1) + (2 + 3), then over lanes.

inline float row_max(const float* x, extent count) {
  const f32x16 least = broadcast(-std::numeric_limits<float>::infinity());
  f32x16 m0 = least, m1 = least, m2 = least, m3 = least;
  extent i = 0;
  for (; i + 64 <= count; i += 64) {
    m0 = max(load(x + i), m0);
    m1 = max(load(x + i + 16), m1);
    m2 = max(load(x + i + 32), m2);
    m3 = max(load(x + i + 48), m3);
  }
  for (; i + 16 <= count; i += 16) m0 = max(load(x + i), m0);
  if (i < count) {
    const int n = static_cast<int>(count - i);
    m1 = max(first_n(n, load_n(x + i, n), least), m1);
  }
  return reduce_max(max(max(m0, m1), max(m2, m3)));
}

/// y = exp(x - shift) where Keep; returns the sum.
template <bool Keep>
inline float row_exp_sum(const float* x, float* y, extent count, float shift) {
  const f32x16 m = broadcast(shift);
  f32x16 s0 = zero(), s1 = zero(), s2 = zero(), s3 = zero();
  extent i = 0;
  for (; i + 64 <= count; i += 64) {
    const f32x16 a = exp_bounded(load(x + i) - m), b = exp_bounded(load(x + i + 16) - m);
    const f32x16 c = exp_bounded(load(x + i + 32) - m), d = exp_bounded(load(x + i + 48) - m);
    if constexpr (Keep) {
      store(y + i, a);
      store(y + i + 16, b);
      store(y + i + 32, c);
      store(y + i + 48, d);
    }
    s0 = s0 + a;
    s1 = s1 + b;
    s2 = s2 + c;
    s3 = s3 + d;
  }
  for (; i + 16 <= count; i += 16) {
    const f32x16 a = exp_bounded(load(x + i) - m);
    if constexpr (Keep) store(y + i, a);
    s0 = s0 + a;
  }
  if (i < count) {
    const int n = static_cast<int>(count - i);
    const f32x16 a = exp_bounded(load_n(x + i, n) - m);
    if constexpr (Keep) store_n(y + i, a, n);
    s1 = s1 + first_n(n, a, zero());
  }
  return reduce_add((s0 + s1) + (s2 + s3));
}

inline void softmax_row(const float* x, float* y, extent count) noexcept {
  const float sum = row_exp_sum<true>(x, y, count, row_max(x, count));
  const f32x16 f = broadcast(1.0f / sum);
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, load(y + i) * f);
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(y + i, load_n(y + i, n) * f, n);
  }
}

inline void log_softmax_row(const float* x, float* y, extent count) noexcept {
  const float largest = row_max(x, count);
  const f32x16 m = broadcast(largest), log_sum = broadcast(std::log(row_exp_sum<false>(x, nullptr, count, largest)));
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, load(x + i) - m - log_sum);
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(y + i, load_n(x + i, n) - m - log_sum, n);
  }
}
