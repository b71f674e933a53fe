// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/numbers.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "each_isa.hpp"
#include "guarded.hpp"

namespace numbers_test {

namespace k = steno::kernels;
using namespace steno_test;

constexpr float no_number = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();

// Every place of rows of every length, with neighbours beyond the row that are none.
TEST(numbers, one_value_in_any_place_is_seen) {
  each_isa([](k::isa) {
    for (const extent cols : {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 100})
      for (extent at = 0; at < 2 * cols; ++at) {
        SCOPED_TRACE(testing::Message() << cols << " columns, place " << at);
        std::vector<float> values(static_cast<std::size_t>(2 * (cols + 3)), no_number);
        const auto x = steno::core::make_view(values.data(), 2, cols, cols + 3);
        const auto place = [&](extent i) -> float& {
          return values[static_cast<std::size_t>(i / cols * (cols + 3) + i % cols)];
        };
        for (extent i = 0; i < 2 * cols; ++i) place(i) = i % 2 == 0 ? -3.5f : largest;
        float& one = place(at);
        for (const float v : {0.0f, -0.0f, least, -least, largest, -largest}) {
          one = v;
          EXPECT_TRUE(k::all_numbers(steno::core::read(x), {})) << v;
          EXPECT_TRUE(k::all_finite(steno::core::read(x), {})) << v;
        }
        for (const float v : {infinity, -infinity}) {
          one = v;
          EXPECT_TRUE(k::all_numbers(steno::core::read(x), {})) << v;
          EXPECT_FALSE(k::all_finite(steno::core::read(x), {})) << v;
        }
        for (const float v : {no_number, -no_number}) {
          one = v;
          EXPECT_FALSE(k::all_numbers(steno::core::read(x), {}));
          EXPECT_FALSE(k::all_finite(steno::core::read(x), {}));
        }
      }
  });
}

TEST(numbers, rows_are_shared_by_threads) {
  std::vector<float> values(300 * 1000, 1.0f);
  const auto x = steno::core::make_view(values.data(), 300, 1000);
  const auto seen = [&](const steno::executor& e) {
    return std::pair(k::all_numbers(steno::core::read(x), e), k::all_finite(steno::core::read(x), e));
  };
  const auto same = [](const auto& a, const auto& b) { return a == b; };
  same_bits_for_pools(seen, same);
  EXPECT_EQ(seen({}), std::pair(true, true));
  values[299 * 1000 + 999] = infinity;
  same_bits_for_pools(seen, same);
  EXPECT_EQ(seen({}), std::pair(true, false));
  values[150 * 1000] = no_number;
  same_bits_for_pools(seen, same);
  EXPECT_EQ(seen({}), std::pair(false, false));
  EXPECT_TRUE(k::all_finite(steno::core::read(x.topRows(0)), {}));
}

}  // namespace numbers_test
