// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/elementwise.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "each_isa.hpp"
#include "guarded.hpp"

namespace elementwise_test {

namespace k = steno::kernels;
using namespace steno_test;
using activation = void (*)(const steno::view<const float>&, const steno::view<float>&) noexcept;

double gelu(double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752440); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double hyperbolic(double x) { return std::tanh(x); }

/// A fine grid over [-range, range]; |f(x) - want| <= relative |want| + absolute |x| + smallest normal number.
void expect_function(activation f, double (*want)(double), float range, double relative, double absolute) {
  each_isa([&](k::isa) {
    const extent count = 20011;  // not a multiple of 16
    guarded x(1, count), y(1, count);
    for (extent i = 0; i < count; ++i)
      x.at(0, i) = range * (2.0f * static_cast<float>(i) / static_cast<float>(count - 1) - 1.0f);
    f(x.in(), y.out());
    for (extent i = 0; i < count; ++i) {
      const double v = x.at(0, i), w = want(v);
      ASSERT_NEAR(y.at(0, i), w, relative * std::fabs(w) + absolute * std::fabs(v) + 1.2e-38) << v;
    }
  });
}

TEST(elementwise, add_scale_relu_on_strided_views) {
  each_isa([](k::isa) {
    for (const extent cols : {0, 1, 15, 16, 17, 33, 560})
      for (const extent rows : {0, 1, 6})
        for (const extent gap : {0, 3}) {
          const guarded a = guarded(rows, cols, gap).randomise(1), b = guarded(rows, cols, 2).randomise(2);
          guarded y(rows, cols, gap), z(rows, cols, gap), r(rows, cols, gap);
          k::add(a.in(), b.in(), y.out());
          k::scale(a.in(), 1.75f, z.out());
          k::apply_relu(a.in(), r.out());
          EXPECT_TRUE(y.intact() && z.intact() && r.intact());
          for (extent i = 0; i < rows; ++i)
            for (extent j = 0; j < cols; ++j) {
              ASSERT_EQ(y.at(i, j), a.at(i, j) + b.at(i, j));
              ASSERT_EQ(z.at(i, j), a.at(i, j) * 1.75f);
              ASSERT_EQ(r.at(i, j), std::max(a.at(i, j), 0.0f));
            }
          guarded in_place = a;
          k::add(in_place.in(), b.in(), in_place.out());
          EXPECT_TRUE(in_place.same_bits(y));
          in_place = b;
          k::add(a.in(), in_place.in(), in_place.out());
          for (extent i = 0; i < rows; ++i)
            for (extent j = 0; j < cols; ++j) ASSERT_EQ(in_place.at(i, j), y.at(i, j));
        }
  });
}

// exp contributes 2 ulp, sum and quotient one each.
TEST(elementwise, sigmoid) { expect_function(k::apply_sigmoid, sigmoid, 87.0f, 5e-7, 0); }
TEST(elementwise, silu) { expect_function(k::apply_silu, silu, 87.0f, 5e-7, 0); }
TEST(elementwise, tanh) {
  expect_function(k::apply_tanh, hyperbolic, 100.0f, 2.4e-7, 0);
  expect_function(k::apply_tanh, hyperbolic, 1.0f, 2.4e-7, 0);
  expect_function(k::apply_tanh, hyperbolic, 1e-3f, 2.4e-7, 0);
}
// Phi is a sum with 1/2 near zero and 1 - tail above: an absolute error of an ulp of 1 times x.
TEST(elementwise, gelu) {
  expect_function(k::apply_gelu, gelu, 14.0f, 4e-7, 2e-7);
  expect_function(k::apply_gelu, gelu, 1.5f, 4e-7, 2e-7);
}

TEST(elementwise, gelu_tail_is_relative) {
  each_isa([](k::isa level) {
    guarded x(1, 1000), y(1, 1000);
    for (extent i = 0; i < 1000; ++i) x.at(0, i) = -1.5f - 0.0115f * static_cast<float>(i);  // down to -13
    k::apply_gelu(x.in(), y.out());
    for (extent i = 0; i < 1000; ++i) {
      const double want = gelu(x.at(0, i));
      // Without FMA the square is rounded: half an ulp of 84 in the exponent.
      ASSERT_NEAR(y.at(0, i), want, std::fabs(want) * (steno_test::has_fma(level) ? 1.2e-6 : 6e-6) + 1.2e-38)
          << x.at(0, i);
    }
  });
}

TEST(elementwise, activations_at_the_ends) {
  each_isa([](k::isa) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    guarded x(1, 6), y(1, 6);
    const float values[] = {1e30f, -1e30f, 300.0f, -300.0f, 0.0f, nan};
    for (extent i = 0; i < 6; ++i) x.at(0, i) = values[i];
    const auto expect = [&](activation f, std::initializer_list<float> want) {
      f(x.in(), y.out());
      extent i = 0;
      for (const float w : want) {
        EXPECT_EQ(y.at(0, i), w) << i;
        ++i;
      }
      EXPECT_TRUE(std::isnan(y.at(0, 5)));
    };
    expect(k::apply_relu, {1e30f, 0, 300.0f, 0, 0});
    expect(k::apply_gelu, {1e30f, 0, 300.0f, 0, 0});
    expect(k::apply_silu, {1e30f, 0, 300.0f, 0, 0});
    expect(k::apply_sigmoid, {1, 0, 1, 0, 0.5f});
    expect(k::apply_tanh, {1, -1, 1, -1, 0});
    x.at(0, 0) = inf, x.at(0, 1) = -inf;
    expect(k::apply_sigmoid, {1, 0, 1, 0, 0.5f});
    expect(k::apply_tanh, {1, -1, 1, -1, 0});
  });
}

TEST(elementwise, same_bits_with_fma) {
  for (const activation f :
       {activation{k::apply_gelu}, activation{k::apply_silu}, activation{k::apply_sigmoid}, activation{k::apply_tanh}})
    same_bits_with_fma(
        [&] {
          guarded x = guarded(3, 1001).randomise(4, 8.0f);
          f(x.in(), x.out());
          return x;
        },
        [](const guarded& a, const guarded& b) { return a.same_bits(b); });
}

}  // namespace elementwise_test
