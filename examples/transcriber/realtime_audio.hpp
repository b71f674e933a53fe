// Audio of /v1/realtime: from base64 and its coding to samples at the model's rate.
//
// Tested in tests/transcriber/realtime_audio_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "resampler.hpp"

namespace steno::app {

struct audio_kind {
  enum class coding { pcm, mu_law, a_law };  ///< 16-bit little-endian, or G.711
  coding how = coding::pcm;
  int rate = 24000;
  bool operator==(const audio_kind&) const = default;
};

/// Appends the bytes; false where it is none. With padding or without, and no other characters.
bool decode_base64(std::string_view text, std::vector<unsigned char>& out);

/// Of a byte of G.711, in [-1, 1].
float mu_law_sample(unsigned char code);
float a_law_sample(unsigned char code);

/// One channel of one coding, in portions of any size: half a sample waits for its other half.
class coded_audio {
 public:
  coded_audio(audio_kind kind, int rate) : kind_(kind), to_rate_(kind.rate, rate) {}
  audio_kind kind() const { return kind_; }
  /// Appends samples at the rate that was asked for.
  void push(std::span<const unsigned char> bytes, std::vector<float>& out);
  /// No bytes follow: appends what is left. The next push() begins anew.
  void finish(std::vector<float>& out);

 private:
  audio_kind kind_;
  live_resampler to_rate_;
  std::optional<unsigned char> half_;
  std::vector<float> samples_;
};

}  // namespace steno::app
