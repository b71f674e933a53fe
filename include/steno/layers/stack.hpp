// steno/layers/stack.hpp - layers in order: sequence, repeat, residual, half_residual, post_norm, parallel.
//
//   sequence<A, B>           y = b(a(x))
//   repeat<N, A>             N equal layers after one another: one instantiation, walked by a loop
//   numbered<N, A>           N equal parts that something else walks over: no layer
//   residual<A, B>           y = x + b(a(x));  half_residual: y = x + b(a(x)) / 2
//   fitting_residual<A, B>   the same where input and output are equally wide; else y = b(a(x))
//   post_norm<Norm, A, B>    y = norm(x + b(a(x)))
//   parallel<A, B>           y = a(x) + b(x)
//
// at<"name", A> gives a layer its member name in the checkpoint; layers without weights need none. shown<"name", A>
// gives its result a name for those who look (core/trace.hpp), and no member. These are layers
// themselves: their members are their layers', their state is made of their layers' states, and the record `env` goes
// through to every layer. They are the only code that calls layers in order. Neighbours of different widths do not
// compile, or, where widths come from a file, do not load. Each named layer's result is traced under its name,
// each repeated one's as "out". A residual's sum is the last product's where it is one (`addend`): one pass over memory
// fewer, equal bits. Tested in tests/layers/stack_test.cpp and tests/compile/must_not_compile.
#pragma once
#include <steno/core/fixed_string.hpp>
#include <steno/error.hpp>
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace steno::inline STENO_ABI {

/// A layer with the name of its member in the checkpoint.
template <fixed_string Name, class L>
struct at : L {
  static constexpr std::string_view name = Name.view();
  using layer_type = L;
};

/// A layer whose result is traced under a name that is no member's.
template <fixed_string Name, class L>
struct shown : L {
  static constexpr std::string_view shown_as = Name.view();
};

namespace detail {
template <class L>
struct bare {
  using type = L;
};
template <fixed_string Name, class L>
struct bare<shown<Name, L>> {
  using type = L;
};
template <fixed_string Name, class L>
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
/// Loading compares the widths of neighbours; one that it forgets must not become a read of foreign memory.
[[noreturn]] STENO_COLD inline void refuse_widths(extent in, extent out, extent x, extent y) {
  fail({.what = "widths of a layer's rows",
        .expected = std::to_string(in) + " and " + std::to_string(out),
        .found = std::to_string(x) + " and " + std::to_string(y)});
}
/// Calls a stage within the scope of its name and shows what it made.
template <class S, class... To>
void run_stage(const S& stage, const view<const float>& x, view<float> y, state_of<S>* s, const auto& env, context& c,
               const To&... to) {
  if constexpr (!keeps_width<S>)
    if (!stage_is_empty(stage) && (x.cols() != stage.input_size() || y.cols() != stage.output_size()))
      refuse_widths(stage.input_size(), stage.output_size(), x.cols(), y.cols());
  const auto from = as<const float, dynamic, S::input>(x);
  const auto into = as<float, dynamic, S::output>(y);
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
template <fixed_string Name, class S>
constexpr bool stage_is() {
  if constexpr (requires { S::name; })
    return S::name == Name.view();
  else if constexpr (requires { S::shown_as; })
    return S::shown_as == Name.view();
  else
    return false;
}
/// Whether a stage has this name, or holds a stage that has.
template <fixed_string Name, class S>
constexpr bool stage_has() {
  if (stage_is<Name, S>()) return true;
  if constexpr (requires { S::template has<Name>(); }) return S::template has<Name>();
  return false;
}
template <fixed_string Name, class S>
auto& stage_get(S& stage) {
  if constexpr (stage_is<Name, std::remove_cv_t<S>>())
    return stage;
  else
    return stage.template get<Name>();
}
template <fixed_string Name, class S, class State>
auto& state_get(State& s) {
  if constexpr (stage_is<Name, S>())
    return s;
  else
    return S::template get<Name>(s);
}
/// A part of a state, or null.
template <std::size_t I, class State>
auto* part_of(State* s) {
  return s == nullptr ? nullptr : &std::get<I>(*s);
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
  using state = std::tuple<state_of<First>, state_of<Rest>...>;

  std::tuple<First, Rest...> stages;

  void members(auto&& v) {
    extent width = 0;  // 0: not known yet
    each(
        [&](auto& stage) {
          using S = std::remove_cvref_t<decltype(stage)>;
          detail::visit_stage(stage, v);
          if constexpr (!keeps_width<S>) {
            if (detail::stage_is_empty(stage)) return;
            if (width != 0) v.equal("widths of neighbouring layers", width, stage.input_size());
            width = stage.output_size();
          }
        },
        stages);
  }
  extent input_size() const noexcept {
    extent n = 0;
    each(
        [&](const auto& s) {
          if constexpr (!keeps_width<std::remove_cvref_t<decltype(s)>>)
            if (n == 0 && !detail::stage_is_empty(s)) n = s.input_size();
        },
        stages);
    return n;
  }
  extent output_size() const noexcept {
    extent n = 0;
    each(
        [&](const auto& s) {
          if constexpr (!keeps_width<std::remove_cvref_t<decltype(s)>>)
            if (!detail::stage_is_empty(s)) n = s.output_size();
        },
        stages);
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
    return std::apply([](const auto&... stage) { return state{stage.start()...}; }, stages);
  }
  void restart(state& s) const { restart_from<0>(s); }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    if (y.rows() == 0) return;
    workspace::frame scratch(c.scratch);
    advance<0>(read(x), false, write(y), s, scratch, env, c);
  }
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c, const addend& to) const requires takes_addend<last> {
    if (y.rows() == 0) return;
    workspace::frame scratch(c.scratch);
    advance<0>(read(x), false, write(y), s, scratch, env, c, to);
  }

  /// The stage of a name, here or further down; and its part of a state.
  template <fixed_string Name>
  static constexpr bool has() {
    return detail::stage_has<Name, First>() || (detail::stage_has<Name, Rest>() || ...);
  }
  template <fixed_string Name>
  const auto& get() const {
    return detail::stage_get<Name>(std::get<index_of<Name>()>(stages));
  }
  template <fixed_string Name>
  auto& get() {
    return detail::stage_get<Name>(std::get<index_of<Name>()>(stages));
  }
  template <fixed_string Name>
  static auto& get(auto& s) {
    constexpr std::size_t i = index_of<Name>();
    return detail::state_get<Name, std::tuple_element_t<i, std::tuple<First, Rest...>>>(std::get<i>(s));
  }

 private:
  template <class F, class Tuple>
  static void each(F&& f, Tuple& t) {
    std::apply([&](auto&... s) { (f(s), ...); }, t);
  }
  template <fixed_string Name>
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
      return rows_from<I + 1>(rows_after(std::get<I>(stages), frames, detail::part_of<I>(s), env), s, env);
  }

  template <std::size_t I>
  void restart_from(state& s) const {
    if constexpr (I <= sizeof...(Rest)) {
      steno::restart(std::get<I>(stages), std::get<I>(s));
      restart_from<I + 1>(s);
    }
  }

  // Whether the stages from I on can all stay on y.
  template <std::size_t I>
  bool stays_from(extent rows, const state* s, const auto& env) const {
    if constexpr (I > sizeof...(Rest)) {
      return true;
    } else {
      using S = std::tuple_element_t<I, std::tuple<First, Rest...>>;
      if constexpr (works_in_place<S>)
        return rows_after(std::get<I>(stages), rows, detail::part_of<I>(s), env) == rows &&
               stays_from<I + 1>(rows, s, env);
      else
        return false;
    }
  }
  static bool is_added(const view<float>&) { return false; }
  static bool is_added(const view<float>& y, const addend& to) { return to.rows == y.data(); }

  // `own`: x is the scratch's, or y itself, and may be written over. Results go to y as soon as the rest can stay
  // there.
  template <std::size_t I, class... To>
  void advance(const view<const float>& x, bool own, view<float> y, state* s, workspace::frame& scratch,
               const auto& env, context& c, const To&... to) const {
    const auto& stage = std::get<I>(stages);
    using S = std::remove_cvref_t<decltype(stage)>;
    if constexpr (I == sizeof...(Rest)) {
      detail::run_stage(stage, x, y, detail::part_of<I>(s), env, c, to...);
    } else {
      extent width = x.cols();
      if constexpr (!keeps_width<S>)
        if (!detail::stage_is_empty(stage)) width = stage.output_size();
      const extent rows = rows_after(stage, x.rows(), detail::part_of<I>(s), env);
      const bool same = works_in_place<S> && own && rows == x.rows() && width == x.cols();
      const bool to_y = rows == y.rows() && width == y.cols() && !is_added(y, to...) &&
                        (works_in_place<S> || x.data() != y.data()) && stays_from<I + 1>(rows, s, env);
      view<float> out(nullptr, 0, 0, Eigen::OuterStride<>(0));
      if (same)
        new (&out) view<float>(const_cast<float*>(x.data()), rows, width, Eigen::OuterStride<>(x.outerStride()));
      else if (to_y)
        new (&out) view<float>(y);
      else
        new (&out) view<float>(write(scratch.matrix(rows, width)));
      detail::run_stage(stage, x, out, detail::part_of<I>(s), env, c);
      advance<I + 1>(read(out), true, y, s, scratch, env, c, to...);
    }
  }
};

