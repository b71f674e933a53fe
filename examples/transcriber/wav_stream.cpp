// SPDX-License-Identifier: Apache-2.0
#include "wav_stream.hpp"

#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "raw_pcm.hpp"

namespace steno::app {
namespace {

using byte_vector = std::vector<std::uint8_t>;

constexpr std::size_t longest_header = 1 << 24;  // of what stands before the samples

bool has(const byte_vector& b, std::size_t at, std::string_view magic) {
  return b.size() >= at + magic.size() && std::memcmp(b.data() + at, magic.data(), magic.size()) == 0;
}
std::uint32_t number(const byte_vector& b, std::size_t at, std::size_t bytes) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < bytes; ++i) v |= static_cast<std::uint32_t>(b[at + i]) << (8 * i);
  return v;
}

}  // namespace

bool begins_as_wav(const byte_vector& head) {
  return (has(head, 0, "RIFF") || has(head, 0, "RF64")) && has(head, 8, "WAVE");
}

std::unique_ptr<sample_source> open_wav(std::unique_ptr<byte_source>& stream, byte_vector& head) {
  pcm_format format;
  bool known = false;
  std::size_t at = 12;
  const auto chunk = [&](std::size_t bytes) {
    stream->fill(head, at + bytes);
    return head.size() >= at + bytes;
  };
  while (chunk(8)) {
    const std::size_t size = number(head, at + 4, 4);
    if (has(head, at, "data")) {
      if (!known) break;
      const std::size_t begin = at + 8;
      const bool open_end = size == 0 || size >= 0x7fff0000u;  // its writer did not know the length
      head.erase(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(begin));
      return open_pcm(std::move(stream), std::move(head), format,
                      open_end ? std::nullopt : std::optional<std::uint64_t>(size));
    }
    if (size > longest_header || head.size() > longest_header || !chunk(8 + size + size % 2)) break;
    if (has(head, at, "fmt ") && size >= 16) {
      std::uint32_t kind = number(head, at + 8, 2);
      const std::uint32_t bits = number(head, at + 22, 2);
      if (kind == 0xfffe && size >= 26) kind = number(head, at + 32, 2);
      format.channels = static_cast<int>(number(head, at + 10, 2));
      const std::uint32_t rate = number(head, at + 12, 4);
      known = format.channels > 0 && rate >= 1000 && rate <= 1000000;
      format.rate = known ? static_cast<int>(rate) : 0;
      if (kind == 1 && bits == 8)
        format.encoding = pcm_encoding::u8;
      else if (kind == 1 && bits == 16)
        format.encoding = pcm_encoding::s16le;
      else if (kind == 1 && bits == 24)
        format.encoding = pcm_encoding::s24le;
      else if (kind == 1 && bits == 32)
        format.encoding = pcm_encoding::s32le;
      else if (kind == 3 && bits == 32)
        format.encoding = pcm_encoding::f32le;
      else if (kind == 3 && bits == 64)
        format.encoding = pcm_encoding::f64le;
      else
        known = false;
      if (number(head, at + 20, 2) != static_cast<std::uint32_t>(format.channels) * bits / 8) known = false;
    }
    at += 8 + size + size % 2;
  }
  return nullptr;
}

}  // namespace steno::app
