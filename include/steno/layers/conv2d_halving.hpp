// steno/layers/conv2d_halving.hpp - a 3 x 3 convolution over time and frequency that halves both: stride 2, zeros
// around.
//
//   y[t, f] = act(sum_{i, j} W_ij x[2 t + i - 1, 2 f + j - 1] + b),  t < (frames + 1) / 2, f < (bands + 1) / 2
//
// torch.nn.Conv2d(In, Out, 3, 2, padding=1). Activations lie as [frame, band, channel], so the kernel is stored as
// [Out, time * band * In] (the checkpoint has [Out, In, band, time]) and the convolution is a product over gathered
// rows, a few frames at a time. Tested in tests/layers/conv2d_halving_test.cpp.
#pragma once
#include <steno/layers/linear.hpp>

#include <algorithm>
#include <cstring>

namespace steno::inline STENO_ABI {

template <extent In, extent Out>
struct conv2d_halving {
  static constexpr extent input = In, output = Out;
  static constexpr extent patch = times(9, In);

  linear<patch, Out> kernel;

  void members(auto&& v) {
    kernel.members(v);
    v.equal("columns of weight and nine times channels", kernel.input_size(), kernel.input_size() / 9 * 9);
  }
  extent input_size() const noexcept { return kernel.input_size() / 9; }
  extent output_size() const noexcept { return kernel.output_size(); }
  static constexpr extent halved(extent n) noexcept { return (n + 1) / 2; }

  /// x [frames, bands * In] -> y [halved(frames), halved(bands) * Out]; the channels of a band are neighbours. Rows of
  /// both may lie apart.
  void operator()(const view<const float>& x, view<float> y, context& c,
                  kernels::activation act = kernels::activation::none) const noexcept {
    const extent channels = input_size(), bands = x.cols() / channels, across = halved(bands), d = output_size();
    // So many frames that the gathered rows stay in the second cache beside the weights that pass.
    const extent some = std::max<extent>(1, rows_at_once / across);
    for (extent t = 0; t < y.rows(); t += some) {
      const extent n = std::min(some, y.rows() - t);
      workspace::frame scratch(c.scratch);
      auto patches = scratch.template matrix<dynamic, patch>(n * across, 9 * channels);
      c.run.run(n, [&](extent i, int) { gather(x, t + i, bands, patches.data() + i * across * patches.cols()); });
      if (y.outerStride() == y.cols()) {
        kernel(patches, make_view<dynamic, Out>(y.data() + t * y.cols(), n * across, d), c, act);
        continue;
      }
      auto made = scratch.template matrix<dynamic, Out>(n * across, d);
      kernel(patches, made, c, act);
      y.middleRows(t, n) = make_view(made.data(), n, across * d);
    }
  }

 private:
  static constexpr extent rows_at_once = 96;

  // The patches of output frame t: [band][time][band][channel], zeros outside of x.
  static void gather(const view<const float>& x, extent t, extent bands, float* to) noexcept {
    const extent channels = x.cols() / bands, piece = 3 * channels;
    const auto bytes = [](extent n) { return static_cast<std::size_t>(n) * sizeof(float); };
    for (extent f = 0; f < halved(bands); ++f)
      for (extent i = 0; i < 3; ++i, to += piece) {
        const extent frame = 2 * t + i - 1, first = 2 * f - 1;
        if (frame < 0 || frame >= x.rows()) {
          std::memset(to, 0, bytes(piece));
          continue;
        }
        const float* const from = x.data() + frame * x.outerStride();
        const extent begin = std::max<extent>(first, 0), end = std::min(first + 3, bands);
        if (first < 0) std::memset(to, 0, bytes(channels));
        std::memcpy(to + (begin - first) * channels, from + begin * channels, bytes((end - begin) * channels));
        if (end < first + 3) std::memset(to + (end - first) * channels, 0, bytes((first + 3 - end) * channels));
      }
  }
};

}  // namespace steno::inline STENO_ABI
