// steno/frontends/log_mel.hpp - Whisper's log-mel spectrogram.
//
//   p[t, b] = sum_k filter[b, k] |sum_i hann[i] x[160 t + i - 200] exp(-2 pi j i k / 400)|^2
//   y[t, b] = (max(log10(max(p, 1e-10)), top - 8) + 4) / 4,   top = the largest log10 of everything that was passed in
//
// Exactly 400 points, no padding to 512; the ends are reflected (x[-i] = x[i]), the last frame of the centred transform
// is dropped, so n samples give n / 160 frames. Follows `log_mel_spectrogram` (whisper/audio.py); its mel filters are
// librosa's, here from their formula. Since the floor hangs on the whole recording, peak() looks at all of it first;
// then any window can be made by itself, and a long recording's features never exist as a whole. log_mel_peak is peak()
// of a recording that comes in portions.
// Tested in tests/frontends/log_mel_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/frontends/mel_filters.hpp>
#include <steno/kernels/fft.hpp>
#include <steno/kernels/log_mel.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Samples first, first + 1, ... of a recording that has `total` with the zeros behind it.
struct part_of_recording {
  std::span<const float> samples;  ///< the part that is at hand
  extent first = 0;                ///< its first sample in the recording
  extent total = 0;                ///< samples of the recording with the zeros behind it
};

/// PCM samples at 16 kHz to rows of `Mels` values, any window of a recording by itself. Const and shared: any number of
/// threads may use it, each with its own context.
template <extent Mels = dynamic, kernels::real_fft_policy Fft = kernels::real_fft>
class log_mel {
 public:
  static constexpr extent output = Mels;               ///< values of each row, or `dynamic`
  static constexpr extent length = 400;                ///< samples of a frame
  static constexpr extent shift = 160;                 ///< samples from one frame to the next
  static constexpr int sample_rate = 16000;            ///< Hz; the caller brings samples to it
  static constexpr std::string_view name = "log_mel";  ///< of the traced stage

