// steno/layers/round_to_half.hpp - values as halves hold them, where a file's original keeps them so.
//
// y = float(half(x)), or y = x: `round_to_half` of the file. ggml's convolutions round what they read to f16 before
// they multiply, so a network that computes what whisper.cpp computes has this layer before each of them. y may be x.
// Tested in tests/layers/silero_layers_test.cpp and tests/parity/silero_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/half.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, D] -> y [frames, D]; y may be x.
template <extent D>
struct round_to_half {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  core::flag<dynamic> on;  ///< 1: rounds; 0: leaves values as they are

  void members(auto&& v) { v("round_to_half", on); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&, context&) const {
    if (on.get() == 0) {
      if (x.data() != y.data()) kernels::scale(core::read(x), 1.0f, core::write(y));
      return;
    }
    for (extent t = 0; t < x.rows(); ++t)
      for (extent i = 0; i < x.cols(); ++i)
        y.data()[t * y.outerStride() + i] = core::half_to_float(core::float_to_half(x.data()[t * x.outerStride() + i]));
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
