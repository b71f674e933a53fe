// steno/layers/around.hpp - what a layer is that adds something to the record of the stack inside of it.
//
// with_positions, with_distances, with_activation derive from it: widths and parts are the stack's. Tested in
// tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/stage.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Everything but members, state and call. The state of a derived layer has a member `stack`.
template <class Stack>
struct around {
  static_assert(layer<Stack>, "steno: what is around a stack needs a layer");
  static constexpr extent input = Stack::input, output = Stack::output;
  static constexpr bool in_place = works_in_place<Stack>;

  /// The layers inside.
  Stack stack;

  extent input_size() const noexcept { return stack.input_size(); }
  extent output_size() const noexcept { return stack.output_size(); }

  template <core::fixed_string Name>
  static constexpr bool has() {
    return detail::stage_has<Name, Stack>();
  }
  template <core::fixed_string Name>
  const auto& get() const {
    return detail::stage_get<Name>(stack);
  }
  template <core::fixed_string Name>
  auto& get() {
    return detail::stage_get<Name>(stack);
  }
  template <core::fixed_string Name>
  static auto& get(auto& s) {
    return detail::state_get<Name, Stack>(s.stack);
  }

 protected:
  /// For the call of a derived layer: the stack's own, with the record that was made for it. `s` is null for a whole
  /// clip.
  void run(view<const float, dynamic, input> x, view<float, dynamic, output> y, state_of<Stack>* s, const auto& env,
           context& c) const {
    detail::run_stage(stack, core::read(x), core::write(y), s, env, c);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
