// Lists of hypotheses whose memory stays.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/hypothesis_pool.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hypothesis_pool_test {

using namespace steno;
using ids = std::vector<int>;
using pool = search::hypothesis_pool<ids>;

TEST(hypothesis_pool, lists_are_changed_as_they_say) {
  pool p;
  pool::list a{{1}, {2, 3}, {4}}, b;
  p.copy(a[1], b).push_back(9);
  EXPECT_EQ(a[1], (ids{2, 3}));
  EXPECT_EQ(b, (pool::list{{2, 3, 9}}));
  p.move(a, b);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(b, (pool::list{{1}, {2, 3}, {4}}));
  p.keep_if(b, [](const ids& h) { return h.size() == 1; });
  EXPECT_EQ(b, (pool::list{{1}, {4}}));
  p.copy({7, 8}, a);  // of what was given back
  EXPECT_EQ(a, (pool::list{{7, 8}}));
  pool::append(a, b);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(b, (pool::list{{1}, {4}, {7, 8}}));
  p.shorten(b, 1);
  EXPECT_EQ(b, (pool::list{{1}}));
}

TEST(hypothesis_pool, a_warm_one_allocates_nothing) {
  pool p;
  pool::list kept{ids(20, 1)}, next;
  const auto round = [&] {
    for (int i = 0; i < 5; ++i) p.copy(kept[0], next).back() = i;
    p.keep_if(next, [](const ids& h) { return h.back() % 2 == 0; });
    p.move(next, kept);
  };
  for (int i = 0; i < 3; ++i) round();
  const test::allocation_counter counted;
  for (int i = 0; i < 10; ++i) round();
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_EQ(kept.size(), 3u);
}

}  // namespace hypothesis_pool_test
