// steno/kernels/product/reference.hpp - the products in plain C++: the specification of the vector kernels.
//
//   float_rows   p[m, n] = sum over k, ascending, of x[m, k] * w[n, k], in f32
//   f16_columns, bf16_columns, rounded_columns  the same; for the last, x is rounded to bfloat16
//   int8_blocks  p[m, n] = sum over blocks b, ascending, of fma(float(d_b) * dw[n, b], dx[m, b], ...)
//                with d_b = sum over the 32 (with halves: 16) values of qw * qx, exact in integers, dw as in
//                weights/blocks.hpp; where weights have minima, fma(mw[n, b], dx[m, b] * sum(qx), ...) follows each
//   int8_spans   the same of spans of 128 values
// The vector kernels give the same bits for both of int8. For float_rows they sum with FMA, either in the same order
// (panels) or in 16 lanes (lane l takes k = l mod 16, ascending; lanes are then added i and i + 8, i + 4, i + 2, i +
// 1; with AVX2, in 8 lanes), so results differ by rounding. Tested in tests/kernels/product_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/fused.hpp>
#include <steno/core/half.hpp>
#include <steno/kernels/isa/scalar.hpp>
#include <steno/kernels/product/table.hpp>

#include <cmath>
#include <cstring>

namespace steno {
inline namespace STENO_ABI {
namespace kernels::scalar {

/// A number at any alignment.
inline float number_at(const std::byte* p, dtype format) noexcept {
  if (format == dtype::f32) {
    float v;
    std::memcpy(&v, p, 4);
    return v;
  }
  std::uint16_t h;
  std::memcpy(&h, p, 2);
  return format == dtype::f16 ? core::half_to_float(h) : core::bfloat_to_float(h);
}

template <class = void>
void quantise(const detail::quantise_job& job) noexcept {
  for (extent r = 0; r < job.rows; ++r)
    for (extent s = 0; s < job.blocks / job.span; ++s) {
      const extent values = job.span * detail::block;
      const float* from = job.x + r * job.stride + s * values;
      float largest = 0;
      for (extent k = 0; k < values; ++k) largest = std::max(largest, std::fabs(from[k]));
      const bool zero = !(largest > 0x1p-100f);
      const float inverse = zero ? 0 : 127.0f / largest;
      std::int32_t sums[3] = {};
      for (extent k = 0; k < values; ++k) {
        const float v = std::min(std::max(from[k] * inverse, -127.0f), 127.0f);
        const auto q = static_cast<std::int8_t>(std::lrint(v));  // to nearest even
        job.quants[((s * job.span + k / detail::block) * job.rows + r) * detail::block + k % detail::block] = q;
        sums[0] += q;
        sums[k % detail::block < 16 ? 1 : 2] += q;
      }
      const float scale = zero ? 0 : largest / 127.0f;
      const extent at = (s / 16 * job.rows + r) * 16 + s % 16;
      job.scales[at] = scale;
      for (extent i = 0; i < (job.span == 1 ? 3 : 1); ++i) {
        job.starts[at + i * job.plane] = job.origin - static_cast<float>(128 * sums[i]);
        job.offsets[at + i * job.plane] = scale * static_cast<float>(sums[i]);
      }
    }
}

template <class = void>
void int8_tile(const detail::int8_job& job) noexcept {
  const extent rows = job.rows, parts = job.layout.halves ? 2 : 1, span = job.layout.span;
  const extent values = span * detail::block / parts;
  const auto* quants = reinterpret_cast<const std::uint8_t*>(job.quants);
  for (extent r = 0; r < rows; ++r)
    for (extent n = 0; n < detail::group; ++n) {
      float sum = job.first ? 0 : job.sums[r * detail::group + n];
      for (extent s = 0; s < job.blocks / span; ++s)
        for (extent h = 0; h < parts; ++h) {
          std::int32_t dot = 0;
          for (extent k = h * values; k < (h + 1) * values; ++k) {
            const extent b = s * span + k / detail::block, i = k % detail::block;
            dot += (quants[(b * 8 + i / 4) * 64 + n * 4 + i % 4] - 128) * job.x[(b * rows + r) * detail::block + i];
          }
          const extent at = (s * parts + h) * detail::group + n;
          sum = core::fused_multiply_add(static_cast<float>(dot) * job.weight_scales[at], job.scales[16 * r + s], sum);
          if (job.minima != nullptr)
            sum = core::fused_multiply_add(job.minima[at], job.offsets[h * job.plane + 16 * r + s], sum);
        }
      job.sums[r * detail::group + n] = sum;
    }
}
template <class = void>
void finish(const detail::strip& s, const float* sums, extent sums_stride, extent m0, extent rows) noexcept {
  for (extent m = m0; m < m0 + rows; ++m)
    for (extent n = s.n0; n < s.n1; ++n)
      s.y[m * s.y_stride + n] = detail::finish(*s.e, sums[(m - m0) * sums_stride + (n - s.n0)], m, n);
}

inline constexpr int byte_lanes = 16;
#include <steno/kernels/product/unpack.inl>

template <class = void>
void float_row_strip(const detail::strip& s) noexcept {
  const operand& x = *s.x;
  // A row as stored, or a column of a packed group. The stored bytes of packed weights may be gone.
  const extent each = s.w->format == dtype::f32 ? 4 : 2, next = s.packed != nullptr ? each * detail::group : each;
  for (extent n = s.n0; n < s.n1; ++n) {
    const std::byte* const row = s.packed != nullptr ? s.packed + each * (n - s.n0) : s.w->row(n);
    for (extent m = s.first; m < s.last; ++m) {
      const float* const values = x.lines != nullptr ? x.lines + m * x.cols : x.x + m * x.stride;
      float sum = 0;
      for (extent k = 0; k < x.cols; ++k) sum += values[k] * number_at(row + next * k, s.w->format);
      s.y[m * s.y_stride + n] = detail::finish(*s.e, sum, m, n);
    }
  }
}

template <class = void>
inline constexpr detail::product_table product_kernels{
    .int8_panel = 1,
    .int8_groups = 1,
    .int8_rows = 64,
    .int8_tile_fetches = false,
    .int8_tile_biased = true,
    .sum_origin = 0,
    .float_dot_rows = 0,
    .float_panel = 0,
    .float_panels_from = 0,
    .float_columns = detail::group,
    .half_pair_rows = 0,
    .float_rows = 64,
    .float_panel_scratch = 0,
    .quantise = quantise,
    .interleave = nullptr,
    .unpack = unpack,
    .int8_tile = int8_tile,
    .finish = finish,
    .float_panel_strip = nullptr,
    .float_row_strip = float_row_strip,
};

}  // namespace kernels::scalar
}  // namespace STENO_ABI
}  // namespace steno
