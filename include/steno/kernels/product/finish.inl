// steno/kernels/product/finish.inl - the epilogue of a strip's sums; included by the kernels of each instruction set.
// What it computes: kernels/epilogue.hpp. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0

template <activation A>
STENO_INLINE f32x16 activated(f32x16 v) {
  if constexpr (A == activation::relu) return relu(v);
  if constexpr (A == activation::gelu) return gelu(v);
  if constexpr (A == activation::silu) return silu(v);
  return v;
}
/// Columns [n, n + 16 N) of each row.
template <activation A, std::size_t N>
STENO_INLINE void finish_columns(const detail::strip& s, const float* sums, extent sums_stride, extent m0, extent rows,
                                 extent n) {
  const epilogue& e = *s.e;
  const f32x16 scale = broadcast(e.scale);
  f32x16 bias[N];
  for (std::size_t i = 0; i < N; ++i) bias[i] = e.bias == nullptr ? zero() : load(e.bias + n + 16 * i);
  float* y = s.y + m0 * s.y_stride + n;
  const bool adds = e.residual != nullptr;
  const float* residual = adds ? e.residual + m0 * e.residual_stride + n : y;
  const extent next = adds ? e.residual_stride : s.y_stride;
  for (extent m = 0; m < rows; ++m, sums += sums_stride, y += s.y_stride, residual += next)
    for (std::size_t i = 0; i < N; ++i) {
      const f32x16 v = activated<A>(fma(scale, load(sums + 16 * i), bias[i]));
      store(y + 16 * i, adds ? v + load(residual + 16 * i) : v);
    }
}
/// Fewer than 16 columns.
template <activation A>
STENO_INLINE void finish_rest(const detail::strip& s, const float* sums, extent sums_stride, extent m0, extent rows,
                              extent n) {
  const epilogue& e = *s.e;
  const int count = static_cast<int>(s.n1 - n);
  const f32x16 scale = broadcast(e.scale), bias = e.bias == nullptr ? zero() : load_n(e.bias + n, count);
  for (extent m = m0; m < m0 + rows; ++m, sums += sums_stride) {
    const f32x16 v = activated<A>(fma(scale, load(sums), bias));
    const float* const residual = e.residual == nullptr ? nullptr : e.residual + m * e.residual_stride + n;
    store_n(s.y + m * s.y_stride + n, residual == nullptr ? v : v + load_n(residual, count), count);
  }
}
template <activation A>
[[gnu::noinline]] void finish_as(const detail::strip& s, const float* sums, extent sums_stride, extent m0,
                                 extent rows) noexcept {
  extent n = s.n0;
  for (; n + 32 <= s.n1; n += 32) finish_columns<A, 2>(s, sums + (n - s.n0), sums_stride, m0, rows, n);
  for (; n + 16 <= s.n1; n += 16) finish_columns<A, 1>(s, sums + (n - s.n0), sums_stride, m0, rows, n);
  if (n < s.n1) finish_rest<A>(s, sums + (n - s.n0), sums_stride, m0, rows, n);
}

/// Rows [m0, m0 + rows) by all columns of the strip; sums[(m - m0) * sums_stride + (n - n0)], padded to whole vectors.
template <class = void>
[[gnu::noinline]] void finish(const detail::strip& s, const float* sums, extent sums_stride, extent m0,
                                     extent rows) noexcept {
  switch (s.e->act) {
    case activation::none:
      return finish_as<activation::none>(s, sums, sums_stride, m0, rows);
    case activation::relu:
      return finish_as<activation::relu>(s, sums, sums_stride, m0, rows);
    case activation::gelu:
      return finish_as<activation::gelu>(s, sums, sums_stride, m0, rows);
    case activation::silu:
      return finish_as<activation::silu>(s, sums, sums_stride, m0, rows);
  }
}
