// steno/layers/conv2d_halving.hpp - a 3 x 3 convolution over time and frequency that halves both: stride 2, zeros
// around.
//
//   y[t, f] = act(sum_{i, j} W_ij x[2 t + i - 1, 2 f + j - 1] + b),  t < (frames + 1) / 2, f < (bands + 1) / 2
//
// torch.nn.Conv2d(In, Out, 3, 2, padding=1). Activations lie as [frame, band, channel], so the kernel is stored as
// [Out, time * band * In] (the checkpoint has [Out, In, band, time]) and the convolution is a product over patches, a
// few frames at a time. Tested in tests/layers/conv2d_halving_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/activation.hpp>
#include <steno/layers/linear.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, Bands * In] -> y [rows(frames), halved(Bands) * Out]; the channels of a band are neighbours.
template <extent Bands, extent In, extent Out, class Act = identity>
struct conv2d_halving {
  /// What a stride leaves of n frames or bands: half of them, rounded up; dynamic stays dynamic.
  static constexpr extent halved(extent n) noexcept { return core::is_static(n) ? (n + 1) / 2 : dynamic; }
  static constexpr extent input = core::times(Bands, In), output = core::times(halved(Bands), Out);

  core::size_of<Bands> bands;  ///< of x; a stack that learns them from its file sets them before the tensors are bound
  linear<core::times(9, In), Out> kernel;  ///< [Out, 3 * 3 * In], and its bias

  void members(auto&& v) {
    v("", kernel, In == 1 ? core::stored::turned_kernel(3, 3).in_floats() : core::stored::turned_kernel(3, 3));
    v.require(kernel.input_size() % 9 == 0, "columns of weight", "a multiple of 9", kernel.input_size());
  }
  /// Channels of a band of x.
  extent channels_in() const noexcept { return kernel.input_size() / 9; }
  /// Channels of a band of y.
  extent channels_out() const noexcept { return kernel.output_size(); }
  extent input_size() const noexcept { return bands.get() * channels_in(); }
  extent output_size() const noexcept { return halved(bands.get()) * channels_out(); }
  /// Rows that `frames` give: half as many, rounded up.
  extent rows(extent frames) const noexcept { return halved(frames); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, no_state*, const auto& env,
                  context& c) const {
    const extent channels = channels_in(), across = halved(bands.get()), d = channels_out();
    const kernels::activation act = Act::of(env);
    const view<const float> all = core::read(x);
    // So many frames that what is prepared of them stays in the second cache beside the weights that pass.
    const extent step = std::max<extent>(1, rows_at_once / across);
    for (extent t = 0; t < y.rows(); t += step) {
      const extent n = std::min(step, y.rows() - t);
      core::workspace::frame scratch(c.scratch);
      const patches from{all, t, bands.get()};
      const kernels::operand rows =
          kernels::prepare(kernels::row_source(from, n * across, 9 * channels), kernel.w.format, scratch, c.run);
      if (y.outerStride() == y.cols()) {
        kernel.multiply(rows, core::make_view<dynamic, Out>(y.data() + t * y.cols(), n * across, d), c, act);
        continue;
      }
      auto made = scratch.template matrix<dynamic, Out>(n * across, d);
      kernel.multiply(rows, made, c, act);
      y.middleRows(t, n) = core::make_view(made.data(), n, across * d);
    }
  }

 private:
  static constexpr extent rows_at_once = 128;

  /// The patches of output frames from t0 on: rows [frame, band], each [time][band][channel] with zeros outside of x.
  struct patches {
    const view<const float>& x;
    extent t0, bands;

    void write(extent begin, extent count, float* to) const noexcept {
      const extent across = halved(bands), channels = x.cols() / bands, piece = 3 * channels;
      for (extent row = begin; row < begin + count; ++row)
        for (extent i = 0; i < 3; ++i, to += piece) {
          const extent frame = 2 * (t0 + row / across) + i - 1, band = 2 * (row % across) - 1;
          if (frame < 0 || frame >= x.rows()) {
            std::fill_n(to, piece, 0.0f);
            continue;
          }
          const float* const bands_at = x.data() + frame * x.outerStride();
          const extent from = std::max<extent>(band, 0), till = std::min(band + 3, bands);
          std::fill_n(to, (from - band) * channels, 0.0f);
          std::copy(bands_at + from * channels, bands_at + till * channels, to + (from - band) * channels);
          std::fill(to + (till - band) * channels, to + piece, 0.0f);
        }
    }
  };
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
