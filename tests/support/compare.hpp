// Comparing tensors with golden ones: max|a-b| <= tolerance * max(1, max|b|), the bound of the golden cases.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include "npy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

namespace steno::test {

struct difference {
  double worst = 0, scale = 1;
  double relative() const { return worst / scale; }
};

inline difference compare(const view<const float>& a, const npy::array& want) {
  const std::vector<float> b = want.floats();
  difference d;
  for (const float v : b) d.scale = std::max(d.scale, static_cast<double>(std::fabs(v)));
  for (extent t = 0; t < a.rows(); ++t)
    for (extent i = 0; i < a.cols(); ++i) {
      const double e =
          std::fabs(static_cast<double>(a(t, i)) - static_cast<double>(b[static_cast<std::size_t>(t * a.cols() + i)]));
      d.worst = std::isnan(e) ? INFINITY : std::max(d.worst, e);
    }
  return d;
}

/// Fails when `a` differs from the file by more than tolerance * max(1, max|file|) anywhere.
inline void expect_close(const view<const float>& a, const std::filesystem::path& file, double tolerance) {
  const npy::array want = npy::load(file);
  ASSERT_EQ(a.rows() * a.cols(), want.size()) << file;
  ASSERT_EQ(a.cols(), want.cols()) << file;
  EXPECT_LE(compare(a, want).relative(), tolerance) << file;
}

}  // namespace steno::test
