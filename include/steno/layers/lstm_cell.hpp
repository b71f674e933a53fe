// steno/layers/lstm_cell.hpp - one long short-term memory; the state is a value.
//
// torch.nn.LSTMCell: the formula and the order of the gates are those of layers/lstm.hpp, the names have no number
// behind them (weight_ih, weight_hh, bias_ih, bias_hh). Tested in tests/layers/silero_layers_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/lstm.hpp>

#include <algorithm>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [steps, D] -> y [steps, D], the h of each step; y may be x.
template <extent D>
struct lstm_cell {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  /// h and c, [D] each. Copyable.
  struct state {
    std::vector<float> h;  ///< the output of the last step
    std::vector<float> c;  ///< the cell
  };

  lstm_weights<D> weights;  ///< of all four gates

  void members(auto&& v) { weights.members(v, ""); }
  extent input_size() const noexcept { return weights.width(); }
  extent output_size() const noexcept { return weights.width(); }

  state start() const {
    const auto n = static_cast<std::size_t>(input_size());
    return {std::vector<float>(n), std::vector<float>(n)};
  }
  /// Zeros again, in the memory that is there.
  void restart(state& s) const {
    s.h.assign(static_cast<std::size_t>(input_size()), 0.0f);
    s.c.assign(static_cast<std::size_t>(input_size()), 0.0f);
  }

  /// Without a state it begins with zeros.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* s, const auto&, context& c) const {
    const extent d = input_size();
    core::workspace::frame scratch(c.scratch);
    auto gates = scratch.matrix(1, 4 * d), zeros = scratch.matrix(2, d);
    zeros.setZero();
    float* const h = s == nullptr ? zeros.data() : s->h.data();
    float* const cell = s == nullptr ? zeros.data() + d : s->c.data();
    for (extent t = 0; t < x.rows(); ++t) {
      weights.read_input(core::make_view(x.data() + t * x.outerStride(), 1, d), gates, c);
      weights.step(gates, core::make_view(h, 1, d), core::make_view(cell, 1, d), c);
      std::copy_n(h, d, y.data() + t * y.outerStride());
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
