// steno/layers/sinusoid.hpp - input scaling and sinusoidal positions.
//
//   scale_by_root: y = x * sqrt(D); scale_by_own_root: D is the width of x
//   sinusoid:      y[t] = x[t] + [sin(p w_0) ... sin(p w_{F/2-1}) cos(p w_0) ... cos(p w_{F/2-1})],  p = t + First,
//                  w_i = exp(-i ln(10000) / (F/2 - 1))
//
// FunASR `SinusoidalPositionEncoder`: the depth is the width of the features (560), positions start at 1.
// Tested in tests/layers/sinusoid_test.cpp and on golden stage "posenc".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

#include <algorithm>
#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, Feat] times the square root of D, a setting "output_size" where it is dynamic. y may be x.
template <extent Feat, extent D>
struct scale_by_root {
  static constexpr extent input = Feat, output = Feat;
  static constexpr bool in_place = true;

  core::setting<D> output_width;  ///< D: the setting `output_size`

  void members(auto&& v) { v("output_size", output_width); }

  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, Feat> x, view<float, dynamic, Feat> y, no_state*, const auto&,
                  context&) const {
    kernels::scale(core::read(x), std::sqrt(static_cast<float>(output_width.get())), core::write(y));
  }
};

/// x [frames, D] times the square root of D. y may be x.
template <extent D>
struct scale_by_own_root {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  void members(auto&&) {}
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&, context&) const {
    kernels::scale(core::read(x), std::sqrt(static_cast<float>(x.cols())), core::write(y));
  }
};

/// x [frames, D], times the square root of D where the file says so (NeMo `xscaling`). y may be x.
template <extent D>
struct optional_scale {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  core::flag<dynamic> xscaling;  ///< 1: times the root; 0: rows stay as they are

  void members(auto&& v) { v("xscaling", xscaling); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&,
                  context& c) const {
    c.trace("subsampling_out", x);
    const float factor = xscaling.get() != 0 ? std::sqrt(static_cast<float>(x.cols())) : 1.0f;
    if (factor != 1 || x.data() != y.data()) kernels::scale(core::read(x), factor, core::write(y));
    c.trace("pos_enc_x", y);
  }
};

/// Adds positions First, First + 1, ... to x [frames, Feat]; y may be x. A stream goes on counting.
template <extent Feat, extent First>
struct sinusoid {
  static constexpr extent input = Feat, output = Feat;
  static constexpr bool in_place = true;
  /// What a stream keeps: where its positions are.
  struct state {
    extent frames = 0;  ///< so far
  };

  void members(auto&&) {}
  state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, Feat> x, view<float, dynamic, Feat> y, state* s, const auto&,
                  context& c) const {
    const extent before = s == nullptr ? 0 : s->frames;
    if (s != nullptr) s->frames += x.rows();
    const extent half = x.cols() / 2;
    core::workspace::frame scratch(c.scratch);
    float* rate = scratch.take<float>(static_cast<std::size_t>(half));
    const auto step = static_cast<float>(std::log(10000.0) / static_cast<double>(half - 1));
    for (extent i = 0; i < half; ++i) rate[i] = std::exp(static_cast<float>(i) * -step);
    constexpr extent tile = 32;
    c.run.run((x.rows() + tile - 1) / tile, [&](extent n, int) {
      for (extent t = n * tile; t < std::min(x.rows(), (n + 1) * tile); ++t) {
        const float* in = x.data() + t * x.outerStride();
        float* out = y.data() + t * y.outerStride();
        const auto position = static_cast<float>(t + before + First);
        for (extent i = 0; i < half; ++i) {
          const float angle = position * rate[i];
          out[i] = in[i] + std::sin(angle);
          out[half + i] = in[half + i] + std::cos(angle);
        }
      }
    });
    c.trace("posenc", y);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
