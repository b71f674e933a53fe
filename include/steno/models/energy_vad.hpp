// steno/models/energy_vad.hpp - where it is louder than the background: a voice activity detector without weights.
//
//   y[t] = x[t] - x[t - 1] + 0.97 y[t - 1]             offset and rumble below 76 Hz go (0.97 at 16 kHz)
//   level[t] = 10 log10(mean of y^2 over 20 ms), every 10 ms, in dB of full scale
//   loud:  level >= max(min_level, noise_floor + on_above)
//   quiet: level < max(min_level, noise_floor + off_above, loudest of the segment - below_peak)
//
// of y and of six bands of it, each with a noise floor of its own: a frame is loud where one of them is, and quiet
// where all are. Noise has its power in all bands and a vowel has it in one, so speech is found in noise of its own
// power, where y alone hardly rises. Where y is softer than what speech may be, or a band is, it decides nothing:
// without noise all is as by y alone.
//
// A segment begins with the frame from which on it was not quiet, once min_speech of it was loud; it ends when it has
// been quiet for min_silence, or is max_segment long. Both ends get `pad`. Nothing is decided before the first second
// is over, so noise that is there from the beginning is background. After no original: energy over minimum statistics
// with hysteresis and hangover are the textbook's means. Steady sounds longer than four seconds count as background.
// Tested in tests/models/energy_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/error.hpp>
#include <steno/frontends/noise_floor.hpp>
#include <steno/segmentation/voice_segments.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// Levels in dB, times in milliseconds.
struct energy_vad_options {
  double min_level = -55;   ///< of full scale; what is softer is never speech
  double on_above = 10;     ///< above the background: speech
  double off_above = 6;     ///< above it still speech once it began
  double below_peak = 35;   ///< below the segment's loudest frame: a room's echo, no longer speech
  int min_speech = 80;      ///< shorter bursts are no speech
  int min_silence = 500;    ///< a pause that ends a segment
  int pad = 100;            ///< added before and after, up to min_silence
  int max_segment = 60000;  ///< a longer one is cut
};

/// A voice activity detector without weights: speech is what is louder than the background. Const and shared by any
/// number of threads, each stream with its own state.
class energy_vad {
 public:
  static constexpr std::string_view architecture = "energy_vad";  ///< its name; it has no file
  using options = energy_vad_options;                             ///< of one stream

  /// A detector for mono samples at `rate` Hz. Throws steno::error below 8000 and above 48000.
  STENO_ON_CALL explicit energy_vad(int rate = 16000)
      : sample_rate(in_range(rate)), hop(rate / 100), kept(std::pow(0.97, 16000.0 / rate)) {
    for (std::size_t b = 0; b < bands; ++b) filters[b] = band_pass(edges[b], std::min(edges[b + 1], 0.45 * rate));
  }

  int sample_rate;  ///< Hz of the mono samples that it takes

  static constexpr std::size_t bands = 6;  ///< that are measured beside the whole
  /// What is measured of one of them.
  struct level_meter {
    double first = 0;                   ///< what the band's filter keeps for the next sample
    double second = 0;                  ///< and for the one after it
    double sum = 0;                     ///< sum of squares over this 10 ms so far
    double half = 0;                    ///< mean square over the 10 ms before
    std::array<double, 100> held{};     ///< energies of the first second, which wait for the background
    frontends::noise_floor floor = {};  ///< of the background
  };
  /// One stream; a plain value.
  struct state {
    options chosen;                                  ///< those given to start(), `pad` within its limit
    double before = 0;                               ///< the last sample
    double filtered = 0;                             ///< y of the last sample
    int filled = 0;                                  ///< samples of this 10 ms so far
    std::array<level_meter, 1 + bands> meters = {};  ///< of y, of its bands
    std::int64_t measured = 0;                       ///< frames with an energy
    std::int64_t frame = 0;                          ///< frames that are decided
    std::int64_t begin = 0;                          ///< first frame of what may be speech
    std::int64_t latest = 0;                         ///< its last frame that was not quiet
    std::int64_t loud = 0;                           ///< how many of its frames were loud
    double peak = 0;                                 ///< its loudest level, in dB
    bool run = false;                                ///< something may be speech
    bool inside = false;                             ///< it is speech: a segment is open
    std::int64_t start_ms = 0;                       ///< of the open segment
    std::int64_t free_ms = 0;                        ///< end of the segment before
  };
  /// A new stream.
  state start(const options& o = {}) const noexcept {
    state s{.chosen = o};
    s.chosen.pad = std::clamp(o.pad, 0, std::max(o.min_silence, 0));
    return s;
  }

  /// The next samples (mono, in [-1, 1]), any number of them.
  template <class Sink>
  void accept(state& s, std::span<const float> pcm, context&, Sink&& sink) const {
    for (const float x : pcm) {
      // Whatever is not a number or absurd is silence: it would spoil everything after it.
      const double now = std::abs(x) <= 65536.0f ? static_cast<double>(x) : 0.0;
      s.filtered = now - s.before + kept * s.filtered;
      s.before = now;
      s.meters[0].sum += s.filtered * s.filtered;
      for (std::size_t b = 0; b < bands; ++b) {
        level_meter& m = s.meters[1 + b];
        const band_filter& f = filters[b];
        const double fed = f.gain * s.filtered, y = fed + m.first;
        m.first = m.second - f.first * y;
        m.second = -fed - f.second * y;
        m.sum += y * y;
      }
      if (++s.filled < hop) continue;
      s.filled = 0;
      if (s.meters[0].sum < 1e-30) forget(s);
      process(s, sink);
    }
  }
  /// The end of the audio: what is open ends. The state is as start() made it.
  template <class Sink>
  void finish(state& s, context&, Sink&& sink) const {
    if (s.measured < warm) release(s, sink);
    if (s.inside)
      close(s, std::min<std::int64_t>((s.latest + 1) * frame_ms + s.chosen.pad, s.measured * frame_ms), sink);
    s = start(s.chosen);
  }

