// SPDX-License-Identifier: Apache-2.0
#include "client_rates.hpp"

#include <gtest/gtest.h>

namespace client_rates_test {

using std::chrono::seconds;
using steno::app::client_rates;

TEST(client_rates, each_client_has_its_own) {
  client_rates r(3);
  const client_rates::time t{};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(r.take(1, t), 0);
  EXPECT_EQ(r.take(1, t), 20);
  EXPECT_EQ(r.take(2, t), 0);
  EXPECT_EQ(r.take(1, t + seconds(19)), 1);
  EXPECT_EQ(r.take(1, t + seconds(20)), 0);
  EXPECT_GT(r.take(1, t + seconds(20)), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(r.take(1, t + seconds(3600)), 0);  // no more than a minute's is saved
  EXPECT_GT(r.take(1, t + seconds(3600)), 0);
}

TEST(client_rates, many_that_never_come_again_take_no_place) {
  client_rates r(1);
  const client_rates::time t{};
  for (std::uint64_t c = 0; c < 30000; ++c) EXPECT_EQ(r.take(c, t + seconds(c)), 0);
  EXPECT_EQ(client_rates(0).take(1), 0);
}

}  // namespace client_rates_test
