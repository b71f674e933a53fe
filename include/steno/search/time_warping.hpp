// steno/search/time_warping.hpp - tokens laid along frames: attention scores to one path through all of both.
//
//   w = softmax over frames of each head's scores; (w - mean) / deviation over tokens; median of 7 frames; mean of
//   heads the path from the first token and frame to the last of both along which the sum of w is largest
//
// Follows `find_alignment`, `median_filter` and `dtw_cpu` (whisper/timing.py): costs are floats, ends are reflected,
// and of equal steps the one along frames is taken. Tested in tests/search/time_warping_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Median of `width` (odd) values around each of row [1, n], ends reflected; unchanged when n is not above width / 2.
STENO_ON_CALL inline void median_filter(float* row, extent n, extent width, std::vector<float>& room) {
  const extent half = width / 2;
  if (n <= half) return;
  room.resize(static_cast<std::size_t>(n + width));
  float* const sorted = room.data() + n;
  for (extent t = 0; t < n; ++t) {
    extent count = 0;
    for (extent j = t - half; j <= t + half; ++j) {
      const float v = row[j < 0 ? -j : j >= n ? 2 * (n - 1) - j : j];
      extent at = count++;
      // What is not a number counts as the largest.
      while (at > 0 && !(sorted[at - 1] <= v) && !std::isnan(v)) {
        sorted[at] = sorted[at - 1];
        --at;
      }
      sorted[at] = v;
    }
    room[static_cast<std::size_t>(t)] = sorted[half];
  }
  std::copy_n(room.data(), n, row);
}

/// Scores of `heads` heads, [head][token][frame] with rows `stride` apart of which `frames` count, to their matrix
/// [tokens, frames]. The scores are overwritten.
template <class T>
matrix<T, dynamic, dynamic> alignment_matrix(T* scores, extent heads, extent tokens, extent stride, extent frames) {
  matrix<T, dynamic, dynamic> sum = matrix<T, dynamic, dynamic>::Zero(tokens, frames);
  std::vector<float> room;
  for (extent h = 0; h < heads; ++h) {
    auto w = core::make_view(scores + h * tokens * stride, tokens, frames, stride);
    for (extent t = 0; t < tokens; ++t) {
      const float top = w.row(t).maxCoeff();
      double all = 0;
      for (extent f = 0; f < frames; ++f) all += static_cast<double>(w(t, f) = std::exp(w(t, f) - top));
      w.row(t) *= static_cast<float>(1 / all);
    }
    for (extent f = 0; f < frames; ++f) {
      double mean = 0, square = 0;
      for (extent t = 0; t < tokens; ++t) mean += static_cast<double>(w(t, f));
      mean /= static_cast<double>(tokens);
      for (extent t = 0; t < tokens; ++t) {
        const double d = static_cast<double>(w(t, f)) - mean;
        square += d * d;
      }
      const double deviation = std::sqrt(square / static_cast<double>(tokens));
      for (extent t = 0; t < tokens; ++t)
        w(t, f) = static_cast<float>((static_cast<double>(w(t, f)) - mean) / deviation);
    }
    for (extent t = 0; t < tokens; ++t) median_filter(w.data() + t * stride, frames, 7, room);
    sum += w;
  }
  return sum / static_cast<float>(std::max<extent>(heads, 1));
}

/// (row, column) along the cheapest path of `cost` [rows, columns] through its corners; a step goes to the next row,
/// the next column, or both.
STENO_ON_CALL inline std::vector<std::pair<extent, extent>> warp(const matrix<float, dynamic, dynamic>& cost) {
  const extent rows = cost.rows(), columns = cost.cols();
  std::vector<std::pair<extent, extent>> path;
  if (rows == 0 || columns == 0) return path;
  constexpr float never = std::numeric_limits<float>::infinity();
  constexpr std::uint8_t both = 0, up = 1, left = 2;
  std::vector<std::uint8_t> from(static_cast<std::size_t>(rows * columns));
  std::vector<float> before(static_cast<std::size_t>(rows) + 1, never), now(before.size(), never);
  before[0] = 0;
  for (extent j = 0; j < columns; ++j) {
    now[0] = never;
    for (extent i = 0; i < rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float diagonal = before[at], above = now[at], beside = before[at + 1];
      std::uint8_t step = left;
      float best = beside;
      if (diagonal < above && diagonal < beside) {
        step = both;
        best = diagonal;
      } else if (above < diagonal && above < beside) {
        step = up;
        best = above;
      }
      now[at + 1] = static_cast<float>(static_cast<double>(cost(i, j)) + static_cast<double>(best));
      from[static_cast<std::size_t>(i * columns + j)] = step;
    }
    before.swap(now);
  }
  // Beyond the first row one can only go left, beyond the first column only up.
  for (extent i = rows - 1, j = columns - 1; i >= 0 || j >= 0;) {
    path.emplace_back(i, j);
    const std::uint8_t step = i < 0 ? left : j < 0 ? up : from[static_cast<std::size_t>(i * columns + j)];
    if (step != left) --i;
    if (step != up) --j;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
