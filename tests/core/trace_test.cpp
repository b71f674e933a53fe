// SPDX-License-Identifier: Apache-2.0
#include <steno/core/context.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trace_test {

TEST(trace, names_are_paths) {
  std::vector<std::string> seen;
  const auto sink = [&](std::string_view path, steno::view<const float> x) {
    seen.push_back(std::string(path) + " " + std::to_string(x.rows()) + "x" + std::to_string(x.cols()));
  };
  steno::context c(steno::executor{}, steno::core::tracer(sink));
  float data[6] = {};
  auto x = steno::core::make_view<steno::dynamic, 3>(data, 2, 3);
  {
    auto outer = c.enter("encoder");
    auto inner = c.enter("encoders", 12);
    c.trace("norm1", x);
  }
  c.trace("logits", x);
  EXPECT_EQ(seen, (std::vector<std::string>{"encoder.encoders.12.norm1 2x3", "logits 2x3"}));
}

TEST(trace, off_by_default) {
  steno::context c;
  float data[1] = {};
  auto x = steno::core::make_view(data, 1, 1);
  c.trace("nothing", x);
  EXPECT_FALSE(c.tracing());
}

}  // namespace trace_test
