// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/norm.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "each_isa.hpp"
#include "guarded.hpp"

namespace norm_test {

namespace k = steno::kernels;
using namespace steno_test;
constexpr extent widths[] = {1, 2, 15, 16, 17, 33, 64, 100, 512, 560};

double layer_norm_reference(const guarded& x, extent r, extent c, float gamma, float beta, float eps) {
  double mean = 0, var = 0;
  for (extent i = 0; i < x.cols(); ++i) mean += x.at(r, i);
  mean /= static_cast<double>(x.cols());
  for (extent i = 0; i < x.cols(); ++i) var += (x.at(r, i) - mean) * (x.at(r, i) - mean);
  var /= static_cast<double>(x.cols());
  return (x.at(r, c) - mean) / std::sqrt(var + static_cast<double>(eps)) * gamma + beta;
}

void expect_layer_norm(const guarded& x, float eps, double tolerance) {
  const auto gamma = random_values(static_cast<std::size_t>(x.cols()), 5);
  const auto beta = random_values(static_cast<std::size_t>(x.cols()), 6);
  guarded y(x.rows(), x.cols(), 5);
  k::layer_norm(x.in(), gamma.data(), beta.data(), eps, y.out(), {});
  EXPECT_TRUE(y.intact());
  for (extent r = 0; r < x.rows(); ++r)
    for (extent c = 0; c < x.cols(); ++c) {
      const std::size_t i = static_cast<std::size_t>(c);
      ASSERT_NEAR(y.at(r, c), layer_norm_reference(x, r, c, gamma[i], beta[i], eps), tolerance) << r << "," << c;
    }
}

// Values of a normalised row are below sqrt(560) = 24, typically 2: 4e-6 is a few units in the last place of those.
TEST(layer_norm, agrees_with_double) {
  each_isa([](k::isa) {
    for (const extent cols : widths)
      for (const extent rows : {0, 1, 7}) {
        SCOPED_TRACE(cols);
        expect_layer_norm(guarded(rows, cols).randomise(static_cast<unsigned>(cols)), 1e-5f, 4e-6);
      }
  });
}

TEST(layer_norm, keeps_its_accuracy_under_a_large_offset) {
  each_isa([](k::isa) {
    guarded x = guarded(3, 512).randomise(1);
    for (extent r = 0; r < 3; ++r)
      for (extent c = 0; c < 512; ++c) x.at(r, c) += 10000.0f;  // stored to 1e-3; the mean must not add to that
    expect_layer_norm(x, 1e-5f, 4e-6);
  });
}

TEST(layer_norm, constant_rows_give_beta) {
  each_isa([](k::isa) {
    guarded x(2, 33);
    for (extent c = 0; c < 33; ++c) x.at(0, c) = 0.1f, x.at(1, c) = -3e4f;
    expect_layer_norm(x, 1e-12f, 1e-6);
  });
}

TEST(layer_norm, in_place_and_same_bits) {
  const auto gamma = random_values(560, 5), beta = random_values(560, 6);
  const auto run = [&](const steno::executor& e) {
    guarded x = guarded(131, 560).randomise(2);
    k::layer_norm(x.in(), gamma.data(), beta.data(), 1e-5f, x.out(), e);
    return x;
  };
  const auto same = [](const guarded& a, const guarded& b) { return a.same_bits(b); };
  same_bits_for_pools(run, same);
  guarded x = guarded(131, 560).randomise(2), y(131, 560);
  k::layer_norm(x.in(), gamma.data(), beta.data(), 1e-5f, y.out(), {});
  EXPECT_TRUE(y.same_bits(run({})));
  same_bits_with_fma([&] { return run({}); }, same);
}

TEST(rms_norm, agrees_with_double) {
  each_isa([](k::isa) {
    for (const extent cols : widths)
      for (const extent rows : {0, 1, 7}) {
        const guarded x = guarded(rows, cols).randomise(static_cast<unsigned>(cols), 3.0f);
        const auto gamma = random_values(static_cast<std::size_t>(cols), 5);
        guarded y(rows, cols, 1);
        k::rms_norm(x.in(), gamma.data(), 1e-6f, y.out(), {});
        EXPECT_TRUE(y.intact());
        for (extent r = 0; r < rows; ++r) {
          double mean = 0;
          for (extent c = 0; c < cols; ++c) mean += static_cast<double>(x.at(r, c)) * x.at(r, c);
          mean /= static_cast<double>(cols);
          for (extent c = 0; c < cols; ++c) {
            const double want = x.at(r, c) / std::sqrt(mean + 1e-6) * gamma[static_cast<std::size_t>(c)];
            ASSERT_NEAR(y.at(r, c), want, 4e-6) << cols;  // values up to 5
          }
        }
      }
  });
}

TEST(rms_norm, in_place_and_same_bits) {
  const auto gamma = random_values(560, 5);
  const auto run = [&](const steno::executor& e) {
    guarded x = guarded(131, 560).randomise(2);
    k::rms_norm(x.in(), gamma.data(), 1e-5f, x.out(), e);
    return x;
  };
  const auto same = [](const guarded& a, const guarded& b) { return a.same_bits(b); };
  same_bits_for_pools(run, same);
  same_bits_with_fma([&] { return run({}); }, same);
}

}  // namespace norm_test
