// SPDX-License-Identifier: Apache-2.0
#include <steno/core/workspace.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

namespace workspace_test {

using steno::core::workspace;

TEST(workspace, frames_give_back_and_reuse_the_same_memory) {
  workspace w;
  const float* first = nullptr;
  {
    workspace::frame f(w);
    first = f.take<float>(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % workspace::alignment, 0u);
  }
  workspace::frame f(w);
  EXPECT_EQ(f.take<float>(100), first);
}

TEST(workspace, views_stay_valid_while_it_grows) {
  workspace w;
  workspace::frame f(w);
  float* a = f.take<float>(10);
  a[3] = 7;
  for (int i = 0; i < 20; ++i) f.take<float>(100000)[0] = 1;
  EXPECT_EQ(a[3], 7);
}

TEST(workspace, second_pass_needs_no_more_memory) {
  workspace w;
  const auto pass = [&] {
    workspace::frame f(w);
    f.take<float>(1000);
    for (int i = 0; i < 5; ++i) {
      workspace::frame g(w);
      g.take<double>(200000);
    }
    f.take<char>(300000);
  };
  pass();
  const std::size_t held = w.capacity();
  EXPECT_GE(held, w.peak());
  pass();
  EXPECT_EQ(w.capacity(), held);
  EXPECT_LT(w.peak(), 2 * 200000 * sizeof(double));  // the deepest chain, not the sum
}

TEST(workspace, says_what_it_lacks_and_serves_the_next_pass) {
  workspace w;
  w.limit(std::size_t{1} << 20);
  const auto pass = [&](std::size_t bytes) {
    workspace::frame outer(w);
    outer.take<char>(1000);
    workspace::frame inner(w);
    inner.take<char>(bytes)[bytes - 1] = 1;
  };
  try {
    pass(std::size_t{2} << 20);
    FAIL() << "the limit was not kept";
  } catch (const steno::core::out_of_memory& e) {
    EXPECT_NE(std::string(e.what()).find("scratch memory"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("1048576"), std::string::npos) << e.what();
  }
  EXPECT_LE(w.capacity(), std::size_t{1} << 20);
  pass(500000);
  EXPECT_LE(w.capacity(), std::size_t{1} << 20);
}

TEST(workspace, refuses_sizes_beyond_the_address_space) {
  workspace w;
  workspace::frame f(w);
  EXPECT_THROW(f.take<double>(SIZE_MAX / 4), steno::core::out_of_memory);
  EXPECT_THROW(f.take<char>(SIZE_MAX), steno::core::out_of_memory);
  constexpr steno::extent large = PTRDIFF_MAX / 1024;
  EXPECT_THROW(f.matrix(large, large), steno::core::out_of_memory);
  EXPECT_THROW(f.matrix(-1, 7), steno::core::out_of_memory);
  EXPECT_NE(f.take<float>(10), nullptr);
}

TEST(workspace, moves) {
  workspace a;
  {
    workspace::frame f(a);
    f.take<float>(1000);
  }
  const std::size_t held = a.capacity();
  workspace b(std::move(a));
  EXPECT_EQ(b.capacity(), held);
  EXPECT_EQ(a.capacity(), 0u);  // NOLINT: it may be used again
  workspace::frame f(a);
  f.take<float>(10)[0] = 1;
  a.reserve(10);
}

}  // namespace workspace_test
