// steno/layers/rotary.hpp - rotary positions, the two halves of a head turned against each other (NeoX).
//
//   a = position * theta^(-2 i / width),  i < width / 2
//   y[i] = x[i] cos a - x[i + width / 2] sin a;  y[i + width / 2] = x[i + width / 2] cos a + x[i] sin a
//
// `Qwen3RotaryEmbedding` and `rotate_half` (transformers). The three position axes of Qwen's multimodal form are equal
// for audio and text, so it is this. Angles are single precision, as in the original. Tested in
// tests/layers/rotary_test.cpp.
#pragma once
#include <steno/core/context.hpp>

#include <algorithm>
#include <cmath>

namespace steno::inline STENO_ABI {

/// Cosines and sines of positions first, first + 1, ...; lives in a workspace frame.
class rotary_angles {
 public:
  rotary_angles(extent first, extent count, extent width, double theta, workspace::frame& frame, const executor& run)
      : rotary_angles(count, width, theta, frame, run, [first](extent t) { return first + t; }) {}
  /// Of positions position(0), ... position(count - 1): rows of several sequences.
  template <class Position>
  rotary_angles(extent count, extent width, double theta, workspace::frame& frame, const executor& run,
                Position position_of)
      : half_(width / 2),
        cosines_(frame.take<float>(static_cast<std::size_t>(std::max<extent>(count * half_, 1)))),
        sines_(frame.take<float>(static_cast<std::size_t>(std::max<extent>(count * half_, 1)))) {
    float* const rates = frame.take<float>(static_cast<std::size_t>(std::max<extent>(half_, 1)));
    for (extent i = 0; i < half_; ++i) {
      const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
      rates[i] = 1.0f / std::pow(static_cast<float>(theta), exponent);
    }
    constexpr extent tile = 16;
    run.run((count + tile - 1) / tile, [&](extent n, int) {
      for (extent t = n * tile; t < std::min(count, (n + 1) * tile); ++t) {
        const auto position = static_cast<float>(position_of(t));
        for (extent i = 0; i < half_; ++i) {
          cosines_[t * half_ + i] = std::cos(position * rates[i]);
          sines_[t * half_ + i] = std::sin(position * rates[i]);
        }
      }
    });
  }

  /// Turns one head of row `row` (counted from the first position): x [width] -> y [width], which may be x.
  void turn(const float* x, extent row, float* y) const noexcept {
    constexpr extent step = 16;
    const float *c = cosines_ + row * half_, *s = sines_ + row * half_;
    extent i = 0;
    for (; i + step <= half_; i += step) {
      using some = Eigen::Array<float, step, 1>;
      const some a = Eigen::Map<const some>(x + i), b = Eigen::Map<const some>(x + half_ + i);
      const Eigen::Map<const some> cosine(c + i), sine(s + i);
      Eigen::Map<some>(y + i) = a * cosine - b * sine;
      Eigen::Map<some>(y + half_ + i) = b * cosine + a * sine;
    }
    for (; i < half_; ++i) {
      const float a = x[i], b = x[half_ + i];
      y[i] = a * c[i] - b * s[i];
      y[half_ + i] = b * c[i] + a * s[i];
    }
  }

 private:
  extent half_;
  float *cosines_, *sines_;
};

}  // namespace steno::inline STENO_ABI
