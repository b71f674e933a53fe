// steno/layers/sigmoid.hpp - y = 1 / (1 + exp(-x)), value by value, where a network ends in probabilities.
//
// torch.nn.Sigmoid. y may be x. Tested in tests/layers/silero_layers_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [frames, D] -> y [frames, D]; y may be x.
template <extent D>
struct sigmoid {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  void members(auto&&) {}
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto&, context&) const {
    kernels::apply_sigmoid(core::read(x), core::write(y));
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
