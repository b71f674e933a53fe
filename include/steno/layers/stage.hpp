// steno/layers/stage.hpp - a layer as a part of a stack: its name, what is compared before it is called, and its trace.
//
//   at<"name", L>      L is a member with the checkpoint's name; its result is traced under it
//   shown<"name", L>   L's result has a name for those who look (core/trace.hpp), and no member
//
// Everything in layers/stack.hpp calls its layers through run_stage(): rows and widths that do not fit are an error in
// every build. Tested in tests/layers/stack_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/fixed_string.hpp>
#include <steno/core/parts.hpp>
#include <steno/error.hpp>
#include <steno/layers/layer.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// A layer with the name of its member in the checkpoint.
template <core::fixed_string Name, class L>
struct at : L {
  static constexpr std::string_view name = Name.view();  ///< of the member, and of its result in a trace
  using layer_type = L;                                  ///< the layer without its name
};

/// A layer whose result is traced under a name that is no member's.
template <core::fixed_string Name, class L>
struct shown : L {
  static constexpr std::string_view shown_as = Name.view();  ///< what its result is called in a trace
};

namespace detail {
template <class L>
struct bare {
  using type = L;
};
template <core::fixed_string Name, class L>
struct bare<shown<Name, L>> {
  using type = L;
};
template <core::fixed_string Name, class L>
struct bare<at<Name, L>> {
  using type = L;
};

template <class First, class... Rest>
struct chain {
  using last = First;
  static constexpr bool joined = true;
};
template <class First, class Second, class... Rest>
struct chain<First, Second, Rest...> {
  using last = typename chain<Second, Rest...>::last;
  static constexpr bool joined =
      joins<typename bare<First>::type, typename bare<Second>::type>::value && chain<Second, Rest...>::joined;
};

/// The members of a stage, under its name where it has one.
template <class S>
void visit_stage(S& stage, auto&& v) {
  if constexpr (requires { S::name; })
    v(S::name, static_cast<typename S::layer_type&>(stage));
  else
    stage.members(v);
}
template <class S>
bool stage_is_empty(const S& stage) {
  if constexpr (requires { stage.empty(); })
    return stage.empty();
  else
    return false;
}
/// Loading compares the widths of neighbours; one that it forgets must not become a read of foreign memory, nor rows
/// that the caller has no room for a write.
[[noreturn]] STENO_COLD inline void refuse_widths(extent in, extent out, extent x, extent y) {
  fail({.what = "widths of a layer's rows",
        .expected = std::to_string(in) + " and " + std::to_string(out),
        .found = std::to_string(x) + " and " + std::to_string(y)});
}
[[noreturn]] STENO_COLD inline void refuse_rows(extent expected, extent found) {
  fail({.what = "rows that a layer gives", .expected = std::to_string(expected), .found = std::to_string(found)});
}
/// Calls a stage within the scope of its name and shows what it made. Not inlined: a stack's stages would become one
/// function, and compilers take more than twice as long for a function of twice the size.
template <class S, class... To>
[[gnu::noinline]] void run_stage(const S& stage, const view<const float>& x, view<float> y, state_of<S>* s,
                                 const auto& env, context& c, const To&... to) {
  if constexpr (!keeps_width<S>)
    if (!stage_is_empty(stage) && (x.cols() != stage.input_size() || y.cols() != stage.output_size()))
      refuse_widths(stage.input_size(), stage.output_size(), x.cols(), y.cols());
  if (const extent rows = rows_after(stage, x.rows(), s, env); rows != y.rows()) refuse_rows(rows, y.rows());
  const auto from = core::as<const float, dynamic, S::input>(x);
  const auto into = core::as<float, dynamic, S::output>(y);
  if constexpr (requires { S::name; }) {
    {
      auto scope = c.enter(S::name);
      stage(from, into, s, env, c, to...);
    }
    if (!S::name.empty()) c.trace(S::name, into);
  } else {
    stage(from, into, s, env, c, to...);
    if constexpr (requires { S::shown_as; }) c.trace(S::shown_as, into);
  }
}
template <core::fixed_string Name, class S>
constexpr bool stage_is() {
  if constexpr (requires { S::name; })
    return S::name == Name.view();
  else if constexpr (requires { S::shown_as; })
    return S::shown_as == Name.view();
  else
    return false;
}
/// Whether a stage has this name, or holds a stage that has.
template <core::fixed_string Name, class S>
constexpr bool stage_has() {
  if (stage_is<Name, S>()) return true;
  if constexpr (requires { S::template has<Name>(); }) return S::template has<Name>();
  return false;
}
template <core::fixed_string Name, class S>
auto& stage_get(S& stage) {
  if constexpr (stage_is<Name, std::remove_cv_t<S>>())
    return stage;
  else
    return stage.template get<Name>();
}
template <core::fixed_string Name, class S, class State>
auto& state_get(State& s) {
  if constexpr (stage_is<Name, S>())
    return s;
  else
    return S::template get<Name>(s);
}
/// A part of a state, or null.
template <std::size_t I, class State>
auto* part_of(State* s) {
  return s == nullptr ? nullptr : &core::part<I>(*s);
}
}  // namespace detail

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
