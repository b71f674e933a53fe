// steno/frontends/mel_filters.hpp - triangular mel filters over the bins of an FFT, stored without their zeros.
//
// Kaldi's: mel(f) = 1127 ln(1 + f / 700); filter b rises from mel point b to b + 1 and falls to b + 2, where the points
// divide [mel(low), mel(high)] evenly; a bin's weight is linear in mel. Single precision throughout, as get_mel_banks
// of torchaudio.compliance.kaldi and kaldi's MelBanks do it; the bin at Nyquist has no weight. No VTLN. Slaney's
// (librosa.filters.mel): mel(f) = 3 f / 200 below 1 kHz, above 15 + 27 log_6.4(f / 1000); filters are linear in Hz and
// scaled by 2 / (their width in Hz), unless norm is none. Tested in tests/frontends/fbank_test.cpp, log_mel_test.cpp
// and nemo_mel_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// What librosa.filters.mel takes: `fmin`, `fmax`, `norm`.
struct slaney_band {
  double low = 0;         ///< Hz
  double high = 0;        ///< Hz; 0: half the sample rate
  bool unit_area = true;  ///< norm = "slaney"; false: none, and filters are 1 high
};

/// Filter b weighs bins first[b] .. first[b] + (begin[b + 1] - begin[b]) - 1 with weights[begin[b] ..].
struct mel_filters {
  std::vector<extent> first;   ///< first bin of each filter; 0 for one without weights
  std::vector<extent> begin;   ///< where each filter's weights begin, and where the last one's end: size() + 1 entries
  std::vector<float> weights;  ///< of all filters, one behind the other

  extent size() const noexcept { return static_cast<extent>(first.size()); }  ///< number of filters

  /// `high` counts from Nyquist when it is not positive. Throws steno::error for a band that is empty.
  STENO_ON_CALL STENO_COLD static mel_filters kaldi(extent mels, extent fft_size, float sample_rate, float low,
                                                    float high) {
    const float nyquist = 0.5f * sample_rate;
    if (high <= 0) high += nyquist;
    if (!(low >= 0 && low < high && high <= nyquist))
      fail({.what = "mel band in Hz",
            .expected = "0 <= low < high <= " + std::to_string(nyquist),
            .found = std::to_string(low) + " to " + std::to_string(high)});
    const double mel_low = 1127.0 * std::log(1.0 + static_cast<double>(low) / 700.0);
    const double mel_high = 1127.0 * std::log(1.0 + static_cast<double>(high) / 700.0);
    const float from = static_cast<float>(mel_low);
    const float step = static_cast<float>((mel_high - mel_low) / static_cast<double>(mels + 1));
    const float bin_width = sample_rate / static_cast<float>(fft_size);

    mel_filters f;
    f.begin.push_back(0);
    for (extent b = 0; b < mels; ++b) {
      const float left = from + static_cast<float>(b) * step;
      const float center = from + (static_cast<float>(b) + 1.0f) * step;
      const float right = from + (static_cast<float>(b) + 2.0f) * step;
      extent first = 0;
      for (extent k = 0; k < fft_size / 2; ++k) {
        const float mel = 1127.0f * std::log(1.0f + bin_width * static_cast<float>(k) / 700.0f);
        const float weight = std::min((mel - left) / (center - left), (right - mel) / (right - center));
        if (!(weight > 0)) continue;  // positive weights are contiguous
        if (static_cast<extent>(f.weights.size()) == f.begin.back()) first = k;
        f.weights.push_back(weight);
      }
      f.first.push_back(first);
      f.begin.push_back(static_cast<extent>(f.weights.size()));
    }
    return f;
  }

  /// librosa.filters.mel(sr, n_fft, n_mels, fmin, fmax, norm), in double precision, rounded to float as there.
  STENO_ON_CALL STENO_COLD static mel_filters slaney(extent mels, extent fft_size, double sample_rate,
                                                     const slaney_band& band = {}) {
    const auto hertz = [](double mel) { return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * log_step()); };
    const auto mel_of = [](double f) { return f < 1000 ? f * 3 / 200 : 15 + std::log(f / 1000) / log_step(); };
    const double bottom = mel_of(band.low), top = mel_of(band.high > 0 ? band.high : sample_rate / 2);
    const auto point = [&](extent i) {
      return hertz(bottom + (top - bottom) * static_cast<double>(i) / static_cast<double>(mels + 1));
    };
    mel_filters f;
    f.begin.push_back(0);
    for (extent b = 0; b < mels; ++b) {
      const double left = point(b), center = point(b + 1), right = point(b + 2);
      extent first = 0;
      for (extent k = 0; k <= fft_size / 2; ++k) {
        const double bin = sample_rate * static_cast<double>(k) / static_cast<double>(fft_size);
        const double weight = std::min((bin - left) / (center - left), (right - bin) / (right - center));
        if (!(weight > 0)) continue;
        if (static_cast<extent>(f.weights.size()) == f.begin.back()) first = k;
        const double height = static_cast<double>(static_cast<float>(weight));
        f.weights.push_back(static_cast<float>(band.unit_area ? height * 2 / (right - left) : height));
      }
      f.first.push_back(first);
      f.begin.push_back(static_cast<extent>(f.weights.size()));
    }
    return f;
  }

  /// From all weights [mels, bins], of each filter those between the first and the last that is not 0.
  STENO_ON_CALL STENO_COLD static mel_filters from_matrix(std::span<const float> all, extent bins) {
    mel_filters f;
    f.begin.push_back(0);
    for (; !all.empty(); all = all.subspan(static_cast<std::size_t>(bins))) {
      const float* const row = all.data();
      extent first = 0, end = bins;
      while (end > 0 && row[end - 1] == 0) --end;
      while (first < end && row[first] == 0) ++first;
      f.first.push_back(first);
      for (extent k = first; k < end; ++k) f.weights.push_back(row[k]);
      f.begin.push_back(static_cast<extent>(f.weights.size()));
    }
    return f;
  }
  /// All weights [size(), bins], with their zeros.
  STENO_COLD std::vector<float> matrix(extent bins) const {
    std::vector<float> all(static_cast<std::size_t>(size() * bins));
    for (std::size_t b = 0; b < first.size(); ++b)
      std::copy(weights.begin() + begin[b], weights.begin() + begin[b + 1],
                all.begin() + static_cast<std::ptrdiff_t>(b) * bins + first[b]);
    return all;
  }

 private:
  static double log_step() { return std::log(6.4) / 27; }
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
