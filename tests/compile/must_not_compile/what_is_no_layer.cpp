// A stack is made of layers: one call with a state and a record.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/linear.hpp>
#include <steno/layers/stack.hpp>

namespace what_is_no_layer {

struct own {
  static constexpr steno::extent input = 8, output = 8;
  void members(auto&&) {}
  steno::nn::no_state start() const { return {}; }
  void operator()(steno::view<const float, steno::dynamic, 8> x, steno::view<float, steno::dynamic, 8> y,
#ifndef STENO_MUST_NOT_COMPILE
                  steno::nn::no_state*, const auto&,
#endif
                  steno::context&) const {
    y = x;
  }
};

steno::extent f() { return steno::nn::sequence<steno::nn::linear<4, 8>, own>::output; }

}  // namespace what_is_no_layer
