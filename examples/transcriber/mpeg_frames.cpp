// SPDX-License-Identifier: Apache-2.0
#include "mpeg_frames.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace steno::app {
namespace {

// kbit/s by the header's number: MPEG-1 layers I, II, III, then MPEG-2 layer I, and its layers II and III.
constexpr std::uint16_t bit_rates[5][15] = {{0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
                                            {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
                                            {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
                                            {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
                                            {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}};

std::uint32_t big_endian(const std::uint8_t* p) {
  return static_cast<std::uint32_t>(p[0]) << 24 | static_cast<std::uint32_t>(p[1]) << 16 |
         static_cast<std::uint32_t>(p[2]) << 8 | p[3];
}

std::string of(std::uint64_t present, std::uint64_t announced, const char* what) {
  return std::to_string(present) + " of " + std::to_string(announced) + what;
}

}  // namespace

std::optional<mpeg_frame> read_mpeg_header(std::span<const std::uint8_t> four) {
  if (four.size() < 4 || four[0] != 0xff || (four[1] & 0xe0) != 0xe0) return std::nullopt;
  const unsigned version = four[1] >> 3 & 3u, layer = 4 - (four[1] >> 1 & 3u);  // version 3: MPEG-1, 2: -2, 0: -2.5
  const unsigned rate = four[2] >> 4, frequency = four[2] >> 2 & 3u;
  if (version == 1 || layer == 4 || rate == 0 || rate == 15 || frequency == 3) return std::nullopt;
  const bool first = version == 3;
  const std::uint32_t bits = bit_rates[first ? layer - 1 : layer == 1 ? 3 : 4][rate] * 1000u;
  constexpr std::array<std::uint32_t, 3> frequencies = {44100, 48000, 32000};
  const std::uint32_t hertz = frequencies[frequency] / (first ? 1 : version == 2 ? 2 : 4);
  const std::uint32_t padding = four[2] >> 1 & 1u;
  const bool mono = four[3] >> 6 == 3;
  mpeg_frame f;
  if (layer == 1)
    f.bytes = (12 * bits / hertz + padding) * 4;
  else
    f.bytes = (layer == 3 && !first ? 72 : 144) * bits / hertz + padding;
  f.side_info = first ? (mono ? 17 : 32) : (mono ? 9 : 17);
  return f;
}

bool begins_as_mpeg(std::span<const std::uint8_t> bytes) {
  const auto first = read_mpeg_header(bytes);
  return first && first->bytes < bytes.size() && read_mpeg_header(bytes.subspan(first->bytes)).has_value();
}

std::optional<std::string> missing_of_mpeg(std::uint64_t size, const byte_reader& read) {
  std::uint64_t at = 0;
  std::array<std::uint8_t, 10> tag{};
  while (at + 10 <= size && read(at, tag) && std::memcmp(tag.data(), "ID3", 3) == 0) {
    at += 10;
    for (std::size_t i = 6, shift = 21; i < 10; ++i, shift -= 7)
      at += static_cast<std::uint64_t>(tag[i] & 0x7fu) << shift;
  }
  std::array<std::uint8_t, 4> four{};
  if (at + 4 > size || !read(at, four)) return std::nullopt;
  const auto first = read_mpeg_header(four);
  if (!first) return std::nullopt;
  // The first frame may count all.
  std::array<std::uint8_t, 16> info{};
  if (const std::uint64_t place = at + 4 + first->side_info; place + 16 <= size && read(place, info))
    if (std::memcmp(info.data(), "Xing", 4) == 0 || std::memcmp(info.data(), "Info", 4) == 0) {
      const std::uint32_t flags = big_endian(info.data() + 4), bytes = big_endian(info.data() + 12);
      if ((flags & 3) == 3 && bytes != 0)
        return size - at < bytes ? std::optional(of(size - at, bytes, " bytes are there")) : std::nullopt;
    }
  while (at + 4 <= size && read(at, four)) {
    const auto frame = read_mpeg_header(four);
    if (!frame) return std::nullopt;  // tags of many kinds may follow
    if (at + frame->bytes > size) return of(size - at, frame->bytes, " bytes of its last frame are there");
    at += frame->bytes;
  }
  return std::nullopt;
}

}  // namespace steno::app
