// steno/layers/outline.hpp - a type in words: its layers in order, with the checkpoint's names and sizes by name.
//
//   std::fputs(outline<whisper_base>().c_str(), stdout);
//
//   whisper
//     encoder: whisper_encoder 80 -> 512
//       conv1: conv1d 80 -> 512, taps 3, gelu
//       ...
// Nothing is written down for a model: parts come from members(), their order and sums from the combinators of
// layers/stack.hpp. A line is "name: what it is, width in -> width out (or the one width), settings by name". Sizes
// that a file decides are "any". Tested in tests/models/outline_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/conv1d.hpp>
#include <steno/layers/fsmn.hpp>
#include <steno/layers/grouped_attention.hpp>
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/rms_norm.hpp>
#include <steno/layers/stack.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

namespace detail {

/// The name of a template or class without namespaces and arguments, as the compiler spells it.
template <class T>
std::string_view short_name() {
  std::string_view s = __PRETTY_FUNCTION__;
  const std::size_t from = s.find("T = ") + 4;
  s = s.substr(from, s.find_first_of("<;]", from) - from);
  const std::size_t colon = s.rfind(':');
  return colon == std::string_view::npos ? s : s.substr(colon + 1);
}
inline std::string size_text(extent n) { return core::is_static(n) ? std::to_string(n) : "any"; }
inline std::string widths_text(extent in, extent out) {
  return in == out ? size_text(in) : size_text(in).append(" -> ").append(size_text(out));
}

// Layers whose arguments say more than their members.
template <class T>
inline constexpr bool says_all = false;
template <class T>
std::string more_of(const T&) {
  return {};
}
template <class Act>
std::string activation_text() {
  if constexpr (std::is_same_v<Act, relu>) return ", relu";
  if constexpr (std::is_same_v<Act, gelu>) return ", gelu";
  if constexpr (std::is_same_v<Act, silu>) return ", silu";
  if constexpr (std::is_same_v<Act, activation_of_env>) return ", activation of the record";
  return {};
}
template <extent In, extent Out, bias B, class Act>
std::string more_of(const linear<In, Out, B, Act>&) {
  return activation_text<Act>() + (B == bias::none ? ", no bias" : B == bias::optional ? ", perhaps a bias" : "");
}
template <extent In, extent Out, extent Taps, extent Stride, class Act>
std::string more_of(const conv1d<In, Out, Taps, Stride, Act>&) {
  std::string s = ", taps " + size_text(Taps);
  if (Stride != 1) s += ", stride " + size_text(Stride);
  return s + activation_text<Act>();
}
template <extent Taps, extent D, fsmn_sides Sides>
std::string more_of(const fsmn<Taps, D, Sides>&) {
  return ", taps " + size_text(Taps);
}
template <extent D, extent Heads, extent KeyHeads, extent Width>
std::string more_of(const grouped_attention<D, Heads, KeyHeads, Width>&) {
  return ", heads " + size_text(Heads) + ", key heads " + size_text(KeyHeads) + ", width of a head " + size_text(Width);
}
template <extent In, extent Out, bias B, class Act>
inline constexpr bool says_all<linear<In, Out, B, Act>> = true;
template <extent In, extent Out, extent Taps, extent Stride, class Act>
inline constexpr bool says_all<conv1d<In, Out, Taps, Stride, Act>> = true;
template <extent Taps, extent D, fsmn_sides Sides>
inline constexpr bool says_all<fsmn<Taps, D, Sides>> = true;
template <extent D, int Exponent>
inline constexpr bool says_all<layer_norm<D, Exponent>> = true;
template <extent D, int Exponent>
inline constexpr bool says_all<rms_norm<D, Exponent>> = true;

template <class T>
concept repeated = requires(T& t) {
  []<extent N, class L>(repeat<N, L>&) {}(t);
};
template <class T>
concept ordered = requires(T& t) {
  []<class... S>(sequence<S...>&) {}(t);
};
template <class T>
concept summed = requires(T& t) {
  []<class... S>(parallel<S...>&) {}(t);
};
template <class T>
concept added = requires(T& t) {
  []<int P, bool F, class... S>(residual_of<P, F, S...>&){}(t);
};
template <class T>
concept surrounding = requires(T& t) {
  []<class S>(around<S>&) {}(t);
};

/// The settings among the members, for a layer's own line; of a layer that is one table, its rows.
class settings_text {
 public:
  template <class T>
  void operator()(std::string_view name, T&, const auto&...) {
    if constexpr (core::setting_leaf<T>) text.append(", ").append(name).append(" ").append(size_text(T::static_value));
    if constexpr (core::weight_leaf<T>)
      if (name.empty()) text.append(", rows ").append(size_text(T::static_rows));
  }
  template <class T>
  void optional(std::string_view name, T& child, const auto&...) {
    (*this)(name, child);
  }
  void equal(std::string_view, extent, extent) {}
  void within(std::string_view, extent, extent, extent) {}
  void require(bool, std::string_view, std::string_view, extent) {}
  std::optional<extent> count() { return std::nullopt; }

