// The layers of Silero VAD against their definitions: the transform, the memory without numbers in its names, sigmoid.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/lstm_cell.hpp>
#include <steno/layers/round_to_half.hpp>
#include <steno/layers/sigmoid.hpp>
#include <steno/layers/stft_magnitude.hpp>
#include <steno/weights/binder.hpp>

#include "support/memory_source.hpp"
#include "support/refusal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace silero_layers_test {

using namespace steno;

std::vector<float> wheel(extent count, int step) {
  std::vector<float> v;
  for (extent i = 0; i < count; ++i) v.push_back(static_cast<float>((i * step + 11) % 37 - 18) / 15.0f);
  return v;
}

struct transform {
  test::memory_source source;
  weights::storage keep;
  nn::stft_magnitude<dynamic> net;
  void members(auto&& v) { v("stft", net); }
  explicit transform(extent filter, int left) {
    const extent rows = 2 * (filter / 2 + 1);
    source.add("stft.forward_basis_buffer", {rows, filter}, wheel(rows * filter, 41));
    source.set("m.left_padding", left);
    weights::bind(*this, source, keep, "m");
  }
};

TEST(silero_layers, transform_is_its_definition) {
  for (const extent filter : {4, 8, 16})
    for (const bool both : {false, true}) {
      const transform t(filter, both ? static_cast<int>(filter / 4) : 0);
      for (const extent n : {extent{1}, filter / 4, filter / 4 + 1, filter, 3 * filter + 1}) {
        SCOPED_TRACE(std::to_string(filter) + " " + std::to_string(both) + " " + std::to_string(n));
        const std::vector<float> x = wheel(n, 29);
        const extent left = both ? filter / 4 : 0, right = filter / 4;
        const extent rows = t.net.rows(n);
        ASSERT_EQ(rows, n <= right || left + n + right < filter ? 0 : (left + n + right - filter) / (filter / 2) + 1);
        if (rows == 0) continue;
        const auto padded = [&](extent i) {
          i -= left;
          if (i < 0) i = -i;
          if (i >= n) i = 2 * n - 2 - i;
          return static_cast<double>(x[static_cast<std::size_t>(i)]);
        };
        matrix<float, dynamic, dynamic> y(rows, filter / 2 + 1);
        context c;
        nn::no_state none;
        t.net(core::make_view(x.data(), n, 1), y, &none, nn::no_env{}, c);
        const float* const basis = reinterpret_cast<const float*>(t.net.forward_basis.data);
        for (extent r = 0; r < rows; ++r)
          for (extent k = 0; k <= filter / 2; ++k) {
            double part[2] = {0, 0};
            for (int i = 0; i < 2; ++i)
              for (extent j = 0; j < filter; ++j)
                part[i] +=
                    static_cast<double>(basis[(k + i * (filter / 2 + 1)) * filter + j]) * padded(r * filter / 2 + j);
            EXPECT_NEAR(static_cast<double>(y(r, k)), std::hypot(part[0], part[1]), 1e-4);
          }
      }
    }
}

TEST(silero_layers, transform_refuses_other_sizes) {
  EXPECT_NE(test::refusal([] { transform(6, 0); }).find("a multiple of 4"), std::string::npos);
  EXPECT_NE(test::refusal([] { transform(16, 3); }).find("left_padding"), std::string::npos);
}

template <class Net>
struct memory {
  test::memory_source source;
  weights::storage keep;
  Net net;
  void members(auto&& v) { v("rnn", net); }
  explicit memory(const std::string& end) {
    for (const char* w : {"rnn.weight_ih", "rnn.weight_hh"}) source.add(w + end, {20, 5}, wheel(100, 41));
    for (const char* b : {"rnn.bias_ih", "rnn.bias_hh"}) source.add(b + end, {20}, wheel(20, 7));
    source.set("m.rnn.pred_rnn_layers", 1);
    weights::bind(*this, source, keep, "m");
  }
};

TEST(silero_layers, cell_is_one_layer_of_the_stack) {
  const memory<nn::lstm_cell<dynamic>> one("");
  const memory<nn::lstm<dynamic>> stack("_l0");
  const std::vector<float> x = wheel(35, 13);
  const auto rows = core::make_view(x.data(), 7, 5);
  matrix<float, dynamic, dynamic> a(7, 5), b(7, 5), d(7, 5);
  context c;
  one.net(rows, a, nullptr, nn::no_env{}, c);
  stack.net(rows, b, nullptr, nn::no_env{}, c);
  EXPECT_TRUE(a == b);
  auto s = one.net.start();
  for (extent t = 0; t < 7; ++t)
    one.net(core::make_view(x.data() + 5 * t, 1, 5), core::make_view(d.data() + 5 * t, 1, 5), &s, nn::no_env{}, c);
  EXPECT_TRUE(a == d);
  nn::restart(one.net, s);
  one.net(rows, d, &s, nn::no_env{}, c);
  EXPECT_TRUE(a == d);
}

TEST(silero_layers, rounding_is_the_files_choice) {
  const std::vector<float> x{0, 1, 1.0001f, -0.1f, 3e-8f, 65503, 0x1p-14f};
  std::vector<float> y(7);
  nn::round_to_half<dynamic> layer;
  context c;
  const auto call = [&] {
    layer(core::make_view(x.data(), 1, 7), core::make_view(y.data(), 1, 7), nullptr, nn::no_env{}, c);
  };
  call();
  EXPECT_EQ(y, x);
  layer.on.adopt(1);
  call();
  EXPECT_EQ(y, (std::vector<float>{0, 1, 1, -0.0999755859375f, 0x1p-25f * 2, 65504, 0x1p-14f}));
}

TEST(silero_layers, sigmoid_is_its_definition) {
  const std::vector<float> x{-100, -2, 0, 0.5f, 100};
  std::vector<float> y(5);
  context c;
  nn::sigmoid<dynamic>()(core::make_view(x.data(), 1, 5), core::make_view(y.data(), 1, 5), nullptr, nn::no_env{}, c);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(static_cast<double>(y[i]), 1 / (1 + std::exp(-static_cast<double>(x[i]))), 1e-6);
}

}  // namespace silero_layers_test
