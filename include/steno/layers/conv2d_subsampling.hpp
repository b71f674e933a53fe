// steno/layers/conv2d_subsampling.hpp - 2-D convolutions over time and frequency that keep every 4th, 6th or 8th frame.
//
//   [frames, Feat] -> relu(conv2d) two or three times -> [frames', bands', D] -> linear -> [frames', D]
//   rate 4: kernels 3, 3, strides 2, 2;  rate 6: 3, 5 and 2, 3;  rate 8: 3, 3, 3 and 2, 2, 2; no padding
//
// WeNet `Conv2dSubsampling4/6/8` (subsampling.py) without the scaling by sqrt(D), which is the position encoding's.
// Every convolution is a product over gathered rows: activations lie as [frame, band, channel], so a kernel's row is
// one piece of memory. Kernels are therefore stored as [D, time, frequency, channel] and the linear's columns as [band,
// channel] (the checkpoint has channel first). Tested in tests/parity/wenet_test.cpp (golden stages).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/linear.hpp>

#include <algorithm>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Sizes of the convolutions of one rate.
struct conv2d_plan {
  /// One convolution, the same over time and frequency.
  struct stage {
    extent kernel;  ///< side of the square of frames and bands that a value sees
    extent stride;  ///< frames and bands from one value to the next
  };
  stage stages[3];  ///< in order; those from `count` on are not there
  extent count;     ///< how many there are: 2 or 3

  /// The plan of rate 4, 6 or 8; for other values that of 4.
  static constexpr conv2d_plan of(extent rate) {
    if (rate == 6) return {{{3, 2}, {5, 3}, {0, 1}}, 2};
    if (rate == 8) return {{{3, 2}, {3, 2}, {3, 2}}, 3};
    return {{{3, 2}, {3, 2}, {0, 1}}, 2};
  }
  /// Frames (or bands) left of n after the first `depth` stages.
  constexpr extent after(extent n, extent depth) const {
    for (extent i = 0; i < depth; ++i) n = n < stages[i].kernel ? 0 : (n - stages[i].kernel) / stages[i].stride + 1;
    return n;
  }
  /// Frames (or bands) left of n after all stages.
  constexpr extent after(extent n) const { return after(n, count); }
  /// Input frames that the first `rows` rows after stage `depth` need.
  constexpr extent before(extent rows, extent depth) const {
    for (extent i = depth; i-- > 0;) rows = (rows - 1) * stages[i].stride + stages[i].kernel;
    return rows;
  }
};

namespace detail {
/// Patches of kernel x kernel around every stride-th frame and band of x [frames, bands, channels], whose frames are
/// `step` apart: rows [frame', band'], each [kernel, kernel, channels].
struct conv2d_patches {
  const float* x;
  extent step, bands, channels;
  conv2d_plan::stage s;

  extent across() const noexcept { return (bands - s.kernel) / s.stride + 1; }
  void write(extent first, extent count, float* to) const noexcept {
    const extent wide = across(), piece = s.kernel * channels;
    for (extent i = first; i < first + count; ++i) {
      const float* from = x + i / wide * s.stride * step + i % wide * s.stride * channels;
      for (extent k = 0; k < s.kernel; ++k, to += piece, from += step) std::copy_n(from, piece, to);
    }
  }
};
}  // namespace detail

/// The front of WeNet's encoders: x [frames, Feat] -> y [rows(frames), D]. A rate other than 4, 6 or 8 is refused when
/// it is loaded.
template <extent Rate, extent Feat, extent D>
struct conv2d_subsampling {
  static constexpr extent input = Feat, output = D;
  /// Whether Rate, Feat and D are known at compile time.
  static constexpr bool sized = core::is_static(Rate) && core::is_static(Feat) && core::is_static(D);
  static constexpr conv2d_plan static_plan = conv2d_plan::of(Rate);  ///< of Rate; of rate 4 where that is dynamic
  /// Values of a channel that conv_2 sees.
  static constexpr extent patch = static_plan.stages[1].kernel * static_plan.stages[1].kernel;
  /// Columns that `out` reads: bands that are left, times D.
  static constexpr extent flat = sized ? static_plan.after(Feat) * D : dynamic;

  core::setting<Rate, 4, 8> rate;                                             ///< frames for each row that comes out
  core::setting<Feat, 1, 1024> bands;                                         ///< columns of x
  linear<9, D> conv_0;                                                        ///< the first stage: one channel to D
  linear<core::is_static(Rate) ? core::times(patch, D) : dynamic, D> conv_2;  ///< the second stage
  linear<core::times(9, D), D> conv_4;                                        ///< rate 8 only
  linear<flat, D> out;  ///< the linear behind the convolutions: `out.0` or `linear` in the checkpoint

