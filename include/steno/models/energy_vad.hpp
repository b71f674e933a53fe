// steno/models/energy_vad.hpp - where it is louder than the background: a voice activity detector without weights.
//
//   y[t] = x[t] - x[t - 1] + 0.97 y[t - 1]             offset and rumble below 76 Hz go (0.97 at 16 kHz)
//   level[t] = 10 log10(mean of y^2 over 20 ms), every 10 ms, in dB of full scale
//   loud:  level >= max(min_level, noise_floor + on_above)
//   quiet: level < max(min_level, noise_floor + off_above, loudest of the segment - below_peak)
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
  explicit energy_vad(int rate = 16000)
      : sample_rate(in_range(rate)), hop(rate / 100), kept(std::pow(0.97, 16000.0 / rate)) {}

  int sample_rate;  ///< Hz of the mono samples that it takes

  /// One stream; a plain value.
  struct state {
    options chosen;                     ///< those given to start(), `pad` within its limit
    double before = 0;                  ///< the last sample
    double filtered = 0;                ///< y of the last sample
    double sum = 0;                     ///< sum of y^2 over this 10 ms so far
    double half = 0;                    ///< mean of y^2 over the 10 ms before
    int filled = 0;                     ///< samples of this 10 ms so far
    std::array<double, 100> held{};     ///< energies of the first second, which wait for the background
    frontends::noise_floor floor = {};  ///< of the background
    std::int64_t measured = 0;          ///< frames with an energy
    std::int64_t frame = 0;             ///< frames that are decided
    std::int64_t begin = 0;             ///< first frame of what may be speech
    std::int64_t latest = 0;            ///< its last frame that was not quiet
    std::int64_t loud = 0;              ///< how many of its frames were loud
    double peak = 0;                    ///< its loudest level, in dB
    bool run = false;                   ///< something may be speech
    bool inside = false;                ///< it is speech: a segment is open
    std::int64_t start_ms = 0;          ///< of the open segment
    std::int64_t free_ms = 0;           ///< end of the segment before
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
      s.sum += s.filtered * s.filtered;
      if (++s.filled < hop) continue;
      const double energy = s.sum / hop;
      s.sum = 0;
      s.filled = 0;
      if (energy < 1e-30) s.filtered = 0;  // its tail would go on as denormal numbers, which are slow
      process(s, energy, sink);
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
  int hop;      // samples of 10 ms
  double kept;  // of y a sample later
  static constexpr int frame_ms = 10;
  static constexpr std::int64_t warm = 100, bridge = 10;  // frames: before the first decision; of quiet in a burst
  static constexpr double loudest_floor = -30;            // dB: what is louder from the beginning may be speech

  STENO_COLD static int in_range(int rate) {
    if (rate >= 8000 && rate <= 48000) return rate;
    fail({.what = "sample rate of a detector in Hz", .expected = "8000 to 48000", .found = std::to_string(rate)});
  }

  template <class Sink>
  void process(state& s, double energy, Sink& sink) const {
    const double both = s.measured == 0 ? energy : (energy + s.half) / 2;
    s.half = energy;
    s.floor.next(energy);
    if (s.measured < warm) {
      s.held[static_cast<std::size_t>(s.measured)] = both;
      if (++s.measured == warm) release(s, sink);
      return;
    }
    ++s.measured;
    decide(s, both, sink);
  }

  // The frames of the first second, over what is known of the background now.
  template <class Sink>
  void release(state& s, Sink& sink) const {
    for (std::int64_t t = 0; t < s.measured; ++t) decide(s, s.held[static_cast<std::size_t>(t)], sink);
  }

  static double decibel(double energy) noexcept { return 10 * std::log10(energy + 1e-10); }

  template <class Sink>
  void decide(state& s, double energy, Sink& sink) const {
    const std::int64_t now = s.frame++;
    const double level = decibel(energy);
    double floor = decibel(std::min(s.floor.value(), 1e12));
    if (s.measured <= warm) floor = std::min(floor, loudest_floor);
    const bool loud = level >= std::max(s.chosen.min_level, floor + s.chosen.on_above);
    const bool quiet = level < std::max({s.chosen.min_level, floor + s.chosen.off_above,
                                         s.run ? s.peak - s.chosen.below_peak : s.chosen.min_level});
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
