// steno/kernels/generic/depthwise.inl - rows of a depthwise convolution, 16 columns at a time; compiled per instruction
// set by depthwise.hpp.
//
// The taps of 16 columns are copied together first: rows of a matrix lie a power of two apart, which would put all taps
// and rows of one column into a few sets of the first cache.
// SPDX-License-Identifier: Apache-2.0

/// Outputs whose sums are kept in registers at once.
inline constexpr int depthwise_outputs = std::min(8, tile_rows * tile_vectors);

/// As many outputs of 16 columns, all of whose inputs exist; x points to the first input row of the first one, `added`
/// (or null) to what that one is added to.
template <int... I>
STENO_INLINE void depthwise_tile(std::integer_sequence<int, I...>, const float* x, extent x_stride, const float* taps,
                                 extent tap_stride, extent count, const float* added, const depthwise_sum& sums,
                                 float* y, extent y_stride) {
  f32x16 sum[sizeof...(I)] = {(static_cast<void>(I), zero())...};
  for (extent j = 0; j < count; ++j) {
    const f32x16 tap = load(taps + j * tap_stride);
    ((sum[I] = fma(tap, load(x + (j + I) * x_stride), sum[I])), ...);
  }
  if (added != nullptr) ((sum[I] = fma(broadcast(sums.factor), sum[I], load(added + I * sums.stride))), ...);
  (store(y + I * y_stride, sum[I]), ...);
}

/// One output of n columns; inputs outside [0, rows) are left out.
STENO_INLINE void depthwise_one(const float* x, extent x_stride, extent rows, const float* taps, extent tap_stride,
                                extent count, extent start, const float* added, float factor, float* y, int n) {
  const extent first = std::max<extent>(0, -start), last = std::min(count, rows - start);
  f32x16 sum = zero();
  for (extent j = first; j < last; ++j)
    sum = fma(load_n(taps + j * tap_stride, n), load_n(x + (start + j) * x_stride, n), sum);
  if (added != nullptr) sum = fma(broadcast(factor), sum, load_n(added, n));
  store_n(y, sum, n);
}

inline void depthwise_rows(const float* x, extent x_stride, extent rows, extent cols, const float* taps, extent count,
                           extent left, const depthwise_sum& sums, float* y, extent y_stride, extent first,
                           extent last) noexcept {
  constexpr extent max_taps = 64;  // more taps are read in place; models have up to 31
  alignas(64) float copy[max_taps * 16];
  for (extent c = 0; c < cols; c += 16) {
    const int n = static_cast<int>(std::min<extent>(16, cols - c));
    const float* column = taps + c;
    extent tap_stride = cols;
    if (count <= max_taps) {
      for (extent j = 0; j < count; ++j) store(copy + j * 16, load_n(column + j * cols, n));
      column = copy;
      tap_stride = 16;
    }
    extent t = first;
    while (t < last) {
      const extent start = t - left;
      const float* const added = sums.rows == nullptr ? nullptr : sums.rows + t * sums.stride + c;
      if (n == 16 && t + depthwise_outputs <= last && start >= 0 && start + depthwise_outputs - 1 + count <= rows) {
        depthwise_tile(std::make_integer_sequence<int, depthwise_outputs>{}, x + start * x_stride + c, x_stride, column,
                       tap_stride, count, added, sums, y + t * y_stride + c, y_stride);
        t += depthwise_outputs;
      } else {
        depthwise_one(x + c, x_stride, rows, column, tap_stride, count, start, added, sums.factor, y + t * y_stride + c,
                      n);
        ++t;
      }
    }
  }
}
