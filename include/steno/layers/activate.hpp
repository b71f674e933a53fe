// steno/layers/activate.hpp - an activation by itself: y = act(x).
//
// As a rule it is the epilogue of a product (layers/linear.hpp); this is for what stands between others. y may be x.
// Tested in tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/activation.hpp>
#include <steno/layers/layer.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// y = act(x), value by value; y may be x.
template <class = void>
void apply_activation(kernels::activation act, const view<const float>& x, const view<float>& y) {
  switch (act) {
    case kernels::activation::relu:
      return kernels::apply_relu(x, y);
    case kernels::activation::gelu:
      return kernels::apply_gelu(x, y);
    case kernels::activation::silu:
      return kernels::apply_silu(x, y);
    case kernels::activation::none:
      if (x.data() != y.data()) kernels::scale(x, 1.0f, y);
  }
}

/// A layer that is an activation alone: x [frames, D] -> y [frames, D]; y may be x. `Act` is a type of
/// layers/activation.hpp.
template <extent D, class Act>
struct activate {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  void members(auto&&) {}
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, no_state*, const auto& env,
                  context&) const {
    apply_activation(Act::of(env), core::read(x), core::write(y));
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
