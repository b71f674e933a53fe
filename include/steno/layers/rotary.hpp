// steno/layers/rotary.hpp - rotary positions, the two halves of a head turned against each other (NeoX).
//
//   a = position * theta^(-2 i / width),  i < width / 2
//   y[i] = x[i] cos a - x[i + width / 2] sin a;  y[i + width / 2] = x[i + width / 2] cos a + x[i] sin a
//
// `Qwen3RotaryEmbedding` and `rotate_half` (transformers). The three position axes of Qwen's multimodal form are equal
// for audio and text, so it is this. Angles are single precision, as in the original. Tested in
// tests/layers/rotary_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention.hpp>

#include <algorithm>
#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Cosines and sines of the positions of rows; lives in a workspace frame.
class rotary_angles {
 public:
  /// Of the rows that a call brings.
  rotary_angles(const kv_sequences& rows, extent width, double theta, core::workspace::frame& frame,
                const executor& run)
      : rotary_angles(rows.added(), width, frame) {
    float* const positions = frame.take<float>(static_cast<std::size_t>(std::max<extent>(rows.added(), 1)));
    rows.each_part([&](const kv_sequences::part& p) {
      for (extent i = 0; i < p.count; ++i) positions[p.first + i] = static_cast<float>(p.position(i));
    });
    float* const rates = frame.take<float>(static_cast<std::size_t>(std::max<extent>(half_, 1)));
    for (extent i = 0; i < half_; ++i) {
      const float exponent = static_cast<float>(2 * i) / static_cast<float>(width);
      rates[i] = 1.0f / std::pow(static_cast<float>(theta), exponent);
    }
    const extent count = rows.added();
    constexpr extent tile = 16;
    run.run((count + tile - 1) / tile, [&](extent n, int) {
      for (extent t = n * tile; t < std::min(count, (n + 1) * tile); ++t)
        for (extent i = 0; i < half_; ++i) {
          cosines_[t * half_ + i] = std::cos(positions[t] * rates[i]);
          sines_[t * half_ + i] = std::sin(positions[t] * rates[i]);
        }
    });
  }
  /// Columns of a head that turn() takes.
  extent width() const noexcept { return 2 * half_; }

  /// Turns one head of row `row` of the call: x [width] -> y [width], which may be x.
  template <extent Step = 16>
  void turn(const float* x, extent row, float* y) const noexcept {
    const float *c = cosines_ + row * half_, *s = sines_ + row * half_;
    extent i = 0;
    for (; i + Step <= half_; i += Step) {
      using vector = Eigen::Array<float, Step, 1>;
      const vector a = Eigen::Map<const vector>(x + i), b = Eigen::Map<const vector>(x + half_ + i);
      const Eigen::Map<const vector> cosine(c + i), sine(s + i);
      Eigen::Map<vector>(y + i) = a * cosine - b * sine;
      Eigen::Map<vector>(y + half_ + i) = b * cosine + a * sine;
    }
    for (; i < half_; ++i) {
      const float a = x[i], b = x[half_ + i];
      y[i] = a * c[i] - b * s[i];
      y[half_ + i] = b * c[i] + a * s[i];
    }
  }

 private:
  rotary_angles(extent count, extent width, core::workspace::frame& frame)
      : half_(width / 2),
        cosines_(frame.take<float>(static_cast<std::size_t>(std::max<extent>(count * half_, 1)))),
        sines_(frame.take<float>(static_cast<std::size_t>(std::max<extent>(count * half_, 1)))) {}

  extent half_;
  float *cosines_, *sines_;
};

/// The record of a stack with rotary positions.
struct rotary_env {
  const kv_sequences& sequences;  ///< rows of the caches that belong to each text
  const rotary_angles& angles;    ///< of the positions of this call's rows
};

/// A plain score between heads of queries and keys that are turned by their positions: the record's `angles`.
struct rotary_positions : plain_score {
  void members(auto&& v, const auto& products) {
    const extent w = products.head_width();
    v.require(w % 2 == 0, "width of a head", "an even number", w);
  }
  /// Turns every head of r.q and r.k in place. Angles of another width than a head's throw steno::error.
  void prepare(attention_rows& r, extent heads, extent key_heads, const auto& env, core::workspace::frame&,
               context&) const {
    static_assert(
        requires { env.angles; }, "steno: this stack's record has no `angles`, which its attention reads");
    const extent w = r.q.cols() / heads;
    if (env.angles.width() != w)
      fail({.what = "width of a head",
            .expected = std::to_string(env.angles.width()) + ", as the angles",
            .found = std::to_string(w)});
    const auto turn = [&](float* head, extent row) { env.angles.turn(head, row, head); };
    for (extent t = 0; t < r.q.rows(); ++t) {
      for (extent h = 0; h < heads; ++h) turn(r.q.data() + t * r.q.outerStride() + h * w, t);
      for (extent h = 0; h < key_heads; ++h) turn(r.k.data() + t * r.k.outerStride() + h * w, t);
    }
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno
