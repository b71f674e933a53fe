// Test signals that are the same on every machine, and a count of memory allocations of the test program.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace steno::test {

/// A sweep from 50 Hz to 7.5 kHz under a slow envelope, plus noise of a linear congruential generator; multiples of
/// 2^-15 as 16-bit audio has, so that sums of a frame are exact.
inline std::vector<float> chirp(std::size_t samples, std::uint32_t seed = 1) {
  std::vector<float> x(samples);
  std::uint32_t s = seed;
  double phase = 0;
  for (std::size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / 16000, part = static_cast<double>(i) / static_cast<double>(samples);
    phase += 2 * std::numbers::pi * (50 * std::pow(150.0, part)) / 16000;
    s = s * 1664525u + 1013904223u;
    const double noise = static_cast<double>(s >> 8) / 8388608.0 - 1;
    const double v = 0.6 * (0.55 + 0.45 * std::sin(9 * t)) * std::sin(phase) + 0.02 * noise + 0.01;
    x[i] = static_cast<float>(std::nearbyint(v * 32767) / 32768);
  }
  return x;
}

}  // namespace steno::test
