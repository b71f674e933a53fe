// Where samples come from: a sound file, a stream or a program that decodes one.
// SPDX-License-Identifier: Apache-2.0
#pragma once
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

  /// Fills the front of `frames`, which has room for at least one, with interleaved samples, and returns how many
  /// frames that are; 0 at the end.
  virtual std::size_t read(std::span<float> frames) = 0;
  virtual int rate() const = 0;
  virtual int channels() const = 0;
  /// Length as the header announces it; negative when unknown.
  virtual double seconds() const = 0;
  /// Whether read() gives what was heard before an interruption, and then ends by itself; others are not read any more.
  virtual bool ends_itself() const { return false; }

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

 private:
  std::vector<std::string> warnings_;
  bool damaged_ = false;
};

}  // namespace steno::app
