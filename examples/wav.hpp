// The samples of a plain WAV file: 44 bytes of header, then 16-bit integers. Real programs use libsndfile and soxr, as
// examples/transcriber does.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#endif
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

// 16-bit little-endian integers as floats in [-1, 1).
inline std::vector<float> as_floats(std::span<const char> bytes) {
  std::vector<float> pcm;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const int low = static_cast<unsigned char>(bytes[i]), high = static_cast<unsigned char>(bytes[i + 1]);
    pcm.push_back(static_cast<float>(static_cast<std::int16_t>(low | high << 8)) / 32768);
  }
  return pcm;
}

inline std::vector<float> read_wav(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return bytes.size() < 44 ? std::vector<float>() : as_floats(std::span(bytes).subspan(44));
}

// Standard input without changes to line ends, which Windows would make.
inline std::istream& raw_input() {
#if defined(_WIN32)
  _setmode(_fileno(stdin), _O_BINARY);
#endif
  return std::cin;
}

// The next tenth of a second of raw 16 kHz PCM; false at its end.
inline bool read_raw(std::istream& in, std::vector<float>& pcm) {
  std::vector<char> bytes(3200);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  pcm = as_floats(std::span(bytes).first(static_cast<std::size_t>(in.gcount())));
  return !pcm.empty();
}
