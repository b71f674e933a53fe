// Audio as a model wants it: one channel of float at the model's rate, pulled in blocks in constant memory; or several
// channels, each by itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channels.hpp"
#include "raw_pcm.hpp"
#include "resampler.hpp"

namespace steno::app {

/// How recordings are opened, and what of them is listened to.
struct audio_options {
  pcm_format pcm = {};           ///< of standard input without a header
  std::string ffmpeg = "none";   ///< ffmpeg.hpp: for what libsndfile does not read
  channel_choice channels = {};  ///< mixed, one of them, or each by itself
  recording_part part = {};
};

class audio_reader {
 public:
  /// `path` is a sound file, a recording for ffmpeg, a fifo of one, or "-" for standard input: of these, too, or raw
  /// PCM. Throws steno::error.
  audio_reader(const std::string& path, int rate, const audio_options& o = {});
  /// Of an open file, which stays the caller's and is read from its beginning; `name` is for messages.
  audio_reader(int file, const std::string& name, int rate, const audio_options& o = {});
  /// Of samples that come from elsewhere.
  audio_reader(std::unique_ptr<sample_source> samples, const std::string& name, int rate, const audio_options& o = {});
  ~audio_reader();

  /// 1, unless the channels are split.
  int voices() const;
  /// Fills the front of `out` (not empty) and returns how many samples that are; 0 at the end, which an interruption is
  /// too. Voices are read by turns: what one has not taken yet is kept. Throws steno::error when the file's end comes
  /// before its first sample.
  std::size_t read(std::span<float> out, int voice = 0) {
    return resamplers_[static_cast<std::size_t>(voice)].read(out);
  }
  /// Whether an interruption was the end.
  bool stopped() const;

  int source_rate() const;
  /// Of the part that is listened to, as the file announces it; negative when unknown.
  double seconds() const;
  /// Complete once read() has returned 0.
  std::vector<std::string> warnings() const;
  /// Whether one of them says that not all of the sound was there.
  bool damaged() const;

 private:
  class until_interrupted;
  audio_reader(std::unique_ptr<until_interrupted> source, int rate);

  std::unique_ptr<until_interrupted> source_;
  std::vector<resampler> resamplers_;
};

/// All that is left, at once.
std::vector<float> read_all(audio_reader& reader);

}  // namespace steno::app
