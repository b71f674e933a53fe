// steno/layers/repeat.hpp - N equal layers after one another: one instantiation, walked by a loop.
//
//   y = l_N(... l_1(x)); x [frames, input] -> y [frames, output]
//
// Each layer's result is traced as "out". A record with layer(i) gives layer i a record of its own. Tested in
// tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

namespace detail {
[[noreturn]] STENO_COLD inline void refuse_state(std::size_t layers, std::size_t states) {
  fail({.what = "state of a stack",
        .expected = std::to_string(layers) + " layers, as the stack that it is given to",
        .found = std::to_string(states)});
}
}  // namespace detail

/// N equal layers after one another, named "0", "1", ... N may be dynamic: the binder counts the tensors' names. y may
/// be x unless N == 1: a single layer may change the width.
template <extent N, class L>
struct repeat {
  static_assert(layer<L>, "steno: what is repeated is a layer");
  static constexpr extent input = L::input, output = L::output;
  static_assert(N == 1 || core::compatible(input, output), "steno: a repeated layer must write what it reads");
  static constexpr bool in_place = N != 1 || works_in_place<L>;
  /// Whether its layers keep nothing in a stream.
  static constexpr bool stateless = std::is_same_v<state_of<L>, no_state>;
  /// A state for each layer; no_state where they keep nothing.
  using state = std::conditional_t<stateless, no_state, std::vector<state_of<L>>>;

  /// In order; a vector where N is dynamic.
  std::conditional_t<core::is_static(N), std::array<L, static_cast<std::size_t>(core::is_static(N) ? N : 0)>,
                     std::vector<L>>
      layers;

  void members(auto&& v) {
    if constexpr (!core::is_static(N))
      if (const auto n = v.count()) layers.resize(static_cast<std::size_t>(*n));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      v(std::to_string(i), layers[i]);
      if (i > 0) v.equal("widths of neighbouring layers", layers[i - 1].output_size(), layers[i].input_size());
    }
  }
  /// Whether there are no layers: rows then go through as they are.
  bool empty() const noexcept { return layers.empty(); }
  /// How many layers there are.
  extent size() const noexcept { return static_cast<extent>(layers.size()); }
  extent input_size() const noexcept { return layers.empty() ? 0 : layers.front().input_size(); }
  extent output_size() const noexcept { return layers.empty() ? 0 : layers.back().output_size(); }
  /// The first layer; there must be one.
  const L& front() const noexcept { return layers.front(); }
  /// Layer i, from 0; it must be there.
  const L& operator[](extent i) const noexcept { return layers[static_cast<std::size_t>(i)]; }
  /// f(layer, number) for all of them.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < layers.size(); ++i) f(layers[i], static_cast<extent>(i));
  }

  state start() const {
    state s;
    if constexpr (!stateless) {
      s.reserve(layers.size());
      for (const L& l : layers) s.push_back(l.start());
    }
    return s;
  }
  void restart(state& s) const {
    if constexpr (!stateless) {
      if (s.size() != layers.size()) s = start();
      for (std::size_t i = 0; i < layers.size(); ++i) steno::nn::restart(layers[i], s[i]);
    }
  }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    if (layers.empty()) {
      if (x.data() != y.data()) kernels::scale(core::read(x), 1.0f, core::write(y));
      return;
    }
    if constexpr (!stateless)
      if (s != nullptr && s->size() != layers.size()) detail::refuse_state(layers.size(), s->size());
    const auto state_at = [&](std::size_t i) -> state_of<L>* {
      if constexpr (stateless)
        return s;
      else
        return s == nullptr ? nullptr : &(*s)[i];
    };
    const auto run = [&](std::size_t i, view<const float, dynamic, input> from) {
      if constexpr (requires { env.layer(extent{}); })
        layers[i](from, y, state_at(i), env.layer(static_cast<extent>(i)), c);
      else
        layers[i](from, y, state_at(i), env, c);
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
      c.check_stop();  // every network of any length is repeated layers, so no call goes on for longer than one of them
      auto scope = c.enter("", static_cast<extent>(i));
      run(i, i == 0 ? x : core::as<const float, dynamic, input>(y));
      c.trace("out", y);
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
