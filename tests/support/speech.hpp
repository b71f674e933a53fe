// Recordings of speech with known pauses, made of the bundled examples.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/wav.hpp"

namespace steno::test {

/// White noise, `level` dB of full scale (root mean square), the same on every machine.
inline void add_noise(std::vector<float>& pcm, double level, std::uint32_t seed = 1) {
  const double amplitude = std::sqrt(3.0) * std::pow(10.0, level / 20);  // of uniform numbers
  std::uint32_t s = seed;
  for (float& x : pcm) {
    s = s * 1664525u + 1013904223u;
    x += static_cast<float>(amplitude * (static_cast<double>(s >> 8) / 8388608.0 - 1));
  }
}
inline std::vector<float> noise(double seconds, double level, std::uint32_t seed = 1) {
  std::vector<float> pcm(static_cast<std::size_t>(seconds * 16000));
  add_noise(pcm, level, seed);
  return pcm;
}

/// One of examples/audio at 16 kHz, and where it is louder than -45 dB of full scale for the first and the last time.
struct utterance {
  std::vector<float> pcm;
  double begin = 0, end = 0;  // seconds
};
inline utterance example_utterance(const std::string& name) {
  utterance u{.pcm = load_wav(std::filesystem::path(STENO_SOURCE_DIR) / "examples/audio" / (name + ".wav")).pcm};
  constexpr std::size_t step = 160;
  bool any = false;
  for (std::size_t at = 0; at + step <= u.pcm.size(); at += step) {
    double sum = 0;
    for (std::size_t i = at; i < at + step; ++i) sum += static_cast<double>(u.pcm[i]) * static_cast<double>(u.pcm[i]);
    if (10 * std::log10(sum / step + 1e-10) < -45) continue;
    if (!any) u.begin = static_cast<double>(at) / 16000;
    any = true;
    u.end = static_cast<double>(at + step) / 16000;
  }
  return u;
}

/// Utterances with pauses of `pauses` seconds before, between and after them, taken in turn, `count` utterances long.
struct conversation {
  std::vector<float> pcm;
  std::vector<std::pair<double, double>> truth;  // seconds
};
inline conversation joined_utterances(std::size_t count, std::span<const double> pauses) {
  const utterance all[] = {example_utterance("question"), example_utterance("shopping"), example_utterance("train")};
  conversation c;
  const auto pause = [&](std::size_t i) {
    c.pcm.resize(c.pcm.size() + static_cast<std::size_t>(pauses[i % pauses.size()] * 16000));
  };
  for (std::size_t i = 0; i < count; ++i) {
    pause(i);
    const utterance& u = all[i % std::size(all)];
    const double offset = static_cast<double>(c.pcm.size()) / 16000;
    c.truth.emplace_back(offset + u.begin, offset + u.end);
    c.pcm.insert(c.pcm.end(), u.pcm.begin(), u.pcm.end());
  }
  pause(count);
  return c;
}

}  // namespace steno::test
