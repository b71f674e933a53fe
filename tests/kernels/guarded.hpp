// tests/kernels/guarded.hpp - matrices for kernel tests: random values, rows further apart than they are long, and a
// pattern around them that must survive.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/core/view.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace steno_test {

using steno::extent;

/// [rows, cols] with `gap` guard values behind each row, and guards before and after all of them.
class guarded {
 public:
  static constexpr float guard = -12345.5f;

  guarded(extent rows, extent cols, extent gap = 3)
      : rows_(rows),
        cols_(cols),
        stride_(cols + gap),
        store_(static_cast<std::size_t>(rows * (cols + gap) + 40), guard) {}

  guarded& randomise(unsigned seed, float range = 1.0f) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> d(-range, range);
    for (extent r = 0; r < rows_; ++r)
      for (extent c = 0; c < cols_; ++c) at(r, c) = d(engine);
    return *this;
  }
  float& at(extent r, extent c) { return store_[static_cast<std::size_t>(20 + r * stride_ + c)]; }
  float at(extent r, extent c) const { return store_[static_cast<std::size_t>(20 + r * stride_ + c)]; }
  extent rows() const { return rows_; }
  extent cols() const { return cols_; }

  steno::view<const float> in() const { return steno::core::make_view(store_.data() + 20, rows_, cols_, stride_); }
  steno::view<float> out() { return steno::core::make_view(store_.data() + 20, rows_, cols_, stride_); }

  /// True when everything outside of the matrix is as it was.
  bool intact() const {
    const extent size = static_cast<extent>(store_.size());
    for (extent i = 0; i < size; ++i) {
      const extent at = i - 20;
      if (at >= 0 && at < rows_ * stride_ && at % stride_ < cols_) continue;
      if (store_[static_cast<std::size_t>(i)] != guard) return false;
    }
    return true;
  }
  bool same_bits(const guarded& other) const {
    return std::equal(store_.begin(), store_.end(), other.store_.begin(), other.store_.end(), [](float a, float b) {
      return steno::core::bit_cast<std::uint32_t>(a) == steno::core::bit_cast<std::uint32_t>(b);
    });
  }

 private:
  extent rows_, cols_, stride_;
  std::vector<float> store_;
};

inline std::vector<float> random_values(std::size_t count, unsigned seed, float low = -1.0f, float high = 1.0f) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> d(low, high);
  std::vector<float> v(count);
  for (float& x : v) x = d(engine);
  return v;
}

}  // namespace steno_test
