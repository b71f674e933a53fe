// steno/layers/depthwise_subsampling.hpp - three convolutions of stride 2 over time and frequency: one row of 8 frames.
//
//   [frames, Feat] -> relu(conv 3x3, 1 -> C) -> twice relu(conv 1x1(depthwise 3x3)) -> linear -> [frames', D]
//
// NeMo `ConvSubsampling` with "dw_striding" (subsampling.py). Each stride pads both axes with zeros: one before and one
// after, or two before and one after when it is causal; so n frames become (n - 1) / 2 + 1, or n / 2 + 1. Activations
// lie as [frame, band, channel]: taps are stored as [9, C] and the linear's columns as [band, channel] (the checkpoint
// has channel first). The original masks rows behind the valid ones, which is the same as not having them. Tested in
// tests/layers/depthwise_subsampling_test.cpp and tests/parity/parakeet_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/depthwise2d.hpp>
#include <steno/layers/linear.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

namespace detail {
/// What `stages` convolutions of kernel 3 and stride 2 leave of n values with `before` zeros in front and one behind.
constexpr extent strided(extent n, extent before, int stages) {
  for (int i = 0; i < stages; ++i) n = (n + before + 1 - 3) / 2 + 1;
  return n;
}
}  // namespace detail

/// The front of NeMo's FastConformer: x [frames, Feat] -> y [rows(frames), D], a row for 8 frames.
template <extent Feat, extent C, extent D, extent Causal = dynamic>
struct depthwise_subsampling {
  static constexpr extent input = Feat, output = D;
  static constexpr extent rate = 8;  ///< frames for each row that comes out

  /// Channels times the bands that three strides leave.
  static constexpr extent columns = core::is_static(Feat) && core::is_static(Causal)
                                        ? core::times(detail::strided(Feat, Causal != 0 ? 2 : 1, 3), C)
                                        : dynamic;

  /// Depthwise 3 x 3 of stride 2, then 1 x 1.
  struct separable {
    weights::weight<9, C, dtype::f32, weights::use::rows> taps;  ///< depthwise 3 x 3, tap by tap
    weights::vector_weight<C> taps_bias;                         ///< added to each value behind the taps
    linear<C, C> mix;                                            ///< 1 x 1, from channels to channels
  };

  core::flag<Causal> causal;           ///< 1: two zeros before and one after each axis; 0: one on either side
  core::setting<Feat, 1, 1024> bands;  ///< columns of x
  linear<9, C> conv_0;                 ///< the first 3 x 3 convolution: one channel to C
  separable second;                    ///< `conv.2` and `conv.3`
  separable third;                     ///< `conv.5` and `conv.6`
  linear<columns, D> out;              ///< the linear behind the convolutions

  void members(auto&& v) {
    v("causal_downsampling", causal);
    v("feat_in", bands);
    v("conv.0", conv_0, core::stored::kernel(3, 3).in_floats());
    const extent channels = conv_0.output_size();
    const auto stage = [&](separable& s, const char* depth, const char* depth_bias, const char* mix) {
      v(depth, s.taps, core::stored::taps(3, 3));
      v(depth_bias, s.taps_bias);
      v(mix, s.mix, core::stored::kernel(1, 1));
      for (const extent n : {s.taps.cols(), s.taps_bias.cols(), s.mix.input_size(), s.mix.output_size()})
        v.equal("channels of the convolutions", n, channels);
    };
    stage(second, "conv.2.weight", "conv.2.bias", "conv.3");
    stage(third, "conv.5.weight", "conv.5.bias", "conv.6");
    v("out", out, core::stored::bands_first(channels));
    v.require(conv_0.input_size() == 9, "input of conv.0", "9 values", conv_0.input_size());
    v.equal("input of out and bands times channels", out.input_size(), after(bands.get(), 3) * channels);
  }
  extent input_size() const noexcept { return bands.get(); }
  extent output_size() const noexcept { return out.output_size(); }

