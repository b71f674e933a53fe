// steno/layers/layer.hpp - what a layer is: widths, members, and a const call over [frames, width] views.
//
// `input` and `output` are the widths as far as they are known at compile time; input_size() and output_size() give
// them at run time. A layer that may write over its own input says `in_place = true`. Compile tests: tests/compile.
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/members.hpp>

#include <concepts>

namespace steno::inline STENO_ABI {

/// A layer maps [frames, input] to [frames, output] and borrows scratch and threads from the context.
template <class L>
concept layer = requires(const L& l, view<const float, dynamic, L::input> x, view<float, dynamic, L::output> y,
                         context& c) {
  { L::input } -> std::convertible_to<extent>;
  { L::output } -> std::convertible_to<extent>;
  l(x, y, c);
}
&&composite<L>;

/// True for layers whose y may be x.
template <class L>
inline constexpr bool works_in_place = requires {
  requires L::in_place;
};

/// Layers without a size of their own: they take rows of any width and leave it as it is.
template <class L>
inline constexpr bool keeps_width = !requires(const L& l) {
  l.output_size();
};

/// Compiles only when B can read what A writes.
template <class A, class B>
struct joins {
  static_assert(
      compatible(A::output, B::input),
      "steno: these two layers cannot be joined: output width of the first differs from input width of the second");
  static constexpr bool value = compatible(A::output, B::input);
};

}  // namespace steno::inline STENO_ABI