/// N equal parts with numbers for names: "0", "1", ... N may be dynamic: the binder counts the tensors' names. No layer
/// by itself: a search's step walks over such parts by hand.
template <extent N, class L>
struct numbered {
  static constexpr extent input = L::input, output = L::output;
  static_assert(N == 1 || compatible(input, output), "steno: a repeated layer must write what it reads");

  std::conditional_t<is_static(N), std::array<L, static_cast<std::size_t>(is_static(N) ? N : 0)>, std::vector<L>>
      layers;

  void members(auto&& v) {
    if constexpr (!is_static(N))
      if (const auto n = v.count()) layers.resize(static_cast<std::size_t>(*n));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      v(std::to_string(i), layers[i]);
      if (i > 0) v.equal("widths of neighbouring layers", layers[i - 1].output_size(), layers[i].input_size());
    }
  }
  bool empty() const noexcept { return layers.empty(); }
  extent size() const noexcept { return static_cast<extent>(layers.size()); }
  extent input_size() const noexcept { return layers.empty() ? 0 : layers.front().input_size(); }
  extent output_size() const noexcept { return layers.empty() ? 0 : layers.back().output_size(); }
};

/// N equal layers after one another. y may be x unless N == 1: a single layer may change the width.
template <extent N, class L>
struct repeat : numbered<N, L> {
  static_assert(layer<L>, "steno: what is repeated is a layer");
  using numbered<N, L>::input, numbered<N, L>::output, numbered<N, L>::layers;
  static constexpr bool in_place = N != 1 || works_in_place<L>;
  static constexpr bool stateless = std::is_same_v<state_of<L>, no_state>;
  using state = std::conditional_t<stateless, no_state, std::vector<state_of<L>>>;

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
      for (std::size_t i = 0; i < layers.size(); ++i) steno::restart(layers[i], s[i]);
    }
  }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    if (layers.empty()) {
      if (x.data() != y.data()) kernels::scale(read(x), 1.0f, write(y));
      return;
    }
    const auto state_at = [&](std::size_t i) -> state_of<L>* {
      if constexpr (stateless)
        return s;
      else
        return s == nullptr ? nullptr : &(*s)[i];
    };
    for (std::size_t i = 0; i < layers.size(); ++i) {
      auto scope = c.enter("", static_cast<extent>(i));
      if (i == 0)
        layers[i](x, y, state_at(i), env, c);
      else
        layers[i](as<const float, dynamic, input>(y), y, state_at(i), env, c);
      c.trace("out", y);
    }
  }
};

