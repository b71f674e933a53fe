// The channels of a recording, as they are listened to: mixed, one of them, or each by itself; and which part of it.
//
// Tested in tests/transcriber/channels_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sample_source.hpp"

namespace steno::app {

struct channel_choice {
  enum class how { mix, one, split } what = how::mix;
  int number = 0;  ///< of one: from 1 on
};
/// "mix", "split" or a number from 1 on; nothing when it is none of these.
std::optional<channel_choice> find_channels(std::string_view text);

/// In seconds from the beginning of the recording.
struct recording_part {
  double offset = 0;
  std::optional<double> duration = {};  ///< nothing: to the end
};

/// One or more sequences of samples (voices) from the channels of a source.
class channel_reader {
 public:
  /// The largest number of channels that are listened to one by one.
  static constexpr int most_split = 64;

  /// `name` is for messages. Throws steno::error when the source has not got the channel, or too many to split.
  channel_reader(std::unique_ptr<sample_source> source, std::string name, channel_choice choice, recording_part part);

  int voices() const { return static_cast<int>(voices_.size()); }
  int rate() const { return source_->rate(); }
  /// Of the part, as the header announces it; negative when unknown.
  double seconds() const;
  /// Fills the front of `samples` with the next ones of a voice; 0 at the end. What the others have not taken yet is
  /// kept, so they should be read by turns. Throws steno::error when the part begins behind the end.
  std::size_t read(int voice, std::span<float> samples);

  /// Of the source, then of the samples. Complete when read() has returned 0.
  std::vector<std::string> warnings() const;
  bool damaged() const { return damaged_ || source_->damaged(); }
  bool ends_itself() const { return source_->ends_itself(); }

 private:
  struct voice {
    std::vector<float> waiting = {};
    std::size_t taken = 0;  // of these
    std::size_t bad = 0;    // samples
  };
  std::size_t pull(std::size_t frames);
  std::size_t read_frames(std::size_t frames);
  bool skip();
  float sample(voice& v, float x);
  float mixed(std::span<const float> frame);
  void report();

  std::unique_ptr<sample_source> source_;
  std::string name_;
  channel_choice choice_;
  recording_part part_;
  std::vector<voice> voices_;
  std::vector<float> frames_;
  std::size_t count_ = 0;                // frames that were listened to
  double of_channels_ = 0, of_mix_ = 0;  // sums of squares
  bool begun_ = false, over_ = false, damaged_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace steno::app
