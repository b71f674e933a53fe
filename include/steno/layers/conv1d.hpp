// steno/layers/conv1d.hpp - convolution over time with zeros at both ends: y[t] = act(sum_k W_k x[Stride t + k - Taps /
// 2]
// + b).
//
// torch.nn.Conv1d with padding = Taps / 2. x [frames, In] -> y [rows(frames), Out]. The weight is stored tap by tap,
// [Out, Taps * In], so the frames a row sees are one piece of memory and the convolution is one product over
// overlapping rows. Tested in tests/layers/conv1d_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/linear.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Convolution over time with zeros at both ends: x [frames, In] -> y [rows(frames), Out].
template <extent In, extent Out, extent Taps, extent Stride = 1, class Act = identity>
struct conv1d {
  static_assert(Taps % 2 == 1, "steno: the ends of an even kernel would differ");
  static constexpr extent input = In, output = Out;

  linear<core::times(Taps, In), Out, bias::added, Act> taps;  ///< the kernel as a product over Taps rows side by side

  void members(auto&& v) {
    v("", taps, core::stored::kernel(Taps));
    v.require(taps.input_size() % Taps == 0, "columns of weight", "a multiple of the taps", taps.input_size());
  }
  extent input_size() const noexcept { return taps.input_size() / Taps; }
  extent output_size() const noexcept { return taps.output_size(); }
  /// Rows that `frames` give: ceil(frames / Stride).
  static constexpr extent rows(extent frames) noexcept { return frames == 0 ? 0 : (frames - 1) / Stride + 1; }

  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, In> x, view<float, dynamic, Out> y, no_state* s, const auto& env,
                  context& c) const {
    if (x.rows() == 0) return;
    const extent width = x.cols();
    core::workspace::frame scratch(c.scratch);
    auto padded = scratch.template matrix<dynamic, In>(x.rows() + Taps - 1, width);
    padded.topRows(Taps / 2).setZero();
    padded.middleRows(Taps / 2, x.rows()) = x;
    padded.bottomRows(Taps / 2).setZero();
    const view<const float, dynamic, core::times(Taps, In)> windows(padded.data(), y.rows(), Taps * width,
                                                                    Eigen::OuterStride<>(Stride * width));
    taps(windows, y, s, env, c);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
