// steno/frontends/fbank.hpp - Kaldi's log-mel filterbank: y[t, b] = log(max(sum_k filter[b, k] |FFT(frame t)[k]|^2,
// eps)).
//
// Frame t is samples t shift .. t shift + length - 1 (only whole frames: snip_edges), scaled to 16-bit size, minus its
// mean, pre-emphasised (x[i] - c x[i-1], the first sample minus c times itself), windowed, padded to a power of two.
// No dither. Follows torchaudio.compliance.kaldi.fbank, which FunASR and WeNet call; kaldi-native-fbank differs in the
// last bits only. [samples] -> [1 + (samples - length) / shift, mels]. The sample rate is the caller's business.
// A sample that is not finite, or beyond 2^40 after scaling, counts as 0, so features are always finite.
// Tested in tests/frontends/fbank_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/frontend.hpp>
#include <steno/frontends/mel_filters.hpp>
#include <steno/kernels/fft.hpp>
#include <steno/kernels/log_mel.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Shapes of the analysis window, over length - 1 as Kaldi has them; povey is hann to the power 0.85.
enum class window_shape { hamming, hann, povey };

/// Kaldi's settings of a filterbank. The defaults are FunASR's.
struct fbank_options {
  double sample_rate = 16000;                           ///< Hz
  double frame_length = 25;                             ///< ms
  double frame_shift = 10;                              ///< ms
  extent mels = 80;                                     ///< filters: values of each row
  window_shape window = window_shape::hamming;          ///< each frame is multiplied by it
  float preemphasis = 0.97f;                            ///< c of x[i] - c x[i-1], 0 to 1
  bool remove_dc = true;                                ///< whether a frame's mean is taken away
  float low = 20;                                       ///< Hz
  float high = 0;                                       ///< Hz; not positive: counted from Nyquist
  float scale = 32768;                                  ///< of samples in [-1, 1]
  float floor = std::numeric_limits<float>::epsilon();  ///< least mel value before the logarithm
  bool power = true;                                    ///< |X|^2, else |X|
};

/// PCM samples to rows of `Mels` log-mel values, for a clip or a stream. Const and shared: any number of streams may
/// use it, each with its own state and context.
template <extent Mels = dynamic, kernels::real_fft_policy Fft = kernels::real_fft>
class fbank {
 public:
  /// Values of each row, or `dynamic`.
  static constexpr extent output = Mels;
  static constexpr std::string_view name = "fbank";  ///< of the traced stage

  /// Samples that later frames still need. Copyable.
  struct state {
    std::vector<float> carry;  ///< `held` samples, raw
    extent held = 0;           ///< samples in `carry` that count
    extent skip = 0;           ///< samples to drop before the next frame (only when the shift exceeds the length)
  };

  /// With the default options, and the static number of filters.
  fbank() : fbank(defaults()) {}
  /// Plans the FFT and makes the tables; throws steno::error for options out of range.
  STENO_ON_CALL STENO_COLD explicit fbank(const fbank_options& o) : options_(checked(o)), fft_(padded(o)) {
    filters_ = mel_filters::kaldi(o.mels, fft_.size(), static_cast<float>(o.sample_rate), o.low, o.high);
    const extent n = frame_length();
    window_.resize(static_cast<std::size_t>(n));
    for (extent i = 0; i < n; ++i) window_[static_cast<std::size_t>(i)] = shape(o.window, i, n);
  }

  const fbank_options& options() const noexcept { return options_; }  ///< as given to the constructor
  extent width() const noexcept { return options_.mels; }             ///< values of each row: mel filters
  extent frame_length() const noexcept { return samples_in(options_, options_.frame_length); }  ///< samples of a frame
  /// Samples from one frame to the next.
  extent frame_shift() const noexcept { return samples_in(options_, options_.frame_shift); }

  /// Frames of a clip of `n` samples; 0 for one that is shorter than a frame.
  extent rows(extent n) const noexcept { return n < frame_length() ? 0 : 1 + (n - frame_length()) / frame_shift(); }
  state start() const { return {.carry = std::vector<float>(static_cast<std::size_t>(frame_length()))}; }
  /// Frames that become whole by `n` more samples: rows that accept() writes.
  extent ready(const state& s, extent n) const { return rows(s.held + std::max(n - s.skip, extent{0})); }
  extent at_end(const state& s, extent n) const { return ready(s, n); }

  /// Takes the next samples of a stream and writes the frames that are whole now to y [ready(s, n), mels].
  void accept(state& s, samples pcm, view<float> y, context& c) const {
    const extent drop = std::min(s.skip, length(pcm));
    s.skip -= drop;
    pcm = pcm.subspan(static_cast<std::size_t>(drop));
    const extent step = frame_shift(), count = rows(s.held + length(pcm));
    assert(y.rows() == count);

    // Frames that begin in the carried samples are joined with what follows; the others lie in pcm.
    const extent early = std::min(count, (s.held + step - 1) / step);
    if (early > 0) {
      core::workspace::frame f(c.scratch);
      const extent need = (early - 1) * step + frame_length();
      float* const joined = f.template take<float>(static_cast<std::size_t>(need));
      const extent old = std::min(s.held, need);
      std::copy_n(s.carry.data(), old, joined);
      std::copy_n(pcm.data(), need - old, joined + old);
      (*this)(samples(joined, static_cast<std::size_t>(need)), piece(y, 0, early), c);
    }
    if (count > early) {
      const extent from = early * step - s.held;
      const extent to = (count - 1) * step + frame_length() - s.held;
      (*this)(pcm.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
              piece(y, early, count - early), c);
    }
    keep(s, pcm, count * step);
  }
  /// Takes the last samples (perhaps none) and leaves the state as start() made it. A frame that never became whole is
  /// dropped.
  void finish(state& s, samples pcm, view<float> y, context& c) const {
    accept(s, pcm, y, c);
    s.held = s.skip = 0;
  }

