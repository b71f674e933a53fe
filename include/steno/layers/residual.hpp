// steno/layers/residual.hpp - layers around which their input is added.
//
//   residual<A, B>           y = x + b(a(x));  half_residual: y = x + b(a(x)) / 2
//   fitting_residual<A, B>   the same where input and output are equally wide; else y = b(a(x))
//   post_norm<Norm, A, B>    y = norm(x + b(a(x)))
//
// x [frames, D] -> y [frames, D]; y may be x. The sum is the last product's where it is one (`addend`): one pass over
// memory fewer, equal bits. When somebody traces, it is a pass of its own. Tested in tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/sequence.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

namespace detail {
/// y = x + body(x) / Parts. Fitting: without the sum where the widths differ.
template <int Parts, bool Fitting, class... Stages>
struct residual_of {
  using body_type = sequence<Stages...>;
  static_assert(Fitting || core::compatible(body_type::input, body_type::output),
                "steno: the layers of a residual must write rows as wide as those they read");
  static constexpr extent input = body_type::input, output = body_type::output;
  static constexpr bool in_place = body_type::in_place && core::compatible(input, output);
  using state = state_of<body_type>;

  body_type body;

  void members(auto&& v) {
    body.members(v);
    if constexpr (!Fitting) v.equal("widths of a residual's input and output", input_size(), output_size());
  }
  extent input_size() const noexcept { return body.input_size(); }
  extent output_size() const noexcept { return body.output_size(); }
  state start() const { return body.start(); }
  void restart(state& s) const { body.restart(s); }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    constexpr float factor = 1.0f / Parts;
    if (Fitting && x.cols() != y.cols()) return body(x, y, s, env, c);
    if constexpr (supports_addend<body_type>)
      if (!c.tracing()) return body(x, y, s, env, c, addend{x.data(), x.outerStride(), factor});
    core::workspace::frame scratch(c.scratch);
    auto part = scratch.template matrix<dynamic, output>(y.rows(), y.cols());
    body(x, part, s, env, c);
    if constexpr (Parts != 1) kernels::scale(core::read(part), factor, core::write(part));
    kernels::add(core::read(x), core::read(part), core::write(y), c.run);
  }

  template <core::fixed_string Name>
  static constexpr bool has() {
    return body_type::template has<Name>();
  }
  template <core::fixed_string Name>
  const auto& get() const {
    return body.template get<Name>();
  }
  template <core::fixed_string Name>
  auto& get() {
    return body.template get<Name>();
  }
  template <core::fixed_string Name>
  static auto& get(auto& s) {
    return body_type::template get<Name>(s);
  }
};
}  // namespace detail

/// y = x + stages(x), the stages one after another.
template <class... Stages>
struct residual : detail::residual_of<1, false, Stages...> {};
/// y = x + stages(x) / 2.
template <class... Stages>
struct half_residual : detail::residual_of<2, false, Stages...> {};
/// y = x + stages(x) where x and y are equally wide, else y = stages(x).
template <class... Stages>
struct fitting_residual : detail::residual_of<1, true, Stages...> {};

/// y = norm(x + stages(x)).
template <class Norm, class... Stages>
using post_norm = sequence<residual<Stages...>, Norm>;

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
