// A transposed convolution whose stride is its length, against its formula; rows with a gap behind each.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/spread_rows.hpp>
#include <steno/weights/binder.hpp>

#include "support/memory_source.hpp"

#include <gtest/gtest.h>

namespace spread_rows_test {

using namespace steno;

constexpr extent d = 5;

struct model {
  test::memory_source source;
  weights::storage keep;
  nn::spread_rows<dynamic, 3> net;
  void members(auto&& v) { v("up", net); }

  model() {
    std::vector<float> w, b;
    for (extent i = 0; i < 3 * d * d; ++i) w.push_back(static_cast<float>((i * 7) % 11 - 5));
    for (extent i = 0; i < d; ++i) b.push_back(static_cast<float>(i));
    source.add("up.weight", {3 * d, d}, w);
    source.add("up.bias", {d}, b);
    weights::bind(*this, source, keep, "m");
  }
};

TEST(spread_rows, formula) {
  const model m;
  context c;
  matrix<float, dynamic, dynamic> x(2, d), y(6, d), wide(6, d + 3);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 4) - 1.0f;
  nn::apply(m.net, x, y, c);
  const auto* w = reinterpret_cast<const float*>(m.net.w.data);
  for (extent t = 0; t < 2; ++t)
    for (extent k = 0; k < 3; ++k)
      for (extent o = 0; o < d; ++o) {
        float sum = static_cast<float>(o);
        for (extent i = 0; i < d; ++i) sum += w[(k * d + o) * d + i] * x(t, i);
        EXPECT_EQ(y(3 * t + k, o), sum) << t << " " << k << " " << o;  // small whole numbers are exact
      }
  wide.setZero();
  m.net(x, core::make_view(wide.data(), 6, d, d + 3), nullptr, nn::no_env{}, c);
  EXPECT_EQ(wide.leftCols(d), y);
  EXPECT_TRUE((wide.rightCols(3).array() == 0).all());
}

}  // namespace spread_rows_test
