// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/depthwise.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "each_isa.hpp"
#include "guarded.hpp"

namespace depthwise_test {

namespace k = steno::kernels;
using namespace steno_test;

void expect_depthwise(extent rows, extent cols, extent count, extent left) {
  SCOPED_TRACE(testing::Message() << rows << "x" << cols << " taps " << count << " left " << left);
  const guarded x = guarded(rows, cols, 5).randomise(static_cast<unsigned>(rows + cols));
  const auto taps = random_values(static_cast<std::size_t>(count * cols), 3);
  guarded y(rows, cols, 2);
  k::depthwise(x.in(), taps.data(), count, left, y.out(), {});
  EXPECT_TRUE(y.intact());
  for (extent t = 0; t < rows; ++t)
    for (extent c = 0; c < cols; ++c) {
      double want = 0, size = 0;
      for (extent j = 0; j < count; ++j) {
        const extent i = t + j - left;
        if (i < 0 || i >= rows) continue;
        const double term = static_cast<double>(taps[static_cast<std::size_t>(j * cols + c)]) * x.at(i, c);
        want += term;
        size += std::fabs(term);
      }
      // Each of up to `count` steps rounds by half an ulp of at most `size` (twice without FMA).
      ASSERT_NEAR(y.at(t, c), want, 1.2e-7 * static_cast<double>(count) * size) << t << "," << c;
    }
}

TEST(depthwise, agrees_with_double) {
  each_isa([](k::isa) {
    for (const extent rows : {0, 1, 2, 7, 30, 100})
      for (const extent cols : {1, 15, 16, 17, 33, 48})
        for (const extent count : {1, 3, 11, 31}) {
          expect_depthwise(rows, cols, count, (count - 1) / 2);
          expect_depthwise(rows, cols, count, count - 1);
          expect_depthwise(rows, cols, count, 0);
        }
    expect_depthwise(40, 33, 70, 35);   // more taps than are copied
    expect_depthwise(5, 16, 3, 20);     // nothing in reach
    expect_depthwise(45, 1000, 11, 5);  // several tiles of rows
  });
}

TEST(depthwise, same_bits) {
  const auto taps = random_values(11 * 560, 3);
  const guarded x = guarded(131, 560).randomise(2);
  const auto run = [&](const steno::executor& e) {
    guarded y(131, 560);
    k::depthwise(x.in(), taps.data(), 11, 5, y.out(), e);
    return y;
  };
  const auto same = [](const guarded& a, const guarded& b) { return a.same_bits(b); };
  same_bits_for_pools(run, same);
  same_bits_with_fma([&] { return run({}); }, same);
}

// What it is added to: the bits of a product and a sum of their own, where the factor is a power of two.
TEST(depthwise, is_added_to_rows) {
  each_isa([](k::isa) {
    for (const extent cols : {16, 33})
      for (const float factor : {1.0f, 0.5f}) {
        const auto taps = random_values(static_cast<std::size_t>(11 * cols), 3);
        const guarded x = guarded(45, cols, 5).randomise(2), rows = guarded(45, cols, 3).randomise(4);
        guarded alone(45, cols, 2), sum(45, cols, 2), in_place = rows;
        k::depthwise(x.in(), taps.data(), 11, 5, alone.out(), {});
        k::depthwise(x.in(), taps.data(), 11, 5, sum.out(), {},
                     {.rows = rows.in().data(), .stride = rows.in().outerStride(), .factor = factor});
        k::depthwise(x.in(), taps.data(), 11, 5, in_place.out(), {},
                     {.rows = in_place.in().data(), .stride = in_place.in().outerStride(), .factor = factor});
        EXPECT_TRUE(sum.intact() && in_place.intact());
        for (extent t = 0; t < 45; ++t)
          for (extent c = 0; c < cols; ++c) {
            ASSERT_EQ(sum.at(t, c), rows.at(t, c) + factor * alone.at(t, c)) << t << "," << c;
            ASSERT_EQ(in_place.at(t, c), sum.at(t, c));
          }
      }
  });
}

// A row computed alone (a chunk of a stream) has the bits of the same row inside a long input.
TEST(depthwise, rows_do_not_depend_on_their_neighbours_tile) {
  const auto taps = random_values(11 * 64, 3);
  const guarded x = guarded(60, 64, 0).randomise(2);
  guarded all(60, 64, 0);
  k::depthwise(x.in(), taps.data(), 11, 10, all.out(), {});
  for (extent t = 10; t < 60; ++t) {
    guarded one(11, 64, 0);
    k::depthwise(steno::core::read(x.in().middleRows(t - 10, 11)), taps.data(), 11, 10, one.out(), {});
    for (extent c = 0; c < 64; ++c) ASSERT_EQ(one.at(10, c), all.at(t, c));
  }
}

}  // namespace depthwise_test
