// Values of several types in a row, in place of std::tuple.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/parts.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace parts_test {

using namespace steno;

using mixed = core::parts<int, std::vector<int>, std::string, int>;
static_assert(std::is_aggregate_v<mixed> && std::is_copy_constructible_v<mixed> && std::is_copy_assignable_v<mixed>);
static_assert(std::is_nothrow_move_constructible_v<mixed>);
static_assert(!std::is_copy_constructible_v<core::parts<int, std::unique_ptr<int>>>);
static_assert(core::is_parts<mixed> && core::is_parts<core::parts<>> && !core::is_parts<int>);
static_assert(std::is_same_v<decltype(core::part<1>(std::declval<mixed&>())), std::vector<int>&>);
static_assert(std::is_same_v<decltype(core::part<2>(std::declval<const mixed&>())), const std::string&>);

TEST(parts, are_default_made_and_reached_by_number) {
  mixed p;
  EXPECT_EQ(core::part<0>(p), 0);
  EXPECT_EQ(core::part<3>(p), 0);
  core::part<0>(p) = 1;
  core::part<1>(p) = {2, 3};
  core::part<2>(p) = "four";
  core::part<3>(p) = 5;
  const mixed copy = p;
  EXPECT_EQ(core::part<0>(copy), 1);
  EXPECT_EQ(core::part<1>(copy), (std::vector<int>{2, 3}));
  EXPECT_EQ(core::part<2>(copy), "four");
  EXPECT_EQ(core::part<3>(copy), 5);
}

TEST(parts, each_goes_through_them_in_order) {
  core::parts<int, std::string, double> p;
  core::part<0>(p) = 1;
  core::part<1>(p) = "two";
  core::part<2>(p) = 3;
  std::string all;
  const auto write = [&](const auto& v) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(v)>>)
      all += std::to_string(static_cast<int>(v));
    else
      all += v;
  };
  std::as_const(p).each(write);
  EXPECT_EQ(all, "1two3");
  p.each([](auto& v) { v = {}; });
  EXPECT_EQ(core::part<0>(p), 0);
  EXPECT_EQ(core::part<1>(p), "");
}

TEST(parts, map_makes_others_of_them) {
  core::parts<int, std::string> p;
  core::part<0>(p) = 7;
  core::part<1>(p) = "eight";
  const auto sizes = p.map<core::parts<std::size_t, std::size_t>>([](const auto& v) { return sizeof(v); });
  EXPECT_EQ(core::part<0>(sizes), sizeof(int));
  EXPECT_EQ(core::part<1>(sizes), sizeof(std::string));
}

}  // namespace parts_test
