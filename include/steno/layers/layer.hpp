// steno/layers/layer.hpp - what a layer is: widths, named members, ONE call, and the state that a stream keeps for it.
//
//   l(x, y, state, env, context)     x [frames, input] -> y [rows(frames), output]
//
// `state` is null for a whole clip; in a stream it is what l.start() gave and the calls before left. `env` is what the
// layers of one stack share (positions, attention window, the encoder's rows): a record of the caller's, whose names a
// layer reads; a missing one is a compile error in one line. A layer that may write over its own input says `in_place`.
// A layer whose last step is a product takes one argument more: what its result is added to. Compile tests:
// tests/compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/copyable.hpp>
#include <steno/core/members.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// The state of a layer that keeps nothing.
struct no_state {};
/// The record of a stack that shares nothing.
struct no_env {};

/// What a stream keeps for a layer. Copyable: beams fork, tests rewind.
template <class L>
using state_of = std::remove_cvref_t<decltype(std::declval<const L&>().start())>;

/// y = rows + factor * l(x): `rows` may be y itself, and must not overlap it otherwise.
struct addend {
  const float* rows = nullptr;  ///< null: nothing is added
  extent stride = 0;            ///< floats from one of them to the next
  float factor = 1;             ///< what l(x) is multiplied by
};

/// A layer maps [frames, input] to [rows, output] and borrows scratch and threads from the context.
template <class L, class Env = no_env>
concept layer = core::composite<L> && core::copyable<state_of<L>> &&
    requires(const L& l, view<const float, dynamic, L::input> x, view<float, dynamic, L::output> y, state_of<L>* s,
             const Env& env, context& c) {
  { L::input } -> std::convertible_to<extent>;
  { L::output } -> std::convertible_to<extent>;
  { l.start() } -> std::same_as<state_of<L>>;
  l(x, y, s, env, c);
};

/// True for layers whose y may be x.
template <class L>
inline constexpr bool works_in_place = requires {
  requires L::in_place;
};

/// True for layers that add their result to an addend on its way out.
template <class L>
inline constexpr bool supports_addend = requires(const L& l, view<const float, dynamic, L::input> x,
                                                 view<float, dynamic, L::output> y, state_of<L>* s, const no_env& env,
                                                 context& c, const addend& to) {
  l(x, y, s, env, c, to);
};

/// Layers without a size of their own: they take rows of any width and leave it as it is.
template <class L>
inline constexpr bool keeps_width = !requires(const L& l) {
  l.output_size();
};

/// A whole clip through a layer that needs nothing else.
template <layer L>
void apply(const L& l, view<const float, dynamic, L::input> x, view<float, dynamic, L::output> y, context& c) {
  l(x, y, nullptr, no_env{}, c);
}

/// Rows that `frames` give: as many, unless the layer says otherwise. With a state, of the next piece of its stream.
template <class L, class Env>
extent rows_after(const L& l, extent frames, const state_of<L>* s, const Env& env) {
  if constexpr (requires { l.rows(frames, s, env); })
    return l.rows(frames, s, env);
  else if constexpr (requires { l.rows(frames); })
    return l.rows(frames);
  else
    return frames;
}

/// Layers that do not give a row for each row.
template <class L>
inline constexpr bool changes_rows = requires(const L& l, extent n) {
  l.rows(n);
}
|| requires(const L& l, extent n, const state_of<L>* s, const no_env& env) { l.rows(n, s, env); };

/// Makes a stream's state what l.start() gives, in the memory that it has where the layer knows how.
template <class L>
void restart(const L& l, state_of<L>& s) {
  if constexpr (requires { l.restart(s); })
    l.restart(s);
  else
    s = l.start();
}

/// Compiles only when B can read what A writes.
template <class A, class B>
struct joins {
  static_assert(
      core::compatible(A::output, B::input),
      "steno: these two layers cannot be joined: output width of the first differs from input width of the second");
  static constexpr bool value = core::compatible(A::output, B::input);  ///< whether they can be joined
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
