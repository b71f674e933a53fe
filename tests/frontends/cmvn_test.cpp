#include <steno/frontends/cmvn.hpp>

#include <gtest/gtest.h>

#include <vector>

TEST(cmvn, shifts_and_scales_in_place_or_not) {
  steno::context c;
  const Eigen::RowVector3f shift(1, -2, 0.5f), scale(2, 4, -8);
  const std::vector<float> x{1, 2, 3, 4, 5, 6}, want{4, 0, -28, 10, 12, -52};
  steno::cmvn<3> fixed;
  steno::cmvn<> any(3);
  ASSERT_TRUE(fixed.shift.assign(shift) && fixed.scale.assign(scale) && any.shift.assign(shift) &&
              any.scale.assign(scale));
  std::vector<float> y(6), z = x;
  fixed(steno::make_view(x.data(), 2, 3), steno::make_view(y.data(), 2, 3), c);
  any(steno::make_view(static_cast<const float*>(z.data()), 2, 3), steno::make_view(z.data(), 2, 3), c);
  EXPECT_EQ(y, want);
  EXPECT_EQ(z, want);
}

TEST(cmvn, without_statistics_rows_pass_unchanged) {
  steno::context c;
  const std::vector<float> x{1, 2, 3};
  std::vector<float> y(3);
  steno::cmvn<3>()(steno::make_view(x.data(), 1, 3), steno::make_view(y.data(), 1, 3), c);
  EXPECT_EQ(y, x);
}

TEST(cmvn, names_its_weights_as_the_packaged_file_does) {
  steno::cmvn<3> f;
  std::vector<std::string_view> names;
  f.members([&](std::string_view n, auto&) { names.push_back(n); });
  EXPECT_EQ(names, (std::vector<std::string_view>{"shift", "scale"}));
}