  /// All frames of `pcm`. Frames are computed in tiles of fixed size on the context's executor.
  void operator()(samples pcm, view<float> y, context& c) const {
    assert(y.rows() == rows(length(pcm)) && y.cols() == width());
    const extent count = y.rows(), tiles = (count + tile - 1) / tile;
    core::workspace::frame f(c.scratch);
    const extent each = 16 * (fft_.size() + fft_.bins()) + (std::max(fft_.scratch(), 16 * width()) + 15) / 16 * 16;
    float* const scratch = f.template take<float>(static_cast<std::size_t>(each * c.run.width()));
    auto work = [&](extent i, int worker) {
      const extent end = std::min(count, (i + 1) * tile);
      for (extent t = i * tile; t < end; t += 16)
        write_frames(pcm.data() + t * frame_shift(), static_cast<int>(std::min<extent>(16, end - t)),
                     y.data() + t * y.outerStride(), y.outerStride(), scratch + worker * each);
    };
    c.run.run(tiles, work);
  }

 private:
  static constexpr extent tile = 64;  // frames

  static fbank_options defaults() {
    fbank_options o;
    if constexpr (core::is_static(Mels)) o.mels = Mels;
    return o;
  }
  static extent samples_in(const fbank_options& o, double ms) {
    return static_cast<extent>(o.sample_rate * ms * 0.001);
  }
  static extent padded(const fbank_options& o) {
    return static_cast<extent>(std::bit_ceil(static_cast<std::uint64_t>(samples_in(o, o.frame_length))));
  }
  STENO_COLD static fbank_options checked(const fbank_options& o) {
    const auto check = [](bool good, const char* what, const char* expected, double found) {
      if (!good)
        fail({.what = std::string("filterbank: ") + what, .expected = expected, .found = std::to_string(found)});
    };
    check(o.sample_rate >= 1000 && o.sample_rate <= 1e6, "sample rate in Hz", "1000 to 1000000", o.sample_rate);
    check(o.frame_length > 0 && o.frame_length <= 1000 && samples_in(o, o.frame_length) >= 2, "frame length in ms",
          "up to 1000 and at least 2 samples", o.frame_length);
    check(o.frame_shift > 0 && o.frame_shift <= 1000 && samples_in(o, o.frame_shift) >= 1, "frame shift in ms",
          "up to 1000 and at least 1 sample", o.frame_shift);
    check(core::compatible(Mels, o.mels) && o.mels >= 1 && o.mels <= 4096, "number of mel filters",
          core::is_static(Mels) ? "the model's" : "1 to 4096", static_cast<double>(o.mels));
    check(o.preemphasis >= 0 && o.preemphasis <= 1, "pre-emphasis", "0 to 1", static_cast<double>(o.preemphasis));
    check(o.floor >= std::numeric_limits<float>::min() && o.floor <= 1, "floor", "1.2e-38 to 1",
          static_cast<double>(o.floor));
    check(o.scale > 0 && o.scale <= 1e9f, "scale of samples", "above 0, up to 1e9", static_cast<double>(o.scale));
    return o;
  }
  static float shape(window_shape w, extent i, extent n) {
    const double a = std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1));
    switch (w) {
      case window_shape::hamming:
        return static_cast<float>(0.54 - 0.46 * a);
      case window_shape::hann:
        return static_cast<float>(0.5 - 0.5 * a);
      case window_shape::povey:
        return static_cast<float>(std::pow(0.5 - 0.5 * a, 0.85));
    }
    return 1;
  }
  static view<float> piece(view<float>& y, extent first, extent count) {
    return core::make_view(y.data() + first * y.outerStride(), count, y.cols(), y.outerStride());
  }

  /// Carries the samples from `first` (counted from the carried ones) on.
  void keep(state& s, samples pcm, extent first) const {
    const extent total = s.held + length(pcm);
    if (first >= total) {
      s.held = 0;
      s.skip += first - total;
      return;
    }
    const extent old = std::max(s.held - first, extent{0});
    std::copy_n(s.carry.data() + (s.held - old), old, s.carry.data());
    const extent from = std::max(first - s.held, extent{0});
    std::copy(pcm.begin() + from, pcm.end(), s.carry.data() + old);
    s.held = total - first;
  }

  /// Frames at raw, raw + shift, ... (`count` of them, up to 16) to rows of y.
  void write_frames(const float* raw, int count, float* y, extent stride, float* scratch) const noexcept {
    float* const x = scratch;
    float* const spectrum = x + 16 * fft_.size();
    float* const work = spectrum + 16 * fft_.bins();
    kernels::frames_to_lanes({frame_length(), frame_shift(), fft_.size(), options_.scale, options_.preemphasis,
                              options_.remove_dc, window_.data()},
                             raw, count, x);
    fft_.power(x, spectrum, work);
    if (!options_.power)
      for (extent i = 0; i < 16 * fft_.bins(); ++i) spectrum[i] = std::sqrt(spectrum[i]);
    kernels::log_mel_of_lanes(
        {options_.mels, filters_.first.data(), filters_.begin.data(), filters_.weights.data(), options_.floor},
        spectrum, count, y, stride, work);
  }

  fbank_options options_;
  Fft fft_;
  mel_filters filters_;
  std::vector<float> window_;
};

static_assert(frontend<fbank<>> && frontend<fbank<80>>);

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