namespace detail {
/// y = x + body(x) / Parts. Fitting: without the sum where the widths differ.
template <int Parts, bool Fitting, class... Stages>
struct residual_of {
  using body_type = sequence<Stages...>;
  static_assert(Fitting || compatible(body_type::input, body_type::output),
                "steno: the layers of a residual must write rows as wide as those they read");
  static constexpr extent input = body_type::input, output = body_type::output;
  static constexpr bool in_place = body_type::in_place && compatible(input, output);
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
    if constexpr (takes_addend<body_type>)
      if (!c.tracing()) return body(x, y, s, env, c, addend{x.data(), x.outerStride(), factor});
    workspace::frame scratch(c.scratch);
    auto part = scratch.template matrix<dynamic, output>(y.rows(), y.cols());
    body(x, part, s, env, c);
    if constexpr (Parts != 1) kernels::scale(read(part), factor, write(part));
    kernels::add(read(x), read(part), write(y));
  }

  template <fixed_string Name>
  static constexpr bool has() {
    return body_type::template has<Name>();
  }
  template <fixed_string Name>
  const auto& get() const {
    return body.template get<Name>();
  }
  template <fixed_string Name>
  auto& get() {
    return body.template get<Name>();
  }
  template <fixed_string Name>
  static auto& get(auto& s) {
    return body_type::template get<Name>(s);
  }
};
}  // namespace detail

