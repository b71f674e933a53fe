// Reads mono or interleaved 16-bit PCM from a RIFF file; enough for the golden inputs, nothing else.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace steno::test {

struct wav {
  int rate = 0, channels = 0;
  std::vector<float> pcm;  ///< interleaved, in [-1, 1)
};

inline wav load_wav(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto bad = [&](const char* why) { return std::runtime_error(path.string() + ": " + why); };
  const auto tag = [&](std::size_t at) { return std::string(all.data() + at, 4); };
  const auto number = [&](std::size_t at, std::size_t bytes) {
    std::uint32_t v = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      v |= static_cast<std::uint32_t>(static_cast<unsigned char>(all[at + i])) << (8 * i);
    return v;
  };
  if (all.size() < 12 || tag(0) != "RIFF" || tag(8) != "WAVE") throw bad("not a RIFF WAVE file");
  wav w;
  for (std::size_t at = 12; at + 8 <= all.size();) {
    const std::size_t size = number(at + 4, 4), body = at + 8;
    if (size > all.size() - body) throw bad("a chunk is cut short");
    if (tag(at) == "fmt ") {
      if (size < 16 || number(body, 2) != 1 || number(body + 14, 2) != 16) throw bad("not 16-bit PCM");
      w.channels = static_cast<int>(number(body + 2, 2));
      w.rate = static_cast<int>(number(body + 4, 4));
    } else if (tag(at) == "data") {
      for (std::size_t i = 0; i + 2 <= size; i += 2)
        w.pcm.push_back(static_cast<float>(static_cast<std::int16_t>(number(body + i, 2))) / 32768.0f);
    }
    at = body + size + size % 2;
  }
  if (w.rate == 0 || w.pcm.empty()) throw bad("no fmt or no data chunk");
  return w;
}

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The bytes of a WAV file whose header has 44 bytes, its samples so many times.
inline std::string repeated_wav(const std::filesystem::path& path, int times) {
  const std::string one = contents_of(path);
  std::string all = one.substr(0, 44);
  for (int i = 0; i < times; ++i) all += one.substr(44);
  const auto put = [&](std::size_t at, std::size_t n) {
    for (std::size_t i = 0; i < 4; ++i) all[at + i] = static_cast<char>(n >> (8 * i) & 0xff);
  };
  put(4, all.size() - 8);
  put(40, all.size() - 44);
  return all;
}

}  // namespace steno::test
