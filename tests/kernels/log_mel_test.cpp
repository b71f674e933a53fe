// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/log_mel.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/each_isa.hpp"

namespace log_mel_test {

using steno::extent;

TEST(log_mel, logarithm_is_right_over_the_whole_range) {
  steno_test::each_isa([](auto) {
    const extent first[] = {0, 1}, begin[] = {0, 1, 2};
    const float one[] = {1, 1};
    const float least = std::numeric_limits<float>::min();
    std::vector<float> p(32), y(32), work(32);
    for (float x = least; x < 3e38f; x *= 1.37f) {
      for (std::size_t i = 0; i < 32; ++i) p[i] = x * (1 + 0.011f * static_cast<float>(i));
      steno::kernels::log_mel_of_lanes({2, first, begin, one, least}, p.data(), 16, y.data(), 2, work.data());
      for (std::size_t lane = 0; lane < 16; ++lane)
        for (std::size_t b = 0; b < 2; ++b) {
          const double want = std::log(static_cast<double>(p[16 * b + lane]));
          // 1.5 units in the last place of the result, or of ln 2 where the result is smaller.
          EXPECT_NEAR(y[2 * lane + b], want, 1.8e-7 * std::max(std::abs(want), 0.35)) << p[16 * b + lane];
        }
    }
  });
}

TEST(log_mel, writes_only_the_rows_asked_for) {
  steno_test::each_isa([](auto) {
    constexpr extent mels = 37;
    std::vector<extent> first(mels, 0), begin;
    std::vector<float> weights;
    for (extent b = 0; b <= mels; ++b) begin.push_back(b);
    for (extent b = 0; b < mels; ++b) weights.push_back(static_cast<float>(b + 1));
    std::vector<float> p(16), work(16 * mels);
    for (std::size_t lane = 0; lane < 16; ++lane) p[lane] = static_cast<float>(lane + 1);
    for (int count = 1; count <= 16; ++count) {
      std::vector<float> y(16 * 40, -1);
      steno::kernels::log_mel_of_lanes({mels, first.data(), begin.data(), weights.data(), 1e-7f}, p.data(), count,
                                       y.data(), 40, work.data());
      for (std::size_t lane = 0; lane < 16; ++lane)
        for (std::size_t b = 0; b < 40; ++b) {
          const bool written = lane < static_cast<std::size_t>(count) && b < mels;
          const float want = written ? std::log(static_cast<float>((lane + 1) * (b + 1))) : -1;
          EXPECT_NEAR(y[lane * 40 + b], want, 1e-6) << count << " " << lane << " " << b;
        }
    }
  });
}

}  // namespace log_mel_test
