// Sound files for tests, written with libsndfile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>
#include <sndfile.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

namespace steno::test {

/// `seconds` of a sine, the same in each channel times `gains[channel]`, interleaved.
inline std::vector<float> sine(double hertz, int rate, double seconds, const std::vector<float>& gains = {1.0f}) {
  std::vector<float> x;
  for (int t = 0; t < static_cast<int>(seconds * rate); ++t)
    for (const float g : gains)
      x.push_back(g * 0.5f * static_cast<float>(std::sin(2.0 * std::numbers::pi * hertz * t / rate)));
  return x;
}

inline std::string write_sound(const std::filesystem::path& path, const std::vector<float>& interleaved, int rate,
                               int channels, int format) {
  SF_INFO info{};
  info.samplerate = rate;
  info.channels = channels;
  info.format = format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
  if (file == nullptr) return path.string();
  const auto frames = static_cast<sf_count_t>(interleaved.size()) / channels;
  EXPECT_EQ(sf_writef_float(file, interleaved.data(), frames), frames);
  sf_close(file);
  return path.string();
}

inline std::string write_wav(const std::filesystem::path& path, double seconds, int rate = 16000) {
  return write_sound(path, sine(440, rate, seconds), rate, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
}

}  // namespace steno::test
