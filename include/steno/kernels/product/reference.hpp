// steno/kernels/product/reference.hpp - the products in plain C++: the specification of the vector kernels.
//
//   float_rows   p[m, n] = sum over k, ascending, of x[m, k] * w[n, k], in f32
//   int8_blocks  p[m, n] = sum over blocks b, ascending, of fma(float(d_b), (dw[n, b] * dx[m, b]), ...)
//                with d_b = sum over the 32 values of qw * qx, exact in integers
// The vector kernels give the same bits for int8_blocks. For float_rows they sum with FMA, either in the same order
// (panels) or in 16 lanes (lane l takes k = l mod 16, ascending; lanes are then added i and i + 8, i + 4, i + 2, i +
// 1), so results differ by rounding. Tested in tests/kernels/product_test.cpp.
#pragma once
#include <steno/core/half.hpp>
#include <steno/kernels/product/table.hpp>

#include <cmath>
#include <cstring>

namespace steno::inline STENO_ABI::kernels::scalar {

/// Value k of a stored row of a float_rows format, at any alignment.
inline float stored_value(const std::byte* row, dtype format, extent k) noexcept {
  if (format == dtype::f32) {
    float v;
    std::memcpy(&v, row + 4 * k, 4);
    return v;
  }
  std::uint16_t h;
  std::memcpy(&h, row + 2 * k, 2);
  return format == dtype::f16 ? half_to_float(h) : bfloat_to_float(h);
}

inline void quantise(const float* x, extent stride, extent rows, extent blocks, std::int8_t* quants, float* scales,
                     std::int32_t* starts) noexcept {
  for (extent r = 0; r < rows; ++r)
    for (extent b = 0; b < blocks; ++b) {
      const float* from = x + r * stride + b * detail::block;
      float most = 0;
      for (extent k = 0; k < detail::block; ++k) most = std::max(most, std::fabs(from[k]));
      const bool zero = !(most > 0x1p-100f);
      const float inverse = zero ? 0 : 127.0f / most;
      std::int32_t sum = 0;
      for (extent k = 0; k < detail::block; ++k) {
        const float v = std::min(std::max(from[k] * inverse, -127.0f), 127.0f);
        const auto q = static_cast<std::int8_t>(std::lrint(v));  // to nearest even
        quants[((b * 8 + k / 4) * rows + r) * 4 + k % 4] = q;
        sum += q;
      }
      scales[b * rows + r] = zero ? 0 : most / 127.0f;
      starts[b * rows + r] = -128 * sum;
    }
}

inline void int8_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  const extent blocks = x.cols / detail::block;
  for (extent n = s.n0; n < s.n1; ++n) {
    const std::byte* group =
        s.packed + static_cast<std::size_t>((n - s.n0) / detail::group) * detail::group_bytes(x.cols);
    const auto* wq = reinterpret_cast<const std::uint8_t*>(group) + n % detail::group * 4;
    const std::byte* ws = group + static_cast<std::size_t>(blocks) * detail::group_quants + n % detail::group * 2;
    for (extent p = s.first; p < s.last; ++p) {
      const extent m0 = x.split.first(p), height = x.split.height(p);
      for (extent r = 0; r < height; ++r) {
        float sum = 0;
        for (extent b = 0; b < blocks; ++b) {
          const std::int8_t* xq = x.quants + m0 * x.cols + (b * 8 * height + r) * 4;
          std::int32_t dot = 0;
          for (extent k = 0; k < detail::block; ++k)
            dot += (wq[b * 512 + k / 4 * 64 + k % 4] - 128) * xq[k / 4 * height * 4 + k % 4];
          std::uint16_t half;
          std::memcpy(&half, ws + b * 32, 2);
          const float scale = half_to_float(half) * x.scales[m0 * blocks + b * height + r];
          sum = std::fma(static_cast<float>(dot), scale, sum);
        }
        s.y[(m0 + r) * s.y_stride + n] = detail::finish(*s.e, sum, m0 + r, n);
      }
    }
  }
}

inline void float_row_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  for (extent n = s.n0; n < s.n1; ++n) {
    const std::byte* row = s.w->row(n);
    for (extent m = s.first; m < s.last; ++m) {
      float sum = 0;
      for (extent k = 0; k < x.cols; ++k) sum += x.x[m * x.stride + k] * stored_value(row, s.w->format, k);
      s.y[m * s.y_stride + n] = detail::finish(*s.e, sum, m, n);
    }
  }
}

inline constexpr detail::product_table product_kernels{
    .int8_panel = 1,
    .int8_columns = 16,
    .int8_columns_few = 16,
    .int8_rows = 64,
    .float_panel = 0,
    .float_panels_from = 0,
    .float_columns = 16,
    .float_rows = 64,
    .float_panel_scratch = 0,
    .quantise = quantise,
    .interleave = nullptr,
    .int8_strip = int8_strip,
    .float_panel_strip = nullptr,
    .float_row_strip = float_row_strip,
};

}  // namespace steno::inline STENO_ABI::kernels::scalar
