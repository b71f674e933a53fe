// steno/layers/lstm.hpp - a stack of long short-term memories; the state is a value.
//
//   [i, f, g, o] = W_ih x + b_ih + W_hh h + b_hh;  c = sigmoid(f) c + sigmoid(i) tanh(g);  h = sigmoid(o) tanh(c)
//
// torch.nn.LSTM (one direction, no projection): rows of the weights in the order i, f, g, o; layer l reads the h of
// layer l - 1. NeMo's prediction networks. Tested in tests/layers/lstm_test.cpp and on golden stages "lstm_h",
// "lstm_c".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/kernels/product.hpp>
#include <steno/layers/layer.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// One layer in one direction: rows of all four gates, in the order i, f, g, o.
template <extent D>
struct lstm_weights {
  weights::weight<core::times(4, D), D> from_input;      ///< W_ih
  weights::weight<core::times(4, D), D> from_state;      ///< W_hh
  weights::vector_weight<core::times(4, D)> input_bias;  ///< b_ih
  weights::vector_weight<core::times(4, D)> state_bias;  ///< b_hh

  /// `end` is what torch puts behind the names: "_l0", "_l0_reverse".
  void members(auto&& v, const std::string& end) {
    v("weight_ih" + end, from_input);
    v("weight_hh" + end, from_state);
    v("bias_ih" + end, input_bias);
    v("bias_hh" + end, state_bias);
    v.equal("inputs of weight_ih and weight_hh", from_input.cols(), width());
    for (const extent n : {from_input.rows(), from_state.rows(), input_bias.cols(), state_bias.cols()})
      v.equal("rows of the gates and four times the width", n, 4 * width());
  }
  /// Values of h, and of c.
  extent width() const noexcept { return from_state.cols(); }

  /// gates = W_ih x + b_ih: x [n, D] -> [n, 4 D].
  void read_input(const view<const float>& x, const view<float>& gates, context& c) const {
    kernels::matmul(x, from_input.ref(), {.bias = input_bias.floats()}, gates, c);
  }
  /// A step of n sequences: what read_input() made of their inputs, which is written over, and h and c [n, D], which go
  /// on.
  void step(const view<float>& gates, const view<float>& h, const view<float>& cell, context& c) const {
    const extent n = gates.rows(), d = width();
    core::workspace::frame scratch(c.scratch);
    auto more = scratch.matrix(n, 4 * d), turned = scratch.matrix(n, d);
    kernels::matmul(core::read(h), from_state.ref(), {.bias = state_bias.floats()}, more, c);
    float* const all = view<float>(gates).data();
    kernels::add(core::read(gates), core::read(more), gates);
    const auto part = [&](extent from, extent count) {
      return core::make_view(all + from * d, n, count * d, gates.outerStride());
    };
    kernels::apply_sigmoid(core::read(part(0, 2)), part(0, 2));
    kernels::apply_tanh(core::read(part(2, 1)), part(2, 1));
    kernels::apply_sigmoid(core::read(part(3, 1)), part(3, 1));
    const auto each = [&](auto&& f) {
      for (extent r = 0; r < n; ++r) f(r, all + r * gates.outerStride());
    };
    float* const cells = view<float>(cell).data();
    float* const outputs = view<float>(h).data();
    each([&](extent r, const float* g) {
      float* const now = cells + r * cell.outerStride();
      for (extent j = 0; j < d; ++j) now[j] = g[d + j] * now[j] + g[j] * g[2 * d + j];
    });
    kernels::apply_tanh(core::read(cell), turned);
    each([&](extent r, const float* g) {
      float* const now = outputs + r * h.outerStride();
      for (extent j = 0; j < d; ++j) now[j] = g[3 * d + j] * turned.data()[r * d + j];
    });
  }
};

/// Long short-term memories on top of one another: x [steps, D] -> y [steps, D].
template <extent D, extent Layers = dynamic>
struct lstm {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  using layer_weights = lstm_weights<D>;  ///< of one layer
  /// h and c of every layer, [layers * D]. Copyable: hypotheses fork it.
  struct state {
    std::vector<float> h;  ///< the outputs of the last step
    std::vector<float> c;  ///< the cells
  };

  core::setting<Layers, 1, 64> depth;  ///< number of layers: `pred_rnn_layers`
  std::vector<layer_weights> layers;   ///< from the one that reads x on; as many as `depth` once they are loaded

  void members(auto&& v) {
    v("pred_rnn_layers", depth);
    layers.resize(static_cast<std::size_t>(depth.get()));
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].members(v, std::string("_l").append(std::to_string(i)));
      v.equal("widths of the layers", layers[i].width(), layers.front().width());
    }
  }
  extent input_size() const noexcept { return layers.empty() ? 0 : layers.front().width(); }
  extent output_size() const noexcept { return input_size(); }

  state start() const {
    const std::size_t n = layers.size() * static_cast<std::size_t>(input_size());
    return {std::vector<float>(n), std::vector<float>(n)};
  }

  /// x [steps, D] -> y [steps, D], the last layer's h; y may be x. Without a state it begins with zeros.
  void operator()(view<const float, dynamic, D> x, view<float, dynamic, D> y, state* s, const auto&, context& c) const {
    state fresh;
    if (s == nullptr) fresh = start();
    for (extent t = 0; t < x.rows(); ++t)
      step(x.data() + t * x.outerStride(), y.data() + t * y.outerStride(), s == nullptr ? fresh : *s, c);
  }

 private:
  void step(const float* x, float* y, state& s, context& c) const {
    const extent d = input_size();
    core::workspace::frame scratch(c.scratch);
    auto gates = scratch.matrix(1, 4 * d);
    const float* from = x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      float* const h = s.h.data() + static_cast<extent>(i) * d;
      layers[i].read_input(core::make_view(from, 1, d), gates, c);
      layers[i].step(gates, core::make_view(h, 1, d), core::make_view(s.c.data() + static_cast<extent>(i) * d, 1, d),
                     c);
      from = h;
    }
    std::copy_n(from, d, y);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
