// Audio as a model wants it: one channel of float at the model's rate, pulled in blocks in constant memory.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "raw_pcm.hpp"
#include "resampler.hpp"

namespace steno::app {

class audio_reader {
 public:
  /// `path` is a sound file, or "-" for raw PCM in `stdin_format` on standard input. Throws steno::error.
  audio_reader(const std::string& path, int rate, pcm_format stdin_format = {});

  /// Fills the front of `out` (not empty) and returns how many samples that are; 0 at the end. Throws steno::error when
  /// the end comes before the first sample.
  std::size_t read(std::span<float> out) { return resampler_.read(out); }

  int source_rate() const { return source_->rate(); }
  /// As the file announces it; negative when unknown.
  double seconds() const { return source_->seconds(); }
  /// Complete once read() has returned 0.
  const std::vector<std::string>& warnings() const { return source_->warnings(); }

 private:
  std::unique_ptr<sample_source> source_;
  resampler resampler_;
};

/// All that is left, at once.
std::vector<float> read_all(audio_reader& reader);

}  // namespace steno::app
