// steno/layers/sequence.hpp - layers one after another, checked at compile time; a model's body is such a typedef.
//
// sequence<linear<560, 512>, at<"after_norm", layer_norm<512>>>: `at` gives a stage its member name; stages without
// weights need none. Neighbours of different widths do not compile, and the message names both layers.
// Tested in tests/layers/sequence_test.cpp and tests/compile/must_not_compile.
#pragma once
#include <steno/core/fixed_string.hpp>
#include <steno/layers/layer.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>

namespace steno::inline STENO_ABI {

/// A layer with the name of its member in the checkpoint.
template <fixed_string Name, class L>
struct at : L {
  static constexpr std::string_view name = Name.view();
  using layer_type = L;
};

namespace detail {
template <class L>
struct bare {
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
}  // namespace detail

template <class First, class... Rest>
struct sequence {
  static_assert(detail::chain<First, Rest...>::joined, "steno: neighbouring layers of a sequence must fit");
  using last = typename detail::chain<First, Rest...>::last;
  static constexpr extent input = First::input, output = last::output;

  std::tuple<First, Rest...> stages;

  void members(auto&& v) {
    extent width = 0;  // 0: not known yet
    each(stages, [&](auto& stage) {
      using S = std::remove_cvref_t<decltype(stage)>;
      if constexpr (requires { S::name; })
        v(S::name, static_cast<typename S::layer_type&>(stage));
      else
        stage.members(v);
      if constexpr (!keeps_width<S>) {
        if (empty(stage)) return;
        if (width != 0) v.equal("widths of neighbouring layers", width, stage.input_size());
        width = stage.output_size();
      }
    });
  }
  extent input_size() const noexcept {
    extent n = 0;
    each(stages, [&](const auto& s) {
      if constexpr (!keeps_width<std::remove_cvref_t<decltype(s)>>)
        if (n == 0 && !empty(s)) n = s.input_size();
    });
    return n;
  }
  extent output_size() const noexcept {
    extent n = 0;
    each(stages, [&](const auto& s) {
      if constexpr (!keeps_width<std::remove_cvref_t<decltype(s)>>)
        if (!empty(s)) n = s.output_size();
    });
    return n;
  }

  /// x [frames, input] -> y [frames, output]; y must not be x. Stages that can work in place do.
  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, context& c) const {
    workspace::frame scratch(c.scratch);
    advance<0>(read(x), nullptr, write(y), scratch, c);
  }

 private:
  static bool empty(const auto& stage) {
    if constexpr (requires { stage.empty(); })
      return stage.empty();
    else
      return false;
  }
  template <class Tuple, class F>
  static void each(Tuple& t, F&& f) {
    std::apply([&](auto&... s) { (f(s), ...); }, t);
  }

  // `own` is the scratch buffer that holds x, or null when x is the caller's.
  template <std::size_t I>
  void advance(view<const float> x, float* own, view<float> y, workspace::frame& scratch, context& c) const {
    const auto& stage = std::get<I>(stages);
    using S = std::remove_cvref_t<decltype(stage)>;
    if constexpr (I == sizeof...(Rest)) {
      run(stage, x, y, c);
    } else {
      extent width = x.cols();
      if constexpr (!keeps_width<S>)
        if (!empty(stage)) width = stage.output_size();
      float* out = own;
      if (!works_in_place<S> || own == nullptr || width != x.cols())
        out = scratch.take<float>(static_cast<std::size_t>(x.rows() * width));
      run(stage, x, make_view(out, x.rows(), width), c);
      advance<I + 1>(make_view(static_cast<const float*>(out), x.rows(), width), out, y, scratch, c);
    }
  }
  template <class S>
  static void run(const S& stage, view<const float> x, view<float> y, context& c) {
    const auto from = as<const float, dynamic, S::input>(x);
    const auto to = as<float, dynamic, S::output>(y);
    if constexpr (requires { S::name; }) {
      {
        auto scope = c.enter(S::name);
        stage(from, to, c);
      }
      if constexpr (requires { S::traced; }) c.trace(S::name, to);
    } else {
      stage(from, to, c);
    }
  }
};

}  // namespace steno::inline STENO_ABI
