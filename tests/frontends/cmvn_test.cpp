// SPDX-License-Identifier: Apache-2.0
#include <steno/core/members.hpp>
#include <steno/frontends/cmvn.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace cmvn_test {

using steno::extent;

struct walked {
  std::vector<std::string> names, unequal;
  void operator()(const std::string& name, auto&, bool optional) { names.push_back(name + (optional ? "?" : "")); }
  void equal(const std::string&, std::string_view what, extent a, extent b) {
    if (a != b) unequal.emplace_back(what);
  }
  void require(const std::string&, bool ok, std::string_view what, std::string_view, extent) {
    if (!ok) unequal.emplace_back(what);
  }
};
TEST(cmvn, shifts_and_scales_in_place_or_not) {
  steno::context c;
  const Eigen::RowVector3f shift(1, -2, 0.5f), scale(2, 4, -8);
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, want{4, 0, -28, 10, 12, -52};
  steno::frontends::cmvn<3> fixed;
  steno::frontends::cmvn<> any(3);
  ASSERT_TRUE(fixed.shift.assign(shift) && fixed.scale.assign(scale) && any.shift.assign(shift) &&
              any.scale.assign(scale));
  std::vector<float> y(6), z = x;
  fixed(steno::core::make_view(x.data(), 2, 3), steno::core::make_view(y.data(), 2, 3), c);
  any(steno::core::make_view(static_cast<const float*>(z.data()), 2, 3), steno::core::make_view(z.data(), 2, 3), c);
  EXPECT_EQ(y, want);
  EXPECT_EQ(z, want);
}

TEST(cmvn, without_statistics_rows_pass_unchanged) {
  steno::context c;
  const std::vector<float> x{1, 2, 3};
  std::vector<float> y(3);
  steno::frontends::cmvn<3>()(steno::core::make_view(x.data(), 1, 3), steno::core::make_view(y.data(), 1, 3), c);
  EXPECT_EQ(y, x);
}

TEST(cmvn, names_its_weights_and_refuses_other_widths) {
  walked seen;
  steno::frontends::cmvn<> f(3);
  steno::core::walk(f, seen);
  EXPECT_EQ(seen.names, (std::vector<std::string>{"shift?", "scale?"}));
  EXPECT_TRUE(seen.unequal.empty());
  const Eigen::RowVector2f two(1, 2);
  ASSERT_TRUE(f.shift.assign(two));
  steno::core::walk(f, seen);
  EXPECT_EQ(seen.unequal, (std::vector<std::string>{"vectors of shift and scale", "widths of features and shift"}));
}

}  // namespace cmvn_test
