// steno/kernels/generic/depthwise2d.inl - one output frame, 16 channels at a time; compiled per instruction set by
// depthwise2d.hpp.
// SPDX-License-Identifier: Apache-2.0

inline void depthwise2d_row(const plane& x, extent left, const float* taps, const float* bias, extent t, extent bands,
                            float* y) noexcept {
  const extent size = x.bands * x.channels, start = 2 * t - left;
  const extent i0 = std::max<extent>(0, x.first - start), i1 = std::min<extent>(3, x.last - start);
  for (extent c = 0; c < x.channels; c += 16) {
    const int n = static_cast<int>(std::min<extent>(16, x.channels - c));
    const f32x16 offset = load_n(bias + c, n);
    for (extent f = 0; f < bands; ++f) {
      const extent left_band = 2 * f - left;
      const extent j0 = std::max<extent>(0, -left_band), j1 = std::min<extent>(3, x.bands - left_band);
      f32x16 sum = offset;
      for (extent i = i0; i < i1; ++i)
        for (extent j = j0; j < j1; ++j)
          sum = fma(load_n(taps + (3 * i + j) * x.channels + c, n),
                    load_n(x.data + (start + i - x.first) * size + (left_band + j) * x.channels + c, n), sum);
      store_n(y + f * x.channels + c, sum, n);
    }
  }
}
