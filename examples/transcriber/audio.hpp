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
  /// `path` is a sound file, a fifo of one, or "-" for standard input: a sound file, too, or raw PCM in
  /// `stdin_format`. Throws steno::error.
  audio_reader(const std::string& path, int rate, pcm_format stdin_format = {});
  ~audio_reader();

  /// Fills the front of `out` (not empty) and returns how many samples that are; 0 at the end, which an interruption is
  /// too. Throws steno::error when the file's end comes before its first sample.
  std::size_t read(std::span<float> out) { return resampler_.read(out); }
  /// Whether an interruption was the end.
  bool stopped() const;

  int source_rate() const;
  /// As the file announces it; negative when unknown.
  double seconds() const;
  /// Complete once read() has returned 0.
  const std::vector<std::string>& warnings() const;
  /// Whether one of them says that not all of the sound was there.
  bool damaged() const;

 private:
  class until_interrupted;
  std::unique_ptr<until_interrupted> source_;
  resampler resampler_;
};

/// All that is left, at once.
std::vector<float> read_all(audio_reader& reader);

}  // namespace steno::app