  /// Milliseconds; audio before it belongs to segments that were emitted whole, or to none.
  std::int64_t settled_ms(const state& s) const {
    if (s.inside) return s.start_ms;
    return std::max(s.free_ms, (s.run ? s.begin : s.frame) * frame_ms - s.chosen.pad);
  }

 private:
  struct band_filter {  // y[t] = gain (x[t] - x[t - 2]) - first y[t - 1] - second y[t - 2]
    double gain = 0, first = 0, second = 0;
  };
  // Hz: a Butterworth filter of the first order between two of them, by the bilinear transform.
  static constexpr std::array<double, bands + 1> edges = {100, 250, 400, 700, 1200, 2200, 4000};
  STENO_ON_CALL STENO_COLD band_filter band_pass(double low, double high) const {
    const double turn = 3.14159265358979323846 / sample_rate, a = std::tan(turn * low), b = std::tan(turn * high);
    const double sum = 1 + (b - a) + a * b;
    return {.gain = (b - a) / sum, .first = 2 * (a * b - 1) / sum, .second = (1 - (b - a) + a * b) / sum};
  }

  int hop;      // samples of 10 ms
  double kept;  // of y a sample later
  std::array<band_filter, bands> filters = {};
  static constexpr int frame_ms = 10;
  static constexpr std::int64_t warm = 100, bridge = 10;  // frames: before the first decision; of quiet in a burst
  static constexpr double loudest_floor = -30;            // dB: what is louder from the beginning may be speech

  STENO_COLD static int in_range(int rate) {
    if (rate >= 8000 && rate <= 48000) return rate;
    fail({.what = "sample rate of a detector in Hz", .expected = "8000 to 48000", .found = std::to_string(rate)});
  }

  // A filter's tail would go on as denormal numbers, which are slow.
  static void forget(state& s) noexcept {
    s.filtered = 0;
    for (level_meter& m : s.meters) m.first = m.second = 0;
  }

  using energies = std::array<double, 1 + bands>;
  template <class Sink>
  void process(state& s, Sink& sink) const {
    energies both;
    for (std::size_t k = 0; k < both.size(); ++k) {
      level_meter& m = s.meters[k];
      const double energy = m.sum / hop;
      m.sum = 0;
      both[k] = s.measured == 0 ? energy : (energy + m.half) / 2;
      m.half = energy;
      m.floor.next(energy);
      if (s.measured < warm) m.held[static_cast<std::size_t>(s.measured)] = both[k];
    }
    if (s.measured < warm) {
      if (++s.measured == warm) release(s, sink);
      return;
    }
    ++s.measured;
    decide(s, both, sink);
  }

  // The frames of the first second, over what is known of the background now.
  template <class Sink>
  void release(state& s, Sink& sink) const {
    for (std::int64_t t = 0; t < s.measured; ++t) {
      energies held;
      for (std::size_t k = 0; k < held.size(); ++k) held[k] = s.meters[k].held[static_cast<std::size_t>(t)];
      decide(s, held, sink);
    }
  }

  static double decibel(double energy) noexcept { return 10 * std::log10(energy + 1e-10); }

  template <class Sink>
  void decide(state& s, const energies& energy, Sink& sink) const {
    const std::int64_t now = s.frame++;
    const double level = decibel(energy[0]);
    const double soft = std::max(s.chosen.min_level, s.run ? s.peak - s.chosen.below_peak : s.chosen.min_level);
    bool loud = false, quiet = true;
    for (std::size_t k = 0; k < energy.size() && level >= soft; ++k) {
      const double of_band = decibel(energy[k]);
      if (of_band < s.chosen.min_level) continue;
      double floor = decibel(std::min(s.meters[k].floor.value(), 1e12));
      if (s.measured <= warm) floor = std::min(floor, loudest_floor);
      loud = loud || of_band >= floor + s.chosen.on_above;
      quiet = quiet && of_band < std::max(soft, floor + s.chosen.off_above);
    }
    if (!quiet) {
      if (!s.run) s.run = true, s.begin = now, s.loud = 0, s.peak = level;
      s.peak = std::max(s.peak, level);
      s.latest = now;
      s.loud += loud ? 1 : 0;
    }
    if (!s.inside && s.run) {
      if (s.loud > 0 && s.loud * frame_ms >= s.chosen.min_speech) {
        s.inside = true;
        s.start_ms = std::max(s.free_ms, s.begin * frame_ms - s.chosen.pad);
        sink(segmentation::voice_change{.start_ms = s.start_ms, .end_ms = -1});
      } else if (now - s.latest > bridge) {
        s.run = false;
      }
    }
    if (!s.inside) return;
    if ((now - s.latest) * frame_ms >= s.chosen.min_silence)
      close(s, (s.latest + 1) * frame_ms + s.chosen.pad, sink);
    else if ((now + 1) * frame_ms - s.start_ms >= s.chosen.max_segment)
      close(s, (now + 1) * frame_ms, sink);
  }

  template <class Sink>
  static void close(state& s, std::int64_t end_ms, Sink& sink) {
    s.free_ms = end_ms;
    s.run = s.inside = false;
    sink(segmentation::voice_change{.start_ms = -1, .end_ms = end_ms});
  }
};

}  // namespace models
}  // namespace STENO_ABI
}  // namespace steno
