// steno/layers/stft_magnitude.hpp - a short-time Fourier transform as a convolution: magnitudes of overlapping frames.
//
//   p = x with its edges mirrored: `left` samples in front, Filter / 4 behind
//   y[t, k] = sqrt((B_k p[t hop ..])^2 + (B_(bins + k) p[t hop ..])^2)         hop = Filter / 2, bins = Filter / 2 + 1
//
// The basis B (windowed cosines, then sines) is the checkpoint's. Follows `STFT` of Silero VAD (in its TorchScript
// archive: vad/utils/pytorch_stft), which mirrors the end alone and takes what is in front from the samples before;
// whisper.cpp mirrors both edges. Tested in tests/layers/silero_layers_test.cpp and tests/parity/silero_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/product.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Samples, one a row, to magnitudes: x [samples, 1] -> y [rows(samples), Filter / 2 + 1].
template <extent Filter>
struct stft_magnitude {
  static constexpr extent bins = core::is_static(Filter) ? Filter / 2 + 1 : dynamic;  ///< from 0 Hz to half the rate
  static constexpr extent input = dynamic, output = bins;

  core::setting<dynamic, 0> left;                               ///< samples mirrored in front: `left_padding`
  weights::weight<core::times(2, bins), Filter> forward_basis;  ///< cosines of all bins, then their sines

  void members(auto&& v) {
    v("left_padding", left);
    v("forward_basis_buffer", forward_basis, core::stored::floats());
    const extent n = filter();
    v.require(n >= 4 && n % 4 == 0, "columns of forward_basis_buffer", "a multiple of 4", n);
    v.equal("rows of forward_basis_buffer and twice its bins", forward_basis.rows(), 2 * (n / 2 + 1));
    v.require(left.get() == 0 || left.get() == n / 4, "left_padding", "0, or a quarter of the filter", left.get());
  }
  extent filter() const noexcept { return forward_basis.cols(); }  ///< samples of a frame
  extent right() const noexcept { return filter() / 4; }           ///< samples mirrored behind
  extent input_size() const noexcept { return 1; }
  extent output_size() const noexcept { return forward_basis.rows() / 2; }
  /// Frames that `samples` give: none when there are too few to be mirrored.
  extent rows(extent samples) const noexcept {
    const extent all = samples + left.get() + right();
    return samples <= std::max(left.get(), right()) || all < filter() ? 0 : (all - filter()) / (filter() / 2) + 1;
  }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, dynamic> x, view<float, dynamic, bins> y, no_state*, const auto&,
                  context& c) const {
    if (y.rows() == 0) return;
    const extent n = x.rows(), before = left.get();
    core::workspace::frame scratch(c.scratch);
    float* const padded = scratch.template take<float>(static_cast<std::size_t>(before + n + right()));
    for (extent i = 0; i < n; ++i) padded[before + i] = x(i, 0);
    for (extent i = 0; i < before; ++i) padded[i] = padded[2 * before - i];
    for (extent i = 0; i < right(); ++i) padded[before + n + i] = padded[before + n - 2 - i];
    auto parts = scratch.matrix(y.rows(), forward_basis.rows());
    const view<const float> frames(padded, y.rows(), filter(), Eigen::OuterStride<>(filter() / 2));
    kernels::matmul(frames, forward_basis.ref(), {}, core::write(parts), c);
    const extent count = output_size();
    for (extent t = 0; t < y.rows(); ++t) {
      const float* const real = parts.data() + t * parts.outerStride();
      float* const out = y.data() + t * y.outerStride();
      for (extent k = 0; k < count; ++k) out[k] = std::sqrt(real[k] * real[k] + real[count + k] * real[count + k]);
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
