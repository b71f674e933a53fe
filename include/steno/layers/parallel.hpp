// steno/layers/parallel.hpp - layers that read the same rows and are added: y = a(x) + b(x).
//
// x [frames, input] -> y [frames, output]; y must not be x. The sum is the product's of each layer that ends in one.
// Tested in tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/parts.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/stage.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// y = a(x) + b(x) + ...; y must not be x.
template <class First, class... Rest>
struct parallel {
  static_assert(layer<First> && (layer<Rest> && ...), "steno: what runs in parallel are layers");
  static_assert((core::compatible(First::input, Rest::input) && ...) &&
                    (core::compatible(First::output, Rest::output) && ...),
                "steno: layers in parallel must read and write rows of equal widths");
  static constexpr extent input = First::input, output = First::output;
  using state = core::parts<state_of<First>, state_of<Rest>...>;

  core::parts<First, Rest...> stages;

  void members(auto&& v) {
    stages.each([&](auto& stage) { detail::visit_stage(stage, v); });
    const auto& first = core::part<0>(stages);
    bool behind = false;  // the first one
    stages.each([&](const auto& stage) {
      if (behind) v.equal("inputs of layers in parallel", stage.input_size(), first.input_size());
      behind = true;
    });
    behind = false;
    stages.each([&](const auto& stage) {
      if (behind) v.equal("outputs of layers in parallel", stage.output_size(), first.output_size());
      behind = true;
    });
  }
  extent input_size() const noexcept { return core::part<0>(stages).input_size(); }
  extent output_size() const noexcept { return core::part<0>(stages).output_size(); }
  state start() const {
    return stages.template map<state>([](const auto& stage) { return stage.start(); });
  }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    detail::run_stage(core::part<0>(stages), core::read(x), core::write(y), detail::part_of<0>(s), env, c);
    add_from<1>(x, y, s, env, c);
  }

 private:
  template <std::size_t I>
  void add_from(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                context& c) const {
    if constexpr (I <= sizeof...(Rest)) {
      const auto& stage = core::part<I>(stages);
      using S = std::remove_cvref_t<decltype(stage)>;
      bool done = false;
      if constexpr (supports_addend<S>)
        if (!c.tracing()) {
          detail::run_stage(stage, core::read(x), core::write(y), detail::part_of<I>(s), env, c,
                            addend{y.data(), y.outerStride()});
          done = true;
        }
      if (!done) {
        core::workspace::frame scratch(c.scratch);
        auto part = scratch.template matrix<dynamic, output>(y.rows(), y.cols());
        detail::run_stage(stage, core::read(x), core::write(part), detail::part_of<I>(s), env, c);
        kernels::add(core::read(y), core::read(part), core::write(y), c.run);
      }
      add_from<I + 1>(x, y, s, env, c);
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
