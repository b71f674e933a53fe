// steno/pipelines/long_audio.hpp - where to cut a long recording for models that hear one clip at a time.
//
// A piece is at most `longest` samples; it ends in the middle of the quietest 0.2 s of its second half. No voice
// activity detector is needed; one gives better cuts. Tested in tests/pipelines/long_audio_test.cpp.
#pragma once
#include <steno/core/extents.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno::inline STENO_ABI {

/// Samples [begin, end).
struct audio_range {
  extent begin = 0, end = 0;
};

/// Cuts `pcm` at quiet places into pieces of at most `longest` seconds; together they cover everything, in order.
inline std::vector<audio_range> split_at_pauses(std::span<const float> pcm, int sample_rate, double longest) {
  const auto size = static_cast<extent>(pcm.size());
  const extent most = std::max<extent>(static_cast<extent>(longest * sample_rate), 1);
  const extent step = std::max<extent>(sample_rate / 100, 1), window = 20;  // energies of 10 ms, 20 of them together
  std::vector<audio_range> ranges;
  std::vector<double> energy;
  extent begin = 0;
  while (size - begin > most) {
    const extent from = begin + most / 2;
    energy.clear();
    for (extent at = from; at + step <= begin + most; at += step) {
      double e = 0;
      for (extent i = at; i < at + step; ++i)
        e += static_cast<double>(pcm[static_cast<std::size_t>(i)]) *
             static_cast<double>(pcm[static_cast<std::size_t>(i)]);
      energy.push_back(e);
    }
    extent cut = begin + most;
    double quietest = 0;
    for (extent k = 0; k + window <= static_cast<extent>(energy.size()); ++k) {
      double sum = 0;
      for (extent i = k; i < k + window; ++i) sum += energy[static_cast<std::size_t>(i)];
      if (k == 0 || sum <= quietest) {  // of equal ones the last: pieces as long as they may be
        quietest = sum;
        cut = from + (k + window / 2) * step;
      }
    }
    ranges.push_back({begin, cut});
    begin = cut;
  }
  if (begin < size) ranges.push_back({begin, size});
  return ranges;
}

}  // namespace steno::inline STENO_ABI
