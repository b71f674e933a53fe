// steno/kernels/product/finish.inl - the epilogue of a strip's sums; included by the kernels of each instruction set.
// SPDX-License-Identifier: Apache-2.0

template <activation A>
[[gnu::noinline]] void finish_as(const detail::strip& s, const float* sums, extent sums_stride, extent m0,
                                 extent rows) noexcept {
  const epilogue& e = *s.e;
  const f32x16 scale = broadcast(e.scale);
  for (extent n = s.n0; n < s.n1; n += 16) {
    const int count = static_cast<int>(std::min<extent>(16, s.n1 - n));
    const f32x16 bias = e.bias == nullptr ? zero() : count == 16 ? load(e.bias + n) : load_n(e.bias + n, count);
    for (extent m = m0; m < m0 + rows; ++m) {
      f32x16 v = fma(scale, load(sums + (m - m0) * sums_stride + (n - s.n0)), bias);
      if constexpr (A == activation::relu) v = relu(v);
      if constexpr (A == activation::gelu) v = gelu(v);
      if constexpr (A == activation::silu) v = silu(v);
      float* to = s.y + m * s.y_stride + n;
      const float* residual = e.residual == nullptr ? nullptr : e.residual + m * e.residual_stride + n;
      if (count == 16) {
        store(to, residual == nullptr ? v : v + load(residual));
      } else {
        store_n(to, residual == nullptr ? v : v + load_n(residual, count), count);
      }
    }
  }
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
