// SPDX-License-Identifier: Apache-2.0
#include <steno/frontends/lfr.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace lfr_test {

using steno::extent;
using steno::core::make_view;
using steno::frontends::lfr;

/// Frames of two values: t and t + 0.5.
std::vector<float> frames(extent count) {
  std::vector<float> x;
  for (extent t = 0; t < count; ++t) x.insert(x.end(), {static_cast<float>(t), static_cast<float>(t) + 0.5f});
  return x;
}
steno::view<const float> rows_of(const std::vector<float>& x, extent first, extent count) {
  return make_view(x.data() + 2 * first, count, extent{2});
}
TEST(lfr, stacks_with_copies_at_both_ends) {
  const lfr<2, 7, 6> f;
  steno::context c;
  EXPECT_EQ(f.width(), 14);
  EXPECT_EQ(f.rows(0), 0);
  EXPECT_EQ(f.rows(6), 1);
  EXPECT_EQ(f.rows(7), 2);
  const std::vector<float> x = frames(8);
  std::vector<float> y(2 * 14);
  f(rows_of(x, 0, 8), make_view(y.data(), 2, 14), c);
  const float want[2][7] = {{0, 0, 0, 0, 1, 2, 3}, {3, 4, 5, 6, 7, 7, 7}};
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t j = 0; j < 7; ++j) {
      EXPECT_EQ(y[r * 14 + 2 * j], want[r][j]);
      EXPECT_EQ(y[r * 14 + 2 * j + 1], want[r][j] + 0.5f);
    }
}

TEST(lfr, pieces_of_any_size_give_the_same_rows) {
  steno::context c;
  const extent shapes[][2] = {{7, 6}, {5, 1}, {1, 1}, {4, 3}, {2, 5}, {1, 3}, {8, 8}, {9, 2}};
  for (const auto& [m, n] : shapes)
    for (extent total = 0; total <= 40; ++total) {
      const lfr<> f(2, m, n);
      const std::vector<float> x = frames(total);
      std::vector<float> want(static_cast<std::size_t>(f.rows(total) * f.width()));
      f(rows_of(x, 0, total), make_view(want.data(), f.rows(total), f.width()), c);
      for (extent r = 0; r < f.rows(total); ++r)
        for (extent j = 0; j < m; ++j)
          ASSERT_EQ(want[static_cast<std::size_t>((r * m + j) * 2)],
                    static_cast<float>(std::clamp(r * n - (m - 1) / 2 + j, extent{0}, total - 1)));
      for (const extent piece : {1, 2, 3, 5, 11, 64}) {
        auto s = f.start();
        std::vector<float> got;
        for (extent at = 0; at <= total; at += piece) {
          const extent count = std::min(piece, total - at);
          const bool last = at + piece > total;
          const extent rows = last ? f.at_end(s, count) : f.ready(s, count);
          const std::size_t before = got.size();
          got.resize(before + static_cast<std::size_t>(rows * f.width()));
          const auto out = make_view(got.data() + before, rows, f.width());
          last ? f.finish(s, rows_of(x, at, count), out, c) : f.accept(s, rows_of(x, at, count), out, c);
        }
        ASSERT_EQ(got, want) << m << "/" << n << ", " << total << " frames in pieces of " << piece;
      }
    }
}

TEST(lfr, refuses_sizes_out_of_range) {
  EXPECT_THROW((lfr<>(80, 0, 6)), steno::error);
  EXPECT_THROW((lfr<>(80, 7, -1)), steno::error);
  EXPECT_THROW((lfr<80, 7, 6>(80, 5, 6)), steno::error);
  EXPECT_THROW((lfr<>(80, extent{1} << 40, 6)), steno::error);
}

}  // namespace lfr_test
