// steno/frontends/nemo_mel.hpp - NeMo's log-mel: y[t, b] = ln(sum_k filter[b, k] |STFT(t)[k]|^power + 2^-24).
//
//   e[i] = x[i] - 0.97 x[i - 1] (e[0] = x[0]);  frame t: e[160 t - 200 .. 160 t + 199], zeros outside of the clip,
//   times a symmetric Hann window, padded to 512
//
// `FilterbankFeatures` (features.py), evaluation: no dither. The STFT is centred and n samples give n / 160 + 1 frames,
// of which the original declares n / 160 valid and sets the last to zero; here it is left out. The window stands in the
// middle of 512 points there; where it stands changes phases only. A sample that is not finite counts as 0.
//
// With exact_pad the STFT is not centred: (512 - 160) / 2 zeros stand on either side, and one row fewer is valid.
// Pre-emphasis then takes the clip for as long as before although zeros stand in front of it, so the last 176 samples
// are lost. [samples] -> [samples / 160, mels], one row fewer with exact_pad. Tested in
// tests/frontends/nemo_mel_test.cpp and tests/parity/parakeet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/frontend.hpp>
#include <steno/frontends/mel_filters.hpp>
#include <steno/kernels/fft.hpp>
#include <steno/kernels/log_mel.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Shapes of windows; all are symmetric (torch's with periodic=False).
enum class nemo_window { hann, hamming, blackman, bartlett };

/// How the logarithm of 0 is avoided: ln(x + guard), or ln(max(x, guard)).
enum class nemo_guard { add, clamp };

/// Settings of NeMo's log-mel features, under the original's names where they differ: `win_length`, `hop_length`,
/// `n_fft`, `nfilt`, `preemph`, `log_zero_guard_value`. The defaults are frames of 25 ms every 10 ms at 16 kHz.
struct nemo_mel_options {
  double sample_rate = 16000;                ///< Hz
  extent window = 400;                       ///< samples
  extent shift = 160;                        ///< samples
  extent fft_size = 512;                     ///< points, at least the window
  extent mels = 80;                          ///< filters: values of each row
  std::optional<float> preemphasis = 0.97f;  ///< c of x[i] - c x[i-1], 0 to 1; none: the samples as they are
  float guard = 0x1p-24f;                    ///< of the logarithm
  nemo_guard guard_type = nemo_guard::add;   ///< what is done with it
  nemo_window shape = nemo_window::hann;     ///< of the window
  slaney_band band = {};                     ///< of the filters
  float mag_power = 2;                       ///< of the spectrum's magnitudes
  bool log = true;                           ///< false: the sums of the filters themselves
  bool exact_pad = false;                    ///< the STFT is not centred
  std::vector<float> window_values = {};     ///< a window of another shape; empty: `shape`
  std::vector<float> filter_values = {};     ///< other filters [mels, fft_size / 2 + 1]; empty: those of `band`
};

/// A window of n samples.
STENO_ON_CALL STENO_COLD inline std::vector<float> make_nemo_window(nemo_window shape, extent n) {
  std::vector<float> w;
  for (extent i = 0; i < n; ++i) {
    const double x = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1);
    double v = 0.5 - 0.5 * std::cos(x);
    if (shape == nemo_window::hamming) v = 0.54 - 0.46 * std::cos(x);
    if (shape == nemo_window::blackman) v = 0.42 - 0.5 * std::cos(x) + 0.08 * std::cos(2 * x);
    if (shape == nemo_window::bartlett) v = 1 - std::fabs(x / std::numbers::pi - 1);
    w.push_back(static_cast<float>(v));
  }
  return w;
}

/// PCM samples to rows of `Mels` log-mel values, for a clip or a stream. Const and shared: any number of streams may
/// use it, each with its own state and context.
template <extent Mels = dynamic, kernels::real_fft_policy Fft = kernels::real_fft>
class nemo_mel {
 public:
  /// Values of each row, or `dynamic`.
  static constexpr extent output = Mels;
  static constexpr std::string_view name = "log_mel";  ///< of the traced stage

  /// Samples that later frames still need. Copyable.
  struct state {
    std::vector<float> carry;  ///< `held` samples, raw; the first is one before the next frame's first
    extent held = 0;           ///< samples in `carry` that count
  };

  /// With the default options, and the static number of filters.
  nemo_mel() : nemo_mel(defaults()) {}
  /// Plans the FFT and makes the tables; throws steno::error for options out of range.
  STENO_COLD explicit nemo_mel(const nemo_mel_options& o)
      : options_(checked(o)),
        fft_(o.fft_size),
        filters_(o.filter_values.empty() ? mel_filters::slaney(o.mels, o.fft_size, o.sample_rate, o.band)
                                         : mel_filters::from_matrix(o.filter_values, fft_.bins())),
        window_(o.window_values.empty() ? make_nemo_window(o.shape, o.window) : o.window_values) {
    const extent pad = o.exact_pad ? (o.fft_size - o.shift) / 2 : o.fft_size / 2;
    before_ = pad - (o.fft_size - o.window) / 2;
    lost_rows_ = o.exact_pad ? 1 : 0;
    lost_ = o.exact_pad && o.preemphasis ? pad : 0;
    // No row that a clip ending now would not have, and none that hangs on samples which it would lose.
    ahead_ = std::max({extent{0}, (1 + lost_rows_) * o.shift + before_ - o.window, lost_});
  }

