// steno/layers/sequence.hpp - layers one after another: y = b(a(x)).
//
// x [frames, first input] -> y [rows(frames), last output]; y may be x where there is more than one layer. Members,
// widths and state are those of the layers; neighbours of different widths do not compile, or do not load. A result
// goes to y as soon as the layers behind it can work in place, else to scratch. Tested in tests/layers/stack_test.cpp
// and tests/compile/must_not_compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/parts.hpp>
#include <steno/layers/stage.hpp>

#include <array>
#include <string>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

namespace detail {
/// What decides where a stage's result goes that another stage reads.
struct stage_result {
  extent rows, width;
  bool own;       // x is the scratch's, or y itself, and may be written over
  bool in_place;  // the stage may write over its x
  bool stays;     // y is free, and all stages that follow can stay there
};
/// Over x, in y, or in new scratch. One function for all stages, and no template.
[[gnu::noinline]] inline view<float> room_of_stage(const stage_result& r, const view<const float>& x,
                                                   const view<float>& y, core::workspace::frame& scratch) {
  if (r.in_place && r.own && r.rows == x.rows() && r.width == x.cols())
    return core::make_view(const_cast<float*>(x.data()), r.rows, r.width, x.outerStride());
  if (r.stays && r.rows == y.rows() && r.width == y.cols() && (r.in_place || x.data() != y.data())) return y;
  return core::write(scratch.matrix(r.rows, r.width));
}
}  // namespace detail

/// Layers one after another.
template <class First, class... Rest>
struct sequence {
  static_assert(layer<First> && (layer<Rest> && ...), "steno: a sequence is made of layers");
  static_assert(detail::chain<First, Rest...>::joined, "steno: neighbouring layers of a sequence must fit");
  using last = typename detail::chain<First, Rest...>::last;
  static constexpr extent input = First::input, output = last::output;
  /// Only the last of several layers writes y.
  static constexpr bool in_place = sizeof...(Rest) > 0 || works_in_place<First>;
  using state = core::parts<state_of<First>, state_of<Rest>...>;

  core::parts<First, Rest...> stages;