  /// Output rows of n frames.
  extent rows(extent n) const noexcept { return n > 0 ? after(n, 3) : 0; }

  /// A stream sees its overlap again.
  no_state start() const noexcept { return {}; }

  /// x [frames, Feat] -> y [rows(frames), D].
  void operator()(view<const float, dynamic, Feat> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    constexpr extent tile = 64;  // rows at once: bounds the planes of a long clip
    for (extent t = 0; t < y.rows(); t += tile)
      convolve(core::read(x), t, std::min(y.rows(), t + tile),
               core::write(y.middleRows(t, std::min(tile, y.rows() - t))), c);
  }

 private:
  extent before() const noexcept { return causal.get() != 0 ? 2 : 1; }
  extent after(extent n, int stages) const noexcept { return detail::strided(n, before(), stages); }
  struct rows_needed {
    extent first, last;
  };
  /// Rows of a stage with n rows that rows [first, last) of the next one read.
  rows_needed under(rows_needed r, extent n) const noexcept {
    return {std::max<extent>(0, 2 * r.first - before()), std::min(n, 2 * (r.last - 1) - before() + 3)};
  }

  void convolve(const view<const float>& x, extent from, extent to, view<float> y, context& c) const {
    const extent channels = conv_0.output_size(), n0 = x.rows(), f0 = x.cols();
    const rows_needed r3{from, to}, r2 = under(r3, after(n0, 2)), r1 = under(r2, after(n0, 1));
    const extent f1 = after(f0, 1), f2 = after(f0, 2), f3 = after(f0, 3);
    core::workspace::frame scratch(c.scratch);
    auto three = scratch.template matrix<dynamic, C>((r3.last - r3.first) * f3, channels);
    {
      core::workspace::frame inner(c.scratch);
      auto two = inner.template matrix<dynamic, C>((r2.last - r2.first) * f2, channels);
      {
        core::workspace::frame innermost(c.scratch);
        auto one = innermost.template matrix<dynamic, C>((r1.last - r1.first) * f1, channels);
        first(x, r1, f1, one, c);
        separate(second, {one.data(), r1.first, r1.last, f1, channels}, r2, f2, two, c);
      }
      separate(third, {two.data(), r2.first, r2.last, f2, channels}, r3, f3, three, c);
    }
    out.multiply(core::make_view<dynamic, columns>(static_cast<const float*>(three.data()), to - from, f3 * channels),
                 core::as<float, dynamic, D>(y), c);
  }
  // The first convolution as a product over gathered patches.
  void first(const view<const float>& x, rows_needed r, extent wide, view<float, dynamic, C> y, context& c) const {
    const extent count = r.last - r.first, left = before();
    core::workspace::frame scratch(c.scratch);
    auto patches = scratch.template matrix<dynamic, 9>(count * wide, 9);
    float* const to = patches.data();
    c.run.run(count, [&](extent t, int) {
      float* p = to + t * wide * 9;
      const extent start = 2 * (r.first + t) - left;
      for (extent f = 0; f < wide; ++f)
        for (extent i = start; i < start + 3; ++i)
          for (extent j = 2 * f - left; j < 2 * f - left + 3; ++j)
            *p++ = i >= 0 && i < x.rows() && j >= 0 && j < x.cols() ? x.data()[i * x.outerStride() + j] : 0.0f;
    });
    conv_0.multiply(patches, y, c, kernels::activation::relu);
  }
  void separate(const separable& s, const kernels::plane& x, rows_needed r, extent wide, view<float, dynamic, C> y,
                context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto deep = scratch.template matrix<dynamic, C>(y.rows(), y.cols());
    kernels::depthwise2d(x, before(), s.taps.floats(), s.taps_bias.floats(), r.first, r.last, wide, deep.data(), c.run);
    s.mix.multiply(deep, y, c, kernels::activation::relu);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