  const nemo_mel_options& options() const noexcept { return options_; }  ///< as given to the constructor
  const mel_filters& filters() const noexcept { return filters_; }       ///< over the bins of the FFT
  const std::vector<float>& window() const noexcept { return window_; }  ///< factors of a frame's samples
  extent width() const noexcept { return options_.mels; }                ///< values of each row: mel filters

  /// Of a clip of n samples.
  extent rows(extent n) const noexcept { return std::max<extent>(0, n / options_.shift - lost_rows_); }
  state start() const { return {.carry = std::vector<float>(static_cast<std::size_t>(max_held())), .held = silence()}; }
  /// Frames whose samples are all there with `n` more: rows that accept() writes.
  extent ready(const state& s, extent n) const {
    const extent total = s.held + n - max_held();
    return total < 0 ? 0 : 1 + total / options_.shift;
  }
  extent at_end(const state& s, extent n) const { return rows(s.held + n - silence()); }

  /// Takes the next samples of a stream and writes the frames that are complete now to y [ready(s, n), mels].
  void accept(state& s, samples pcm, view<float> y, context& c) const {
    assert(y.rows() == ready(s, length(pcm)));
    advance(s, pcm, 0, y, c);
  }
  /// Takes the last samples (perhaps none), writes the rest, with zeros behind the clip, to y [at_end(s, n), mels] and
  /// leaves the state as start() made it.
  void finish(state& s, samples pcm, view<float> y, context& c) const {
    assert(y.rows() == at_end(s, length(pcm)));
    advance(s, pcm, lost_, y, c);
    s.held = silence();
    std::fill_n(s.carry.data(), s.held, 0.0f);
  }

  /// All frames of a whole clip. Frames are computed in tiles of fixed size on the context's executor.
  void operator()(samples pcm, view<float> y, context& c) const {
    assert(y.rows() == rows(length(pcm)) && y.cols() == width());
    frames(pcm.data(), length(pcm) - lost_, 1 - silence(), y, c);
  }

 private:
  static constexpr extent tile = 64;             // frames
  static constexpr float table_limit = 0x1p16f;  // of values in given tables

  // Zeros before the first sample: those of the first frame, and one that pre-emphasis looks at.
  extent silence() const noexcept { return before_ + 1; }
  // Samples of a frame with the one before it and those that must be known behind it.
  extent max_held() const noexcept { return 1 + options_.window + ahead_; }

  static nemo_mel_options defaults() {
    nemo_mel_options o;
    if constexpr (core::is_static(Mels)) o.mels = Mels;
    return o;
  }
  STENO_COLD static nemo_mel_options checked(const nemo_mel_options& o) {
    const auto check = [](bool good, const char* what, const char* expected, double found) {
      if (!good) fail({.what = std::string("log-mel: ") + what, .expected = expected, .found = std::to_string(found)});
    };
    check(o.sample_rate >= 1000 && o.sample_rate <= 1e6, "sample rate in Hz", "1000 to 1000000", o.sample_rate);
    check(o.fft_size >= 16 && o.fft_size <= 65536, "FFT length", "16 to 65536", static_cast<double>(o.fft_size));
    check(o.window >= 2 && o.window <= o.fft_size, "window in samples", "2 to the FFT's length",
          static_cast<double>(o.window));
    check(o.shift >= 1 && o.shift <= o.window, "shift in samples", "1 to the window", static_cast<double>(o.shift));
    check(!o.exact_pad || o.shift % 2 == 0, "shift in samples", "an even number for exact_pad",
          static_cast<double>(o.shift));
    check(core::compatible(Mels, o.mels) && o.mels >= 1 && o.mels <= 4096, "number of mel filters",
          core::is_static(Mels) ? "the model's" : "1 to 4096", static_cast<double>(o.mels));
    const float c = o.preemphasis.value_or(0);
    check(c >= 0 && c <= 1, "pre-emphasis", "0 to 1", static_cast<double>(c));
    check(o.guard >= 0x1p-126f && o.guard <= 0x1p16f, "guard of the logarithm", "2^-126 to 65536",
          static_cast<double>(o.guard));
    const double high = o.band.high > 0 ? o.band.high : o.sample_rate / 2;
    check(high <= o.sample_rate / 2, "highest frequency of the filters in Hz", "up to half the sample rate", high);
    check(o.band.low >= 0 && o.band.low < high, "lowest frequency of the filters in Hz", "0 to the highest one",
          o.band.low);
    check(o.mag_power >= 0.125f && o.mag_power <= 4, "power of the magnitudes", "0.125 to 4",
          static_cast<double>(o.mag_power));
    const auto check_table = [&](const std::vector<float>& table, extent size, float low, const char* what) {
      check(table.empty() || static_cast<extent>(table.size()) == size, what, "as many as the sizes say",
            static_cast<double>(table.size()));
      for (const float v : table) check(v >= low && v <= table_limit, what, "finite ones", static_cast<double>(v));
    };
    check_table(o.window_values, o.window, -table_limit, "values of the window");
    check_table(o.filter_values, o.mels * (o.fft_size / 2 + 1), 0, "weights of the filters, not negative");
    return o;
  }