  void members(auto&& v) {
    extent width = 0;  // 0: not known yet
    stages.each([&](auto& stage) {
      using S = std::remove_cvref_t<decltype(stage)>;
      detail::visit_stage(stage, v);
      if constexpr (!keeps_width<S>) {
        if (detail::stage_is_empty(stage)) return;
        if (width != 0) v.equal("widths of neighbouring layers", width, stage.input_size());
        width = stage.output_size();
      }
    });
  }
  extent input_size() const noexcept {
    extent n = 0;
    stages.each([&](const auto& s) {
      if constexpr (!keeps_width<std::remove_cvref_t<decltype(s)>>)
        if (n == 0 && !detail::stage_is_empty(s)) n = s.input_size();
    });
    return n;
  }
  extent output_size() const noexcept {
    extent n = 0;
    stages.each([&](const auto& s) {
      if constexpr (!keeps_width<std::remove_cvref_t<decltype(s)>>)
        if (!detail::stage_is_empty(s)) n = s.output_size();
    });
    return n;
  }
  /// Rows that `frames` give.
  template <class Env>
  extent rows(extent frames, const state* s, const Env& env) const
      requires(changes_rows<First> || (changes_rows<Rest> || ...)) {
    return rows_from<0>(frames, s, env);
  }
  /// Of a whole clip.
  extent rows(extent frames) const requires(changes_rows<First> || (changes_rows<Rest> || ...)) {
    return rows_from<0>(frames, nullptr, no_env{});
  }
  state start() const {
    return stages.template map<state>([](const auto& stage) { return stage.start(); });
  }
  void restart(state& s) const { restart_from<0>(s); }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    if (y.rows() == 0) return;
    core::workspace::frame scratch(c.scratch);
    advance<0>(core::read(x), false, core::write(y), s, scratch, env, c);
  }
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c, const addend& to) const requires supports_addend<last> {
    if (y.rows() == 0) return;
    core::workspace::frame scratch(c.scratch);
    advance<0>(core::read(x), false, core::write(y), s, scratch, env, c, to);
  }

  /// The stage of a name, here or further down but not among a repeat's layers; and its part of a state.
  template <core::fixed_string Name>
  static constexpr bool has() {
    return detail::stage_has<Name, First>() || (detail::stage_has<Name, Rest>() || ...);
  }
  template <core::fixed_string Name>
  const auto& get() const {
    return detail::stage_get<Name>(core::part<index_of<Name>()>(stages));
  }
  template <core::fixed_string Name>
  auto& get() {
    return detail::stage_get<Name>(core::part<index_of<Name>()>(stages));
  }
  template <core::fixed_string Name>
  static auto& get(auto& s) {
    constexpr std::size_t i = index_of<Name>();
    return detail::state_get<Name, stage_type<i>>(core::part<i>(s));
  }

 private:
  template <std::size_t I>
  using stage_type = std::remove_cvref_t<decltype(core::part<I>(std::declval<core::parts<First, Rest...>&>()))>;
  template <core::fixed_string Name>
  static constexpr std::size_t index_of() {
    constexpr std::array<bool, 1 + sizeof...(Rest)> found{detail::stage_has<Name, First>(),
                                                          detail::stage_has<Name, Rest>()...};
    constexpr std::size_t at = [&] {
      std::size_t i = 0;
      while (i < found.size() && !found[i]) ++i;
      return i;
    }();
    static_assert(at < found.size(), "steno: no stage of this sequence has that name");
    return at;
  }
  template <std::size_t I>
  extent rows_from(extent frames, const state* s, const auto& env) const {
    if constexpr (I > sizeof...(Rest))
      return frames;
    else
      return rows_from<I + 1>(rows_after(core::part<I>(stages), frames, detail::part_of<I>(s), env), s, env);
  }

  template <std::size_t I>
  void restart_from(state& s) const {
    if constexpr (I <= sizeof...(Rest)) {
      steno::nn::restart(core::part<I>(stages), core::part<I>(s));
      restart_from<I + 1>(s);
    }
  }

  // Whether the stages from I on can all stay on y.
  template <std::size_t I>
  bool stays_from(extent rows, const state* s, const auto& env) const {
    if constexpr (I > sizeof...(Rest)) {
      return true;
    } else {
      using S = stage_type<I>;
      if constexpr (works_in_place<S>)
        return rows_after(core::part<I>(stages), rows, detail::part_of<I>(s), env) == rows &&
               stays_from<I + 1>(rows, s, env);
      else
        return false;
    }
  }
  static const float* added() { return nullptr; }
  static const float* added(const addend& to) { return to.rows; }

  // `own`: x is the scratch's, or y itself, and may be written over. Results go to y as soon as the rest can stay
  // there.
  template <std::size_t I, class... To>
  void advance(const view<const float>& x, bool own, view<float> y, state* s, core::workspace::frame& scratch,
               const auto& env, context& c, const To&... to) const {
    const auto& stage = core::part<I>(stages);
    using S = std::remove_cvref_t<decltype(stage)>;
    if constexpr (I == sizeof...(Rest)) {
      detail::run_stage(stage, x, y, detail::part_of<I>(s), env, c, to...);
    } else {
      extent width = x.cols();
      if constexpr (!keeps_width<S>)
        if (!detail::stage_is_empty(stage)) width = stage.output_size();
      const extent rows = rows_after(stage, x.rows(), detail::part_of<I>(s), env);
      view<float> out = detail::room_of_stage({.rows = rows,
                                               .width = width,
                                               .own = own,
                                               .in_place = works_in_place<S>,
                                               .stays = stays_from<I + 1>(rows, s, env) && added(to...) != y.data()},
                                              x, y, scratch);
      detail::run_stage(stage, x, out, detail::part_of<I>(s), env, c);
      advance<I + 1>(core::read(out), true, y, s, scratch, env, c, to...);
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
