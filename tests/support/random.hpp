// Random numbers for tests: the same on every machine and with every standard library (whose distributions differ).
// SplitMix64; equal seeds give equal sequences.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace steno::test {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed = 1) : state_(seed) {}

  std::uint64_t bits() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform in [low, high); 24 random bits.
  float uniform(float low = 0.0f, float high = 1.0f) noexcept {
    return low + (high - low) * (static_cast<float>(bits() >> 40) * 0x1p-24f);
  }
  /// Uniform integer in [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high) noexcept {
    const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t offset = range == 0 ? bits() : bits() % range;  // range 0: all 2^64 values
    return steno::core::bit_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }
  /// Standard normal (Box-Muller, one value of the pair); at most about 6 in magnitude.
  float normal() noexcept {
    const double u = (static_cast<double>(bits() >> 40) + 1.0) * 0x1p-24;  // (0, 1]
    const double v = static_cast<double>(bits() >> 40) * 0x1p-24;
    return static_cast<float>(std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v));
  }

  void fill(std::span<float> values, float low = -1.0f, float high = 1.0f) noexcept {
    for (float& v : values) v = uniform(low, high);
  }
  std::vector<float> vector(std::size_t n, float low = -1.0f, float high = 1.0f) {
    std::vector<float> values(n);
    fill(values, low, high);
    return values;
  }
  std::vector<std::byte> bytes(std::size_t n) {
    std::vector<std::byte> values(n);
    for (std::byte& b : values) b = static_cast<std::byte>(bits() >> 56);
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace steno::test