  // Of `lost` samples at the end nothing is seen.
  void advance(state& s, samples pcm, extent lost, view<float> y, context& c) const {
    const extent n = length(pcm), total = s.held + n, used = y.rows() * options_.shift;
    core::workspace::frame f(c.scratch);
    float* const joined = f.template take<float>(static_cast<std::size_t>(total));
    std::copy_n(s.carry.data(), s.held, joined);
    std::copy_n(pcm.data(), n, joined + s.held);
    frames(joined, total - lost, 1, y, c);
    s.held = std::clamp<extent>(total - used, 0, max_held());
    std::copy_n(joined + (total - s.held), s.held, s.carry.data());
  }

  /// Frame t is pre-emphasised samples first + t shift ...; those outside of raw[0 .. n) are zeros.
  void frames(const float* raw, extent n, extent first, view<float> y, context& c) const {
    const extent count = y.rows(), tiles = (count + tile - 1) / tile, shift = options_.shift;
    const extent span = (tile - 1) * shift + options_.window;
    const extent lanes = 16 * (fft_.size() + fft_.bins()) + (std::max(fft_.scratch(), 16 * width()) + 15) / 16 * 16;
    const extent each = lanes + (span + 15) / 16 * 16;
    core::workspace::frame f(c.scratch);
    float* const scratch = f.template take<float>(static_cast<std::size_t>(each * c.run.width()));
    float* const out = y.data();
    c.run.run(tiles, [&](extent i, int worker) {
      const extent begin = i * tile, end = std::min(count, begin + tile);
      float* const own = scratch + worker * each;
      float* const clean = own + lanes;
      emphasise(raw, n, first + begin * shift, (end - begin - 1) * shift + options_.window, clean);
      for (extent t = begin; t < end; t += 16)
        write_frames(clean + (t - begin) * shift, static_cast<int>(std::min<extent>(16, end - t)),
                     out + t * y.outerStride(), y.outerStride(), own);
    });
  }
  void emphasise(const float* raw, extent n, extent from, extent count, float* out) const noexcept {
    const auto sample = [&](extent i) { return i >= 0 && i < n && std::isfinite(raw[i]) ? raw[i] : 0.0f; };
    const float c = options_.preemphasis.value_or(0);
    float before = sample(from - 1);
    for (extent i = 0; i < count; ++i) {
      const float now = sample(from + i);
      out[i] = from + i < n ? now - c * before : 0.0f;  // behind the clip there is nothing, not -c times its last
      before = now;
    }
  }
  void write_frames(const float* clean, int count, float* y, extent stride, float* scratch) const noexcept {
    float* const x = scratch;
    float* const spectrum = x + 16 * fft_.size();
    float* const work = spectrum + 16 * fft_.bins();
    kernels::frames_to_lanes({options_.window, options_.shift, fft_.size(), 1.0f, 0.0f, false, window_.data()}, clean,
                             count, x);
    fft_.power(x, spectrum, work);
    if (options_.mag_power != 2) raise(spectrum, 16 * fft_.bins());
    const bool clamp = options_.log && options_.guard_type == nemo_guard::clamp;
    kernels::log_mel_of_lanes({.mels = options_.mels,
                               .first = filters_.first.data(),
                               .begin = filters_.begin.data(),
                               .weights = filters_.weights.data(),
                               .floor = clamp ? options_.guard : 0.0f,
                               .add = options_.log && !clamp ? options_.guard : 0.0f,
                               .logarithm = options_.log},
                              spectrum, count, y, stride, work);
  }
  // Squares of magnitudes to their power.
  void raise(float* x, extent n) const noexcept {
    const float half = options_.mag_power / 2;
    for (extent i = 0; i < n; ++i) x[i] = half == 0.5f ? std::sqrt(x[i]) : std::pow(x[i], half);
  }

  nemo_mel_options options_;
  Fft fft_;
  mel_filters filters_;
  std::vector<float> window_;
  extent before_ = 0;     // zeros of the first frame before the first sample
  extent lost_ = 0;       // samples at the end of a clip of which nothing is seen
  extent lost_rows_ = 0;  // of the last frames
  extent ahead_ = 0;      // samples behind a frame's last that must be known before it is final
};

static_assert(frontend<nemo_mel<>> && frontend<nemo_mel<80>>);

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
