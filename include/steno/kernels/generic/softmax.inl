// steno/kernels/generic/softmax.inl - one row of softmax and log softmax; compiled per instruction set by softmax.hpp.
// Sums run over lanes.
// SPDX-License-Identifier: Apache-2.0

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

/// y = exp(x - shift) where y is not null; returns the sum. One sum is enough: the exponentials take longer.
inline float row_exp_sum(const float* x, float* y, extent count, float shift) {
  const f32x16 m = broadcast(shift);
  f32x16 sum = zero();
  for (extent i = 0; i < count; i += 16) {
    const int n = static_cast<int>(std::min<extent>(16, count - i));
    const f32x16 e = exp_bounded((n == 16 ? load(x + i) : load_n(x + i, n)) - m);
    if (y != nullptr) store_n(y + i, e, n);
    sum = sum + (n == 16 ? e : first_n(n, e, zero()));
  }
  return reduce_add(sum);
}

inline void softmax_row(const float* x, float* y, extent count) noexcept {
  const float sum = row_exp_sum(x, y, count, row_max(x, count));
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
  const f32x16 m = broadcast(largest), log_sum = broadcast(std::log(row_exp_sum(x, nullptr, count, largest)));
  extent i = 0;
  for (; i + 16 <= count; i += 16) store(y + i, load(x + i) - m - log_sum);
  if (i < count) {
    const int n = static_cast<int>(count - i);
    store_n(y + i, load_n(x + i, n) - m - log_sum, n);
  }
}
