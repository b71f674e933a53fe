#include <steno/core/workspace.hpp>

#include <gtest/gtest.h>

#include <cstdint>

using steno::workspace;

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