template <class... Stages>
struct residual : detail::residual_of<1, false, Stages...> {};
template <class... Stages>
struct half_residual : detail::residual_of<2, false, Stages...> {};
template <class... Stages>
struct fitting_residual : detail::residual_of<1, true, Stages...> {};

/// What a layer is that adds something to the record of the stack inside of it: everything but state and call. The
/// state of a derived layer has a member `stack`.
template <class Stack>
struct around {
  static_assert(layer<Stack>, "steno: what is around a stack needs a layer");
  static constexpr extent input = Stack::input, output = Stack::output;
  static constexpr bool in_place = works_in_place<Stack>;

  Stack stack;

  extent input_size() const noexcept { return stack.input_size(); }
  extent output_size() const noexcept { return stack.output_size(); }

  template <fixed_string Name>
  static constexpr bool has() {
    return detail::stage_has<Name, Stack>();
  }
  template <fixed_string Name>
  const auto& get() const {
    return detail::stage_get<Name>(stack);
  }
  template <fixed_string Name>
  auto& get() {
    return detail::stage_get<Name>(stack);
  }
  template <fixed_string Name>
  static auto& get(auto& s) {
    return detail::state_get<Name, Stack>(s.stack);
  }

 protected:
  void run(view<const float, dynamic, input> x, view<float, dynamic, output> y, state_of<Stack>* s, const auto& env,
           context& c) const {
    detail::run_stage(stack, read(x), write(y), s, env, c);
  }
};

/// y = norm(x + stages(x)).
template <class Norm, class... Stages>
using post_norm = sequence<residual<Stages...>, Norm>;

/// y = a(x) + b(x) + ...; y must not be x.
template <class First, class... Rest>
struct parallel {
  static_assert(layer<First> && (layer<Rest> && ...), "steno: what runs in parallel are layers");
  static_assert((compatible(First::input, Rest::input) && ...) && (compatible(First::output, Rest::output) && ...),
                "steno: layers in parallel must read and write rows of equal widths");
  static constexpr extent input = First::input, output = First::output;
  using state = std::tuple<state_of<First>, state_of<Rest>...>;

  std::tuple<First, Rest...> stages;

  void members(auto&& v) {
    std::apply([&](auto&... stage) { (detail::visit_stage(stage, v), ...); }, stages);
    std::apply(
        [&](const auto& first, const auto&... rest) {
          (v.equal("inputs of layers in parallel", rest.input_size(), first.input_size()), ...);
          (v.equal("outputs of layers in parallel", rest.output_size(), first.output_size()), ...);
        },
        stages);
  }
  extent input_size() const noexcept { return std::get<0>(stages).input_size(); }
  extent output_size() const noexcept { return std::get<0>(stages).output_size(); }
  state start() const {
    return std::apply([](const auto&... stage) { return state{stage.start()...}; }, stages);
  }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    detail::run_stage(std::get<0>(stages), read(x), write(y), detail::part_of<0>(s), env, c);
    add_from<1>(x, y, s, env, c);
  }

 private:
  template <std::size_t I>
  void add_from(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                context& c) const {
    if constexpr (I <= sizeof...(Rest)) {
      const auto& stage = std::get<I>(stages);
      using S = std::remove_cvref_t<decltype(stage)>;
      bool done = false;
      if constexpr (takes_addend<S>)
        if (!c.tracing()) {
          detail::run_stage(stage, read(x), write(y), detail::part_of<I>(s), env, c, addend{y.data(), y.outerStride()});
          done = true;
        }
      if (!done) {
        workspace::frame scratch(c.scratch);
        auto part = scratch.template matrix<dynamic, output>(y.rows(), y.cols());
        detail::run_stage(stage, read(x), write(part), detail::part_of<I>(s), env, c);
        kernels::add(read(y), read(part), write(y));
      }
      add_from<I + 1>(x, y, s, env, c);
    }
  }
};

}  // namespace steno::inline STENO_ABI