  /// With `Mels` filters, or 80 where that is dynamic.
  log_mel() : log_mel(core::is_static(Mels) ? Mels : 80) {}
  /// Makes the tables; throws steno::error unless `mels` is the type's and 1 to 1024.
  STENO_ON_CALL STENO_COLD explicit log_mel(extent mels) : mels_(mels), fft_(length) {
    if (!core::compatible(Mels, mels) || mels < 1 || mels > 1024)
      fail({.what = "log-mel: number of mel filters",
            .expected = core::is_static(Mels) ? std::to_string(Mels) : "1 to 1024",
            .found = std::to_string(mels)});
    filters_ = mel_filters::slaney(mels, length, sample_rate);
    window_.resize(length);
    for (extent i = 0; i < length; ++i)
      window_[static_cast<std::size_t>(i)] = static_cast<float>(
          0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length)));
  }

  extent width() const noexcept { return mels_; }  ///< values of each row: mel filters
  /// Frames of `total` samples.
  static constexpr extent frames(extent total) noexcept { return total / shift; }

  /// The largest log10 of all frames of `pcm` followed by zeros up to `total` in all (at least pcm.size()).
  float peak(std::span<const float> pcm, extent total, context& c) const {
    const extent count = frames(total);
    const extent sounding = std::min(count, (static_cast<extent>(pcm.size()) + length) / shift + 1);
    const float top = count > 0 ? silence : -std::numeric_limits<float>::infinity();
    return std::max(top, peak({pcm, 0, total}, 0, sounding, c));
  }

  /// The largest log10 of frames first .. last - 1; -infinity when there are none.
  float peak(const part_of_recording& pcm, extent first, extent last, context& c) const {
    constexpr extent piece = 3072;
    float top = -std::numeric_limits<float>::infinity();
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.matrix(std::min(piece, std::max<extent>(last - first, 0)), mels_);
    for (extent t = first; t < last; t += piece) {
      const extent n = std::min(piece, last - t);
      logarithms(pcm, t, core::write(rows.topRows(n)), c);
      top = std::max(top, rows.topRows(n).maxCoeff());
    }
    return top;
  }

  /// Frames first, first + 1, ... of `pcm` followed by zeros up to `total`; `top` is what peak() gave. y [n, Mels].
  void operator()(std::span<const float> pcm, extent total, extent first, float top, view<float, dynamic, Mels> y,
                  context& c) const {
    (*this)(part_of_recording{pcm, 0, total}, first, top, y, c);
  }
  /// The same of a part that holds the samples which these frames look at.
  void operator()(const part_of_recording& pcm, extent first, float top, view<float, dynamic, Mels> y,
                  context& c) const {
    assert(first >= 0 && first + y.rows() <= frames(pcm.total) && y.cols() == mels_);
    logarithms(pcm, first, core::write(y), c);
    normalise(top, y);
  }

  /// All frames of `pcm` with the floor of its own maximum: what the original does with one clip. y
  /// [frames(pcm.size()), Mels].
  void operator()(std::span<const float> pcm, view<float, dynamic, Mels> y, context& c) const {
    const auto total = static_cast<extent>(pcm.size());
    assert(y.rows() == frames(total) && y.cols() == mels_);
    if (y.rows() == 0) return;
    logarithms({pcm, 0, total}, 0, core::write(y), c);
    normalise(std::max(y.maxCoeff(), silence), y);
  }

 private:
  static constexpr extent tile = 64;        // frames
  static constexpr float silence = -10.0f;  // log10 of a frame of zeros: 1e-10 all over

  static void normalise(float top, view<float, dynamic, Mels>& y) { y = (y.array().max(top - 8.0f) + 4.0f) * 0.25f; }

  // log10 of the mel powers of frames first, first + 1, ...
  void logarithms(const part_of_recording& pcm, extent first, view<float> y, context& c) const {
    const extent count = y.rows(), tiles = (count + tile - 1) / tile;
    constexpr extent needed = (tile - 1) * shift + length;
    const extent work = (std::max(fft_.scratch(), 16 * mels_) + 15) / 16 * 16;
    const extent each = (needed + 15) / 16 * 16 + 16 * (fft_.size() + fft_.bins()) + work;
    core::workspace::frame f(c.scratch);
    float* const scratch = f.template take<float>(static_cast<std::size_t>(each * c.run.width()));
    float* const out = y.data();
    const extent stride = y.outerStride();
    c.run.run(tiles, [&](extent i, int worker) {
      float* const own = scratch + worker * each;
      const extent from = i * tile, frames_here = std::min(tile, count - from);
      const float* const raw = cut(pcm, (first + from) * shift - length / 2, (frames_here - 1) * shift + length, own);
      float* const x = own + (needed + 15) / 16 * 16;
      float* const spectrum = x + 16 * fft_.size();
      for (extent t = 0; t < frames_here; t += 16) {
        const int lanes = static_cast<int>(std::min<extent>(16, frames_here - t));
        kernels::frames_to_lanes({length, shift, fft_.size(), 1.0f, 0.0f, false, window_.data()}, raw + t * shift,
                                 lanes, x);
        fft_.power(x, spectrum, spectrum + 16 * fft_.bins());
        kernels::log_mel_of_lanes(
            {mels_, filters_.first.data(), filters_.begin.data(), filters_.weights.data(), 1e-10f}, spectrum, lanes,
            out + (from + t) * stride, stride, spectrum + 16 * fft_.bins());
      }
      core::make_view(out + from * stride, frames_here, mels_, stride) *= static_cast<float>(1 / std::numbers::ln10);
    });
  }

  // Samples begin .. begin + n - 1 of the reflected recording: in place where they are the caller's own.
  static const float* cut(const part_of_recording& pcm, extent begin, extent n, float* room) noexcept {
    const extent have = static_cast<extent>(pcm.samples.size());
    if (begin >= pcm.first && begin + n <= pcm.first + have) return pcm.samples.data() + (begin - pcm.first);
    for (extent i = 0; i < n; ++i) {
      extent at = begin + i;
      if (at < 0) at = -at;
      if (at >= pcm.total) at = 2 * (pcm.total - 1) - at;
      at -= pcm.first;
      room[i] = at >= 0 && at < have ? pcm.samples[static_cast<std::size_t>(at)] : 0.0f;
    }
    return room;
  }

  extent mels_;
  Fft fft_;
  mel_filters filters_;
  std::vector<float> window_;
};

/// log_mel::peak() of a recording that comes in portions; the same value.
class log_mel_peak {
 public:
  /// Samples behind those before.
  template <class LogMel>
  void push(const LogMel& m, std::span<const float> pcm, context& c) {
    while (pcm.size() > max_samples) {
      push(m, pcm.first(max_samples), c);
      pcm = pcm.subspan(max_samples);
    }
    held_.insert(held_.end(), pcm.begin(), pcm.end());
    // Whole portions of frames that the rest of the recording does not reach any more.
    const extent ready = (first_ + static_cast<extent>(held_.size()) - LogMel::length / 2) / LogMel::shift;
    if (ready - next_ < portion) return;
    look(m, ready, std::numeric_limits<extent>::max() / 4, c);
    const extent keep = std::max<extent>(next_ * LogMel::shift - LogMel::length, first_);
    held_.erase(held_.begin(), held_.begin() + (keep - first_));
    first_ = keep;
  }
  /// The peak of it all, with `zeros` behind it.
  template <class LogMel>
  float finish(const LogMel& m, extent zeros, context& c) {
    const extent size = samples(), total = size + zeros, count = LogMel::frames(total);
    look(m, std::min(count, (size + LogMel::length) / LogMel::shift + 1), total, c);
    return count > 0 ? std::max(top_, -10.0f) : top_;
  }
  /// How many there were.
  extent samples() const noexcept { return first_ + static_cast<extent>(held_.size()); }

 private:
  static constexpr extent portion = 1000;  // frames
  static constexpr std::size_t max_samples = 10 * 16000;
  template <class LogMel>
  void look(const LogMel& m, extent to, extent total, context& c) {
    top_ = std::max(top_, m.peak({held_, first_, total}, next_, to, c));
    next_ = std::max(next_, to);
  }

  std::vector<float> held_;
  extent first_ = 0, next_ = 0;
  float top_ = -std::numeric_limits<float>::infinity();
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
