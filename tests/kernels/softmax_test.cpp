// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/softmax.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "each_isa.hpp"
#include "guarded.hpp"

namespace softmax_test {

namespace k = steno::kernels;
using namespace steno_test;

double log_sum(const guarded& x, extent r) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (extent c = 0; c < x.cols(); ++c) largest = std::max(largest, static_cast<double>(x.at(r, c)));
  for (extent c = 0; c < x.cols(); ++c) sum += std::exp(x.at(r, c) - largest);
  return largest + std::log(sum);
}

TEST(softmax, agrees_with_double) {
  each_isa([](k::isa) {
    for (const extent cols : {1, 2, 15, 16, 17, 33, 64, 129, 560, 5000})
      for (const extent rows : {0, 1, 5})
        for (const float range : {1.0f, 30.0f, 1e4f}) {
          SCOPED_TRACE(cols);
          const guarded x = guarded(rows, cols).randomise(static_cast<unsigned>(cols), range);
          guarded y(rows, cols, 7), z(rows, cols, 1);
          k::softmax(x.in(), y.out(), {});
          k::log_softmax(x.in(), z.out(), {});
          EXPECT_TRUE(y.intact() && z.intact());
          for (extent r = 0; r < rows; ++r) {
            const double normal = log_sum(x, r);
            for (extent c = 0; c < cols; ++c) {
              const double want = x.at(r, c) - normal;
              // Relative: exp within 2 ulp, the sum within a few, x - max rounded once (half an ulp of up to 87 where
              // the result is not 0).
              ASSERT_NEAR(y.at(r, c), std::exp(want), std::exp(want) * (1e-6 + 4e-6 * (range > 1)) + 1.3e-38);
              ASSERT_NEAR(z.at(r, c), want, 1e-6 + 2e-7 * std::fabs(want));
            }
          }
        }
  });
}

TEST(softmax, large_and_infinite_values) {
  each_isa([](k::isa) {
    const float inf = std::numeric_limits<float>::infinity();
    guarded x(2, 20), y(2, 20), z(2, 20);
    for (extent c = 0; c < 20; ++c) x.at(0, c) = c == 3 ? 3e38f : -3e38f, x.at(1, c) = c < 4 ? 1.0f : -inf;
    k::softmax(x.in(), y.out(), {});
    k::log_softmax(x.in(), z.out(), {});
    for (extent c = 0; c < 20; ++c) {
      EXPECT_EQ(y.at(0, c), c == 3 ? 1.0f : 0.0f);
      EXPECT_EQ(y.at(1, c), c < 4 ? 0.25f : 0.0f);
      if (c < 4)
        EXPECT_NEAR(z.at(1, c), -1.3862944f, 2e-7f);
      else
        EXPECT_EQ(z.at(1, c), -inf);
    }
  });
}

TEST(softmax, in_place_and_same_bits) {
  const auto same = [](const guarded& a, const guarded& b) { return a.same_bits(b); };
  const auto run = [](const steno::executor& e) {
    guarded x = guarded(67, 560).randomise(2, 10.0f);
    k::softmax(x.in(), x.out(), e);
    k::log_softmax(x.in(), x.out(), e);
    return x;
  };
  same_bits_for_pools(run, same);
  same_bits_with_fma([&] { return run({}); }, same);
}

}  // namespace softmax_test
