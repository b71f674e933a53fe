// Stable sorting that is compiled once, against std::stable_sort.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/sorting.hpp>

#include "support/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sorting_test {

using namespace steno;

TEST(sorting, places_are_those_of_the_standard_librarys_stable_sort) {
  std::mt19937 random(1);
  std::vector<std::size_t> places;
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<int> keys(size);
    for (int& k : keys) k = static_cast<int>(random() % (1 + size / 3));
    std::vector<std::size_t> want(size);
    std::iota(want.begin(), want.end(), std::size_t{0});
    const auto less = [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; };
    std::stable_sort(want.begin(), want.end(), less);
    core::sort_places(places, size, less);
    EXPECT_EQ(places, want) << size;
  }
}

TEST(sorting, elements_that_can_only_be_moved_far_are_sorted_too) {
  std::vector<std::pair<std::string, int>> all;
  for (int i = 0; i < 100; ++i) all.emplace_back("a long text that is on the heap " + std::to_string(i * 7 % 10), i);
  auto want = all;
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(want.begin(), want.end(), less);
  core::sort_stably(all, less);
  EXPECT_EQ(all, want);
}

TEST(sorting, part_of_a_list_and_the_usual_order) {
  std::vector<int> all{5, 3, 4, 1, 2};
  core::sort_stably(std::span(all).first(3));
  EXPECT_EQ(all, (std::vector<int>{3, 4, 5, 1, 2}));
  core::sort_stably(all);
  EXPECT_EQ(all, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(sorting, an_order_that_contradicts_itself_loses_nothing) {
  std::vector<float> all(100, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < all.size(); i += 3) all[i] = static_cast<float>(i * 37 % 100);
  const auto numbers = [](const std::vector<float>& v) {
    return std::count_if(v.begin(), v.end(), [](float x) { return !std::isnan(x); });
  };
  const auto before = numbers(all);
  core::sort_stably(all);
  EXPECT_EQ(numbers(all), before);
}

TEST(sorting, allocates_nothing_once_its_scratch_is_there) {
  std::vector<int> all{3, 1, 2, 5, 4};
  std::vector<std::size_t> places;
  core::sort_stably(all, places, [](int a, int b) { return a > b; });
  const test::allocation_counter counted;
  core::sort_stably(all, places, [](int a, int b) { return a < b; });
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_EQ(all, (std::vector<int>{1, 2, 3, 4, 5}));
}

// Of equal elements the order is seen, too.
TEST(sorting, as_gnu_sorts_whatever_the_standard_library) {
  std::mt19937 rng(5);
  const auto less = [](const std::pair<int, int>& a, const std::pair<int, int>& b) { return a.first < b.first; };
  for (const unsigned keys : {1u, 2u, 5u, 40u, 1000u})
    for (std::size_t size = 0; size < 400; size = size < 40 ? size + 1 : size + 37) {
      std::vector<std::pair<int, int>> all;
      for (std::size_t i = 0; i < size; ++i) all.emplace_back(static_cast<int>(rng() % keys), static_cast<int>(i));
      auto want = all;
      core::sort_as_gnu(std::span(all), less);
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), less));
#if defined(__GLIBCXX__)
      std::sort(want.begin(), want.end(), less);
      EXPECT_EQ(all, want) << size << " of " << keys;
#else
      EXPECT_TRUE(std::is_permutation(all.begin(), all.end(), want.begin()));
#endif
    }
  // What GNU's makes of 20 equal ones: a fact, for where there is no GNU.
  std::vector<std::pair<int, int>> equal;
  for (int i = 0; i < 20; ++i) equal.emplace_back(0, i);
  core::sort_as_gnu(std::span(equal), less);
  std::string order;
  for (const auto& e : equal) order += std::to_string(e.second) + " ";
  EXPECT_EQ(order, "10 19 18 17 16 15 14 13 12 11 0 9 8 7 6 5 4 3 2 1 ");
}

}  // namespace sorting_test
