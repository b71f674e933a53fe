// The stacked memory against its formula, step by step, and states that fork.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/bidirectional_lstm.hpp>
#include <steno/weights/binder.hpp>

#include "support/memory_source.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace lstm_test {

using namespace steno;

constexpr extent d = 5;

struct model {
  test::memory_source source;
  weights::storage keep;
  nn::lstm<dynamic> net;
  void members(auto&& v) { v("lstm", net); }

  explicit model(int layers) {
    int n = 0;
    const auto values = [&](extent count) {
      std::vector<float> v;
      for (extent i = 0; i < count; ++i) v.push_back(static_cast<float>((n++ * 41) % 37 - 18) / 15.0f);
      return v;
    };
    for (int l = 0; l < layers; ++l) {
      const std::string end = "_l" + std::to_string(l);
      for (const char* w : {"lstm.weight_ih", "lstm.weight_hh"}) source.add(w + end, {4 * d, d}, values(4 * d * d));
      for (const char* b : {"lstm.bias_ih", "lstm.bias_hh"}) source.add(b + end, {4 * d}, values(4 * d));
    }
    source.set("m.lstm.pred_rnn_layers", layers);
    weights::bind(*this, source, keep, "m");
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// One layer, one step, in double precision.
void step(const nn::lstm<dynamic>::layer_weights& l, std::vector<double>& x, double* h, double* c) {
  const auto value = [](const auto& w, extent r, extent j) {
    return static_cast<double>(reinterpret_cast<const float*>(w.data)[r * d + j]);
  };
  std::vector<double> gate(4 * d);
  for (extent r = 0; r < 4 * d; ++r) {
    double s = static_cast<double>(l.input_bias.floats()[r]) + static_cast<double>(l.state_bias.floats()[r]);
    for (extent j = 0; j < d; ++j)
      s += value(l.from_input, r, j) * x[static_cast<std::size_t>(j)] + value(l.from_state, r, j) * h[j];
    gate[static_cast<std::size_t>(r)] = s;
  }
  for (std::size_t j = 0; j < d; ++j) {
    c[j] = sigmoid(gate[d + j]) * c[j] + sigmoid(gate[j]) * std::tanh(gate[2 * d + j]);
    h[j] = sigmoid(gate[3 * d + j]) * std::tanh(c[j]);
    x[j] = h[j];
  }
}

// Gates of ten products in single precision; states stay within [-3, 3].
TEST(lstm, formula_of_one_and_two_layers) {
  for (const int layers : {1, 2}) {
    const model m(layers);
    auto s = m.net.start();
    std::vector<double> h(static_cast<std::size_t>(layers) * d), c(h.size());
    context at;
    for (int t = 0; t < 4; ++t) {
      matrix<float, 1, dynamic> x(1, d), y(1, d);
      for (extent j = 0; j < d; ++j) x(0, j) = static_cast<float>((t * 7 + j * 3) % 5) - 2.0f;
      std::vector<double> want(x.data(), x.data() + d);
      for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l)
        step(m.net.layers[l], want, h.data() + l * d, c.data() + l * d);
      m.net(core::make_view(static_cast<const float*>(x.data()), 1, d), core::make_view(y.data(), 1, d), &s,
            nn::no_env{}, at);
      for (std::size_t j = 0; j < d; ++j) EXPECT_NEAR(static_cast<double>(y.data()[j]), want[j], 1e-5);
      for (std::size_t j = 0; j < h.size(); ++j) {
        EXPECT_NEAR(static_cast<double>(s.h[j]), h[j], 1e-5);
        EXPECT_NEAR(static_cast<double>(s.c[j]), c[j], 1e-5);
      }
    }
  }
}

TEST(lstm, steps_at_once_are_the_same_as_one_by_one) {
  const model m(2);
  context c;
  matrix<float, dynamic, dynamic> x(4, d), y(4, d);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 5) - 2.0f;
  nn::apply(m.net, x, y, c);
  auto s = m.net.start();
  for (extent t = 0; t < 4; ++t) {
    matrix<float, dynamic, dynamic> row = x.middleRows(t, 1);
    m.net(row, row, &s, nn::no_env{}, c);
    EXPECT_EQ(row, y.middleRows(t, 1)) << t;
  }
}

struct two_ways {
  nn::bidirectional_lstm<dynamic> net;
  void members(auto&& v) { v("both", net); }
};

// Each direction is the stacked layer's own, over the rows as they are or the other way round.
TEST(bidirectional_lstm, is_two_layers) {
  model forwards(1), backwards(2);
  test::memory_source source;
  for (const char* w : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
    for (const auto& [from, end] : {std::pair(&forwards, "_l0"), std::pair(&backwards, "_l0_reverse")}) {
      const auto t = *from->source.find(std::string("lstm.") + w + (from == &forwards ? "_l0" : "_l1"));
      const auto* values = reinterpret_cast<const float*>(t.bytes.data());
      source.add(std::string("both.") + w + end, {t.shape.begin(), t.shape.begin() + t.rank},
                 {values, values + t.bytes.size() / 4});
    }
  two_ways both;
  weights::storage keep;
  weights::bind(both, source, keep, "m");
  backwards.net.layers.erase(backwards.net.layers.begin());

  context c;
  matrix<float, dynamic, dynamic> x(6, d), y(6, 2 * d), one(6, d);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 5) - 2.0f;
  nn::apply(both.net, x, y, c);
  nn::apply(forwards.net, x, one, c);
  EXPECT_LT((y.leftCols(d) - one).cwiseAbs().maxCoeff(), 1e-6f);
  const matrix<float, dynamic, dynamic> turned = x.colwise().reverse();
  nn::apply(backwards.net, turned, one, c);
  const matrix<float, dynamic, dynamic> last_first = y.rightCols(d).colwise().reverse();
  EXPECT_LT((last_first - one).cwiseAbs().maxCoeff(), 1e-6f);
}

}  // namespace lstm_test
