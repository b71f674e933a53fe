// steno/layers/lstm.hpp - a stack of long short-term memories; the state is a value.
//
//   [i, f, g, o] = W_ih x + b_ih + W_hh h + b_hh;  c = sigmoid(f) c + sigmoid(i) tanh(g);  h = sigmoid(o) tanh(c)
//
// torch.nn.LSTM (one direction, no projection): rows of the weights in the order i, f, g, o; layer l reads the h of
// layer l - 1. NeMo's prediction networks. Tested in tests/layers/lstm_test.cpp and on golden stages "lstm_h",
// "lstm_c".
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

/// Long short-term memories on top of one another: x [steps, D] -> y [steps, D].
template <extent D, extent Layers = dynamic>
struct lstm {
  static constexpr extent input = D, output = D;
  static constexpr bool in_place = true;

  /// Rows of all four gates, in the order i, f, g, o.
  struct layer_weights {
    weights::weight<core::times(4, D), D> from_input;      ///< W_ih
    weights::weight<core::times(4, D), D> from_state;      ///< W_hh
    weights::vector_weight<core::times(4, D)> input_bias;  ///< b_ih
    weights::vector_weight<core::times(4, D)> state_bias;  ///< b_hh
  };
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
      const std::string end = std::string("_l").append(std::to_string(i));
      layer_weights& l = layers[i];
      v("weight_ih" + end, l.from_input);
      v("weight_hh" + end, l.from_state);
      v("bias_ih" + end, l.input_bias);
      v("bias_hh" + end, l.state_bias);
      const extent d = l.from_state.cols();
      v.equal("inputs of weight_ih and weight_hh", l.from_input.cols(), d);
      for (const extent n : {l.from_input.rows(), l.from_state.rows(), l.input_bias.cols(), l.state_bias.cols()})
        v.equal("rows of the gates and four times the width", n, 4 * d);
      v.equal("widths of the layers", d, layers.front().from_state.cols());
    }
  }
  extent input_size() const noexcept { return layers.empty() ? 0 : layers.front().from_state.cols(); }
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
    auto gates = scratch.matrix(1, 4 * d), more = scratch.matrix(1, 4 * d), turned = scratch.matrix(1, d);
    const float* from = x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const layer_weights& l = layers[i];
      float* const h = s.h.data() + static_cast<extent>(i) * d;
      float* const cell = s.c.data() + static_cast<extent>(i) * d;
      kernels::matmul(core::make_view(from, 1, d), l.from_input.ref(), {.bias = l.input_bias.floats()}, gates, c);
      kernels::matmul(core::make_view(static_cast<const float*>(h), 1, d), l.from_state.ref(),
                      {.bias = l.state_bias.floats()}, more, c);
      kernels::add(core::read(gates), core::read(more), gates);
      const auto part = [&](extent n) { return core::make_view(gates.data() + n * d, 1, d); };
      kernels::apply_sigmoid(core::read(gates.leftCols(2 * d)), core::write(gates.leftCols(2 * d)));
      kernels::apply_tanh(core::read(part(2)), part(2));
      kernels::apply_sigmoid(core::read(part(3)), part(3));
      for (extent j = 0; j < d; ++j)
        cell[j] = gates.data()[d + j] * cell[j] + gates.data()[j] * gates.data()[2 * d + j];
      kernels::apply_tanh(core::make_view(static_cast<const float*>(cell), 1, d), turned);
      for (extent j = 0; j < d; ++j) h[j] = gates.data()[3 * d + j] * turned.data()[j];
      from = h;
    }
    std::copy_n(from, d, y);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
