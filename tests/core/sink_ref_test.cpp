// SPDX-License-Identifier: Apache-2.0
#include <steno/core/sink_ref.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sink_ref_test {

using steno::core::sink_ref;

static_assert(!std::is_constructible_v<sink_ref<std::string>, int>);
static_assert(!std::is_constructible_v<sink_ref<std::string>, void (*)(int)>);

std::vector<std::string> emit(sink_ref<std::string> sink) {
  std::vector<std::string> left = {"one", "two"};
  for (std::string& s : left) sink(std::move(s));
  return left;
}
TEST(sink_ref, moves_values_into_any_callable) {
  std::vector<std::string> all;
  const auto by_value = [&](std::string s) { all.push_back(std::move(s)); };
  const auto left = emit(by_value);
  EXPECT_TRUE(left[0].empty() && left[1].empty());
  emit([&](const std::string& s) { all.push_back(s); });
  int calls = 0;
  auto changes = [&calls](std::string&&) mutable { ++calls; };
  emit(changes);
  EXPECT_EQ(all, (std::vector<std::string>{"one", "two", "one", "two"}));
  EXPECT_EQ(calls, 2);
}

TEST(sink_ref, references_arrive_as_they_are) {
  const int value = 7;
  const int* seen = nullptr;
  const sink_ref<const int&> sink = [&](const int& v) { seen = &v; };
  // The temporary callable lives no longer than its line, so this one is made anew.
  auto callable = [&](const int& v) { seen = &v; };
  sink_ref<const int&>{callable}(value);
  (void)sink;
  EXPECT_EQ(seen, &value);
}

}  // namespace sink_ref_test
