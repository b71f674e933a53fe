// Where samples come from: a sound file or a stream, already mixed down to one channel.
#pragma once
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno::app {

class sample_source {
 public:
  virtual ~sample_source() = default;
  sample_source() = default;
  sample_source(const sample_source&) = delete;
  sample_source& operator=(const sample_source&) = delete;

  /// Fills the front of `mono` and returns how many samples that are; 0 at the end.
  virtual std::size_t read(std::span<float> mono) = 0;
  virtual int rate() const = 0;
  /// Length as the header announces it; negative when unknown.
  virtual double seconds() const = 0;

  /// One line each, about what is odd but no reason to stop. Complete when read() has returned 0.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Whether one of them says that not all of the sound was there.
  bool damaged() const { return damaged_; }

 protected:
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  void warn_damaged(std::string text) {
    damaged_ = true;
    warn(std::move(text));
  }

  /// The mean of a frame's channels. NaN, infinities and absurd values would spoil every later frame: they become
  /// silence, and are counted.
  float mix(std::span<const float> channels) {
    float sum = 0;
    for (const float x : channels) sum += x;
    const float mean = channels.size() == 1 ? sum : sum * (1.0f / static_cast<float>(channels.size()));
    ++frames_;
    if (!(std::abs(mean) <= 65536.0f)) {  // true for NaN
      ++bad_samples_;
      return 0.0f;
    }
    if (channels.size() > 1) {
      double energy = 0;
      for (const float x : channels) energy += static_cast<double>(x) * static_cast<double>(x);
      of_channels_ += energy / static_cast<double>(channels.size());
      of_mix_ += static_cast<double>(mean) * static_cast<double>(mean);
    }
    return mean;
  }
  /// At the end: what was wrong with them.
  void report_samples() {
    if (bad_samples_ != 0 && bad_samples_ == frames_)
      warn_damaged("none of its " + std::to_string(frames_) + " samples is a number; taken as silence");
    else if (bad_samples_ != 0)
      warn_damaged(std::to_string(bad_samples_) + " samples are not numbers or far too large; taken as 0");
    if (of_channels_ > 1e-9 * static_cast<double>(frames_) && of_mix_ < 1e-3 * of_channels_)
      warn(
          "the channels cancel each other out (opposite phase): their mix is 30 dB below them or silent; give it one "
          "channel: ffmpeg -i FILE -af pan=\"mono|c0=c0\" out.wav");
    bad_samples_ = frames_ = 0;
    of_channels_ = of_mix_ = 0;
  }

 private:
  std::vector<std::string> warnings_;
  bool damaged_ = false;
  std::size_t bad_samples_ = 0, frames_ = 0;
  double of_channels_ = 0, of_mix_ = 0;  // sums of squares
};

}  // namespace steno::app