  void members(auto&& v) {
    v("subsampling_rate", rate);
    v("input_dim", bands);
    const conv2d_plan p = plan();
    v("conv.0", conv_0, core::stored::kernel(3, 3).in_floats());
    v("conv.2", conv_2, core::stored::kernel(p.stages[1].kernel, p.stages[1].kernel));
    const extent n = rate.get(), d = conv_0.output_size();
    if (n == 8) v("conv.4", conv_4, core::stored::kernel(3, 3));
    v(n == 4 ? "out.0" : "linear", out, core::stored::bands_first(d));  // the original's own names
    v.require(n == 4 || n == 6 || n == 8, "subsampling_rate", "4, 6 or 8", n);
    v.equal("input of conv.2 and patches of conv.0", conv_2.input_size(), p.stages[1].kernel * p.stages[1].kernel * d);
    v.equal("outputs of conv.0 and conv.2", conv_2.output_size(), d);
    if (n == 8) v.equal("input of conv.4 and patches of conv.2", conv_4.input_size(), 9 * d);
    if (n == 8) v.equal("outputs of conv.0 and conv.4", conv_4.output_size(), d);
    v.equal("input of the linear and bands times channels", out.input_size(), p.after(bands.get()) * d);
  }
  extent input_size() const noexcept { return bands.get(); }
  extent output_size() const noexcept { return out.output_size(); }
  /// Sizes of the convolutions for `rate`.
  conv2d_plan plan() const noexcept { return conv2d_plan::of(rate.get()); }

  /// Output rows of n frames.
  extent rows(extent n) const noexcept { return plan().after(n); }
  /// Frames after a row's first one that it still sees: 6, 10 or 14.
  extent right_context() const noexcept { return plan().before(1, plan().count) - 1; }

  /// A stream sees its overlap again: the caller passes right_context() + 1 - rate frames twice.
  no_state start() const noexcept { return {}; }

  /// x [frames, Feat] -> y [rows(frames), D].
  void operator()(view<const float, dynamic, Feat> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    constexpr extent tile = 32;  // rows at once: bounds the prepared patches of a long clip
    for (extent t = 0; t < y.rows(); t += tile) {
      const extent n = std::min(tile, y.rows() - t);
      const auto frames = x.middleRows(t * rate.get(), plan().before(n, plan().count));
      convolve(core::read(frames), n, y.data() + t * y.outerStride(), y.outerStride(), t == 0, c);
    }
  }

 private:
  void convolve(const view<const float>& x, extent n, float* y, extent stride, bool first, context& c) const {
    const conv2d_plan p = plan();
    const extent d = conv_0.output_size();
    core::workspace::frame scratch(c.scratch);
    const float* from = x.data();
    extent step = x.outerStride(), bands_now = bands.get(), channels = 1;
    for (extent i = 0; i < p.count; ++i) {
      const auto [kernel, jump] = p.stages[i];
      const extent next = (bands_now - kernel) / jump + 1;
      // Rows of this stage that the later ones still need.
      extent frames = n;
      for (extent j = p.count; j-- > i + 1;) frames = (frames - 1) * p.stages[j].stride + p.stages[j].kernel;
      auto made = scratch.matrix(frames * next, d);
      {
        const detail::conv2d_patches patches{from, step, bands_now, channels, p.stages[i]};
        const kernels::row_source rows(patches, frames * next, kernel * kernel * channels);
        if (i == 0)
          convolve_by(conv_0, rows, made, c);
        else if (i == 1)
          convolve_by(conv_2, rows, made, c);
        else
          convolve_by(conv_4, rows, made, c);
      }
      from = made.data();
      step = next * d;
      bands_now = next;
      channels = d;
    }
    if (first && c.tracing()) show(from, n, bands_now, c);
    const auto flat_rows = core::make_view<dynamic, flat>(from, n, bands_now * d);
    out.multiply(flat_rows, core::make_view<dynamic, D>(y, n, output_size(), stride), c);
  }
  template <class L>
  static void convolve_by(const L& l, const kernels::row_source& rows, view<float> made, context& c) {
    core::workspace::frame scratch(c.scratch);
    l.multiply(kernels::prepare(rows, l.w.format, scratch, c.run), core::as<float, dynamic, L::output>(made), c,
               kernels::activation::relu);
  }
  // The first 8 frames as the original has them: [channels, frame, band].
  void show(const float* x, extent n, extent wide, context& c) const {
    const extent frames = std::min<extent>(n, 8), d = conv_0.output_size();
    core::workspace::frame scratch(c.scratch);
    auto shown = scratch.matrix(d, frames * wide);
    for (extent t = 0; t < frames * wide; ++t)
      for (extent i = 0; i < d; ++i) shown(i, t) = x[t * d + i];
    c.trace("conv", shown);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
