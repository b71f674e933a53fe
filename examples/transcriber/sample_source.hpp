// Where samples come from: a sound file or raw PCM on standard input, already mixed down to one channel.
#pragma once
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
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

 protected:
  void warn(std::string text) { warnings_.push_back(std::move(text)); }

  /// NaN, infinities and absurd values would spoil every later frame: they become silence, and are counted.
  float sane(float x) {
    if (std::abs(x) <= 65536.0f) return x;  // false for NaN
    ++bad_samples_;
    return 0.0f;
  }
  void report_bad_samples() {
    if (bad_samples_ != 0) warn(std::to_string(bad_samples_) + " samples are not numbers or far too large; taken as 0");
    bad_samples_ = 0;
  }

 private:
  std::vector<std::string> warnings_;
  std::size_t bad_samples_ = 0;
};

}  // namespace steno::app
