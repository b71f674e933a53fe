// steno/frontends/frame_levels.hpp - how loud each frame is: y[t] = 10 log10(sum of squares of frame t + 1e-6) dB.
//
// Frame t is samples t shift .. t shift + length - 1, in [-1, 1]; only whole frames. Full scale over 400 samples is 26
// dB, silence -60 dB. Follows `FsmnVADStreaming.ComputeDecibel`. [samples] -> [1 + (samples - length) / shift, 1].
// Tested in tests/frontends/frame_levels_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/frontends/frontend.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// PCM samples to one level in dB per frame, for detectors of speech. Const and shared; a stream owns its state.
class frame_levels {
 public:
  /// One value a row.
  static constexpr extent output = 1;
  static constexpr std::string_view name = "levels";  ///< of the traced stage

  /// Samples that later frames still need. Copyable.
  struct state {
    std::vector<float> carry;  ///< `held` samples
    extent held = 0;           ///< samples in `carry` that count
  };

  /// 0 < shift <= length, in samples; throws steno::error for others.
  explicit frame_levels(extent length = 400, extent shift = 160) : length_(length), shift_(shift) {
    if (shift < 1 || shift > length)
      fail({.what = "frame levels: samples from one frame to the next",
            .expected = "1 to the length of a frame, " + std::to_string(length),
            .found = std::to_string(shift)});
  }

  extent width() const noexcept { return 1; }               ///< one level a row
  extent frame_length() const noexcept { return length_; }  ///< samples of a frame
  extent frame_shift() const noexcept { return shift_; }    ///< samples from one frame to the next
  /// Frames of a clip of `n` samples; 0 for one that is shorter than a frame.
  extent rows(extent n) const noexcept { return n < length_ ? 0 : 1 + (n - length_) / shift_; }
  state start() const { return {.carry = std::vector<float>(static_cast<std::size_t>(length_))}; }
  /// Frames that become whole by `n` more samples: rows that accept() writes.
  extent ready(const state& s, extent n) const { return rows(s.held + n); }
  extent at_end(const state& s, extent n) const { return ready(s, n); }

  /// Takes the next samples of a stream and writes the levels of the frames that are whole now to y [ready(s, n), 1].
  void accept(state& s, samples pcm, view<float> y, context&) const {
    assert(y.rows() == ready(s, steno::frontends::length(pcm)));
    for (extent t = 0; t < y.rows(); ++t) {
      // The frame's carried part, then what lies in pcm.
      const extent from = t * shift_, old = std::max(s.held - from, extent{0});
      double sum = energy(s.carry.data() + (s.held - old), std::min(old, length_));
      sum += energy(pcm.data() + std::max(from - s.held, extent{0}), length_ - std::min(old, length_));
      y(t, 0) = static_cast<float>(10 * std::log10(sum + 1e-6));
    }
    keep(s, pcm, y.rows() * shift_);
  }
  /// Takes the last samples (perhaps none) and leaves the state as start() made it. A frame that never became whole is
  /// dropped.
  void finish(state& s, samples pcm, view<float> y, context& c) const {
    accept(s, pcm, y, c);
    s.held = 0;
  }
  /// The levels of a whole clip, y [rows(n), 1].
  void operator()(samples pcm, view<float> y, context& c) const {
    state s;
    for (extent t = 0; t < y.rows(); ++t)
      y(t, 0) = static_cast<float>(10 * std::log10(energy(pcm.data() + t * shift_, length_) + 1e-6));
    (void)c;
  }

 private:
  // In doubles, so that the sum does not depend on where the frame was cut.
  static double energy(const float* x, extent n) noexcept {
    double sum = 0;
    for (extent i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return std::isfinite(sum) ? sum : 0;
  }
  void keep(state& s, samples pcm, extent first) const {
    const extent total = s.held + steno::frontends::length(pcm), old = std::max(s.held - first, extent{0});
    std::copy_n(s.carry.data() + (s.held - old), old, s.carry.data());
    const extent from = std::max(first - s.held, extent{0});
    std::copy(pcm.begin() + from, pcm.end(), s.carry.data() + old);
    s.held = total - first;
  }

  extent length_, shift_;
};

static_assert(frontend<frame_levels>);

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
