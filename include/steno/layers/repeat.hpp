// steno/layers/repeat.hpp - N equal layers after one another: one instantiation, walked by a loop.
//
// Members are numbered: "0", "1", ... N may be dynamic: the binder counts the tensors' names.
// Tested in tests/layers/sequence_test.cpp.
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/layers/layer.hpp>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace steno::inline STENO_ABI {

template <extent N, class L>
struct repeat {
  static_assert(N == 1 || compatible(L::input, L::output), "steno: a repeated layer must write what it reads");
  static constexpr extent input = L::input, output = L::output;
  static constexpr bool in_place = N != 1;  // a single layer may change the width

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

  /// y may be x unless N == 1.
  void operator()(view<const float, dynamic, L::input> x, view<float, dynamic, L::output> y, context& c) const {
    if (layers.empty()) {
      if (x.data() != y.data()) kernels::scale(read(x), 1.0f, write(y));
      return;
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      auto s = c.enter("", static_cast<extent>(i));
      if (i == 0)
        layers[i](x, y, c);
      else
        layers[i](as<const float, dynamic, L::input>(y), y, c);
    }
  }
};

}  // namespace steno::inline STENO_ABI
