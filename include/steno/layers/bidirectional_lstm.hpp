// steno/layers/bidirectional_lstm.hpp - a long short-term memory that reads rows from both ends.
//
//   y[t] = [forwards(x)[t], backwards(x)[t]]      the second one reads the last row first
//
// torch.nn.LSTM with one layer and `bidirectional=True`: names end in "_l0" and "_l0_reverse". It needs all rows, so
// there is no state. Tested in tests/layers/lstm_test.cpp and on golden stages "upsample_blstm".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/lstm.hpp>

#include <algorithm>
#include <string>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// x [steps, D] -> y [steps, 2 D]; y must not be x.
template <extent D>
struct bidirectional_lstm {
  static constexpr extent input = D, output = core::times(2, D);

  lstm_weights<D> forwards;   ///< reads the first row first
  lstm_weights<D> backwards;  ///< reads the last row first

  void members(auto&& v) {
    forwards.members(v, "_l0");
    backwards.members(v, "_l0_reverse");
    v.equal("widths of both directions", forwards.width(), backwards.width());
  }
  extent input_size() const noexcept { return forwards.width(); }
  extent output_size() const noexcept { return 2 * input_size(); }
  no_state start() const noexcept { return {}; }

  void operator()(view<const float, dynamic, D> x, view<float, dynamic, output> y, no_state*, const auto&,
                  context& c) const {
    run(forwards, x, y, false, c);
    run(backwards, x, y, true, c);
  }

 private:
  void run(const lstm_weights<D>& w, view<const float, dynamic, D> x, view<float, dynamic, output> y, bool back,
           context& c) const {
    const extent n = x.rows(), d = input_size();
    core::workspace::frame scratch(c.scratch);
    auto gates = scratch.matrix(n, 4 * d), h = scratch.matrix(1, d), cell = scratch.matrix(1, d);
    h.setZero();
    cell.setZero();
    w.read_input(core::read(x), gates, c);
    for (extent i = 0; i < n; ++i) {
      const extent t = back ? n - 1 - i : i;
      w.step(core::make_view(gates.data() + t * 4 * d, 1, 4 * d), h, cell, c);
      std::copy_n(h.data(), d, y.data() + t * y.outerStride() + (back ? d : 0));
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
