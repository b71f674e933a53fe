// steno/frontends/mel_filters.hpp - triangular mel filters over the bins of an FFT, stored without their zeros.
//
// Kaldi's: mel(f) = 1127 ln(1 + f / 700); filter b rises from mel point b to b + 1 and falls to b + 2, where the points
// divide [mel(low), mel(high)] evenly; a bin's weight is linear in mel. Single precision throughout, as get_mel_banks
// of torchaudio.compliance.kaldi and kaldi's MelBanks do it; the bin at Nyquist has no weight. No VTLN. Slaney's
// (librosa.filters.mel): mel(f) = 3 f / 200 below 1 kHz, above 15 + 27 log_6.4(f / 1000); filters are linear in Hz and
// scaled by 2 / (their width in Hz). Tested in tests/frontends/fbank_test.cpp and log_mel_test.cpp.
#pragma once
#include <steno/core/extents.hpp>
#include <steno/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Filter b weighs bins first[b] .. first[b] + (begin[b + 1] - begin[b]) - 1 with weights[begin[b] ..].
struct mel_filters {
  std::vector<extent> first;   ///< first bin of each filter; 0 for one without weights
  std::vector<extent> begin;   ///< where each filter's weights begin, and where the last one's end: size() + 1 entries
  std::vector<float> weights;  ///< of all filters, one behind the other

  extent size() const noexcept { return static_cast<extent>(first.size()); }  ///< number of filters

  /// `high` counts from Nyquist when it is not positive. Throws steno::error for a band that is empty.
  STENO_COLD static mel_filters kaldi(extent mels, extent fft_size, float sample_rate, float low, float high) {
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

  /// librosa.filters.mel(sr, n_fft, n_mels) from 0 Hz to Nyquist, in double precision, rounded to float as there.
  STENO_COLD static mel_filters slaney(extent mels, extent fft_size, double sample_rate) {
    const auto hertz = [](double mel) { return mel < 15 ? mel * 200 / 3 : 1000 * std::exp((mel - 15) * log_step()); };
    const double nyquist = sample_rate / 2;
    const double top = nyquist < 1000 ? nyquist * 3 / 200 : 15 + std::log(nyquist / 1000) / log_step();
    const auto point = [&](extent i) { return hertz(top * static_cast<double>(i) / static_cast<double>(mels + 1)); };
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
        f.weights.push_back(static_cast<float>(static_cast<double>(static_cast<float>(weight)) * 2 / (right - left)));
      }
      f.first.push_back(first);
      f.begin.push_back(static_cast<extent>(f.weights.size()));
    }
    return f;
  }

 private:
  static double log_step() { return std::log(6.4) / 27; }
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno
