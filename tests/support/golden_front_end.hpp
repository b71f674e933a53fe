// What the front-end tests share: golden audio and stages, comparison of matrices, am.mvn.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "npy.hpp"

namespace steno::test {

struct distance {
  double worst = 0, mean = 0, largest = 0;  ///< max|a-b|, mean|a-b|, max|b|
};
inline distance compare(const std::vector<float>& a, const std::vector<float>& b) {
  distance d;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double e = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    d.worst = std::isnan(e) ? HUGE_VAL : std::max(d.worst, e);
    d.mean += e / static_cast<double>(b.size());
    d.largest = std::max(d.largest, std::abs(static_cast<double>(b[i])));
  }
  return d;
}

/// The contract's bound for a traced tensor: max|a-b| <= 1e-4 * max(1, max|b|). Records the error found.
inline void expect_golden(const std::vector<float>& got, const std::filesystem::path& file) {
  const std::vector<float> want = npy::load(file).floats();
  ASSERT_EQ(got.size(), want.size()) << file;
  const distance d = compare(got, want);
  testing::Test::RecordProperty(file.filename().string(), std::to_string(d.worst));
  EXPECT_LE(d.worst, 1e-4 * std::max(1.0, d.largest)) << file << ", mean " << d.mean;
}

/// The vectors after <AddShift> and <Rescale> of FunASR's am.mvn.
struct statistics {
  std::vector<float> shift, scale;
};
inline statistics load_mvn(const std::filesystem::path& file) {
  std::ifstream in(file);
  statistics s;
  std::vector<float>* to = nullptr;
  for (std::string word; in >> word;) {
    if (word == "<AddShift>") to = &s.shift;
    if (word == "<Rescale>") to = &s.scale;
    if (to == nullptr || word != "[") continue;
    while (in >> word && word != "]") to->push_back(std::stof(word));
    to = nullptr;
  }
  return s;
}

}  // namespace steno::test
