// steno/frontends/noise_floor.hpp - how loud it is while nobody speaks: the lowest short-time energy of the last
// seconds.
//
//   s[t] = mean(e[t - 4] .. e[t]),  floor[t] = min(s over the last 3.5 to 4 s),  e: mean square of 10 ms each
//
// Minimum statistics: between syllables and words even running speech falls to the background, so the lowest of a few
// seconds is the background's level. Kept as minima of half a second, so the cost does not depend on the window.
// Energies add up in double; the result depends on the frames alone. Tested in tests/frontends/noise_floor_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Copyable; allocates nothing.
class noise_floor {
 public:
  /// The next frame's mean square -> the lowest smoothed one of the last seconds, this one included.
  double next(double energy) noexcept {
    recent_[at_] = energy;
    at_ = (at_ + 1) % smoothed;
    seen_ = std::min(seen_ + 1, smoothed);
    double sum = 0;
    for (std::size_t i = 0; i < seen_; ++i) sum += recent_[i];
    if (in_block_ == block) {
      current_ = (current_ + 1) % blocks;
      minima_[current_] = none;
      in_block_ = 0;
    }
    ++in_block_;
    // Fewer frames than the smoothing needs would take a single quiet one for the background.
    if (seen_ == smoothed) minima_[current_] = std::min(minima_[current_], sum / static_cast<double>(smoothed));
    return value();
  }
  /// The largest double before the first 50 ms.
  double value() const noexcept { return *std::min_element(minima_.begin(), minima_.end()); }

 private:
  static constexpr std::size_t smoothed = 5, block = 50, blocks = 8;
  static constexpr double none = std::numeric_limits<double>::max();
  static constexpr std::array<double, blocks> empty() noexcept {
    std::array<double, blocks> a{};
    a.fill(none);
    return a;
  }

  std::array<double, smoothed> recent_{};
  std::array<double, blocks> minima_ = empty();
  std::size_t at_ = 0, seen_ = 0, current_ = 0, in_block_ = 0;
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
