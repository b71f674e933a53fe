// The sort that keeps its memory, against std::stable_sort.
// SPDX-License-Identifier: Apache-2.0
#include <steno/search/stable_sorter.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace stable_sorter_test {

using namespace steno;

TEST(stable_sorter, sorts_as_the_standard_library_does) {
  std::mt19937 random(1);
  search::stable_sorter sorter;
  const auto better = [](const auto& a, const auto& b) { return a.first > b.first; };
  for (std::size_t size = 0; size < 60; ++size) {
    std::vector<std::pair<int, std::size_t>> all(size);
    for (std::size_t i = 0; i < size; ++i) all[i] = {static_cast<int>(random() % (1 + size / 3)), i};
    auto want = all;
    std::stable_sort(want.begin(), want.end(), better);
    sorter.sort(all, better);
    EXPECT_EQ(all, want) << size;
  }
}

TEST(stable_sorter, a_warm_one_allocates_nothing) {
  search::stable_sorter sorter;
  std::vector<int> all{3, 1, 2, 5, 4}, shorter{2, 1};
  sorter.sort(all, std::greater<>());
  const test::allocation_counter counted;
  sorter.sort(all, std::less<>());
  sorter.sort(shorter, std::less<>());
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_EQ(all, (std::vector<int>{1, 2, 3, 4, 5}));
}

}  // namespace stable_sorter_test