  std::string text;
};

class outliner {
 public:
  explicit outliner(std::string& text, std::size_t depth = 0) : text_(text), depth_(depth) {}

  // A visitor over members(): each is a line, and what it consists of stands below it.
  template <class T>
  void operator()(std::string_view name, T& child, const auto&...) {
    if constexpr (core::setting_leaf<T>) {
      // has its place behind the layer's name
    } else if constexpr (core::weight_leaf<T>) {
      if (!name.empty()) line(name, shape<T>());
    } else {
      part(name, child);
    }
  }
  template <class T>
  void optional(std::string_view name, T& child, const auto&...) {
    if constexpr (core::weight_leaf<T>)
      line(name, shape<T>() + ", optional");
    else
      (*this)(name, child);
  }
  void equal(std::string_view, extent, extent) {}
  void within(std::string_view, extent, extent, extent) {}
  void require(bool, std::string_view, std::string_view, extent) {}
  std::optional<extent> count() { return std::nullopt; }

  template <class T>
  void part(std::string_view name, T& t) {
    if constexpr (repeated<T>) {
      repetition(name, t);
    } else if constexpr (added<T>) {
      sum(name, t);
    } else if constexpr (ordered<T>) {
      if (name.empty()) return parts(t);  // an order of layers within an order of layers
      line(name, words(t));
      below().parts(t);
    } else {
      // A member without a name stands for its own members.
      if (!name.empty() || widths<T>) line(name, words(t));
      (name.empty() && !widths<T> ? *this : below()).parts(t);
    }
  }
  template <class T>
  void parts(T& t) {
    if constexpr (says_all<T>) {
      // nothing more
    } else if constexpr (ordered<T> || summed<T>) {
      t.stages.each([&](auto& s) { stage(s); });
    } else if constexpr (surrounding<T>) {
      stage(t.stack);
    } else {
      t.members(*this);
    }
  }

 private:
  template <class T>
  static constexpr bool widths = requires {
    T::input, T::output;
  };

  template <core::weight_leaf W>
  static std::string shape() {
    return (W::static_rows == 1 ? "" : size_text(W::static_rows).append(" x ")) + size_text(W::static_cols);
  }
  outliner below() const { return outliner(text_, depth_ + 1); }
  void line(std::string_view name, std::string_view what) {
    text_.append(2 * depth_, ' ').append(name).append(name.empty() || what.empty() ? "" : ": ").append(what) += '\n';
  }
  template <class T>
  static std::string words(T& t) {
    std::string s(short_name<T>());
    if constexpr (widths<T>) s.append(" ").append(widths_text(T::input, T::output));
    if constexpr (!says_all<T> && !ordered<T> && !summed<T>) {
      settings_text settings;
      t.members(settings);
      s += settings.text;
    }
    return s + more_of(t);
  }
  template <class S>
  void stage(S& s) {
    if constexpr (requires { S::name; })
      part(S::name, static_cast<typename S::layer_type&>(s));
    else
      unnamed(s);
  }
  template <core::fixed_string Name, class L>
  void unnamed(shown<Name, L>& s) {
    part({}, static_cast<L&>(s));
  }
  template <class L>
  void unnamed(L& l) {
    part({}, l);
  }
  template <extent N, class L>
  void repetition(std::string_view name, repeat<N, L>&) {
    const auto layer = std::make_unique<L>();
    line(name, std::string("repeat ").append(size_text(N)).append(" of ").append(words(*layer)));
    below().parts(*layer);
  }
  template <int Parts, bool Fitting, class... Stages>
  void sum(std::string_view name, residual_of<Parts, Fitting, Stages...>& r) {
    line(name, std::string(Parts == 2 ? "half residual" : "residual").append(Fitting ? " where widths agree" : ""));
    below().parts(r.body);
  }

  std::string& text_;
  std::size_t depth_;
};

}  // namespace detail

/// A model's, a network's or a layer's parts in order, a line each, with the checkpoint's names and sizes by name.
/// T is made once by its default constructor.
template <core::composite T>
STENO_COLD std::string outline() requires std::default_initializable<T> {
  const auto t = std::make_unique<T>();
  std::string text(detail::short_name<T>());
  text += '\n';
  detail::outliner(text, 1).parts(*t);
  return text;
}

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
