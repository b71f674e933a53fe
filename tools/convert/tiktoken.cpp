// tools/convert/tiktoken.cpp - see tiktoken.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "tiktoken.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <optional>

#include "json_text.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace fs = std::filesystem;

namespace {

int digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

std::optional<std::string> base64(std::string_view text) {
  std::string bytes;
  std::uint32_t held = 0;
  int bits = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const int d = digit(c);
    if (d < 0) return std::nullopt;
    held = held << 6 | static_cast<std::uint32_t>(d);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xff);
  }
  return bytes;
}

}  // namespace

std::string byte_letters(std::string_view bytes) {
  std::string s;
  while (!bytes.empty()) {
    const auto other = std::find_if(bytes.begin(), bytes.end(), [](char c) { return c < 0x21 || c > 0x7e; });
    s.append(bytes.begin(), other);
    if (other == bytes.end()) break;
    const auto b = static_cast<unsigned char>(*other);
    // What cannot be printed is numbered from 256 on: 0 - 32, 127 - 160, 173.
    const bool printable = (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    const unsigned letter = printable ? b : b <= 0x20 ? 256u + b : b <= 0xa0 ? 256u + 33 + (b - 0x7fu) : 323u;
    s += static_cast<char>(0xc0 | letter >> 6);
    s += static_cast<char>(0x80 | (letter & 0x3f));
    bytes.remove_prefix(static_cast<std::size_t>(other - bytes.begin()) + 1);
  }
  return s;
}

std::vector<std::string> read_tiktoken(const fs::path& file, std::uint32_t count) {
  const std::string text = read_text(file, limits::text_bytes);
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    const auto bytes = base64(line.substr(0, space));
    if (space == std::string_view::npos || !bytes || line.substr(space + 1) != std::to_string(tokens.size()) ||
        tokens.size() >= count)
      fail({.where = file.string(),
            .what = "line " + std::to_string(tokens.size() + 1),
            .expected = "a token in base64 and its number, " + std::to_string(count) + " lines in all"});
    tokens.push_back(byte_letters(*bytes));
  }
  return tokens;
}

}  // namespace STENO_ABI
}  // namespace steno
