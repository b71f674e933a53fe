// tools/convert/nemo/tar.cpp - see tar.hpp.
#include "nemo/tar.hpp"

#include <steno/error.hpp>

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace steno::inline STENO_ABI::nemo {

namespace {

constexpr std::size_t block = 512;

std::string_view field(std::span<const std::byte> header, std::size_t at, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(header.data()) + at, size);
  return all.substr(0, std::min(all.find('\0'), size));
}

// A number in octal digits, or big-endian behind a first byte of 0x80.
std::optional<std::uint64_t> number(std::span<const std::byte> header, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  if (header[at] == std::byte{0x80}) {
    for (std::size_t i = 1; i < size; ++i) {
      if (value >> 56 != 0) return std::nullopt;
      value = value << 8 | std::to_integer<std::uint64_t>(header[at + i]);
    }
    return value;
  }
  std::string_view digits = field(header, at, size);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

bool sum_is_right(std::span<const std::byte> header) {
  const auto wanted = number(header, 148, 8);
  std::uint64_t sum = 8 * ' ';
  for (std::size_t i = 0; i < block; ++i)
    if (i < 148 || i >= 156) sum += std::to_integer<std::uint64_t>(header[i]);
  return wanted == sum;
}

struct pax_records {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
};

// Records "LENGTH KEY=VALUE\n".
pax_records read_pax(std::string_view text, const std::string& where) {
  pax_records r;
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto head = static_cast<std::size_t>(end - text.data());
    if (failure != std::errc{} || length <= head + 1 || length > text.size() || *end != ' ' || text[length - 1] != '\n')
      fail({.where = where, .what = "not a tar archive: an extended header is damaged"});
    const std::string_view record = text.substr(head + 1, length - head - 2);
    const std::size_t equals = std::min(record.find('='), record.size());
    const std::string_view key = record.substr(0, equals), value = record.substr(std::min(equals + 1, record.size()));
    if (key == "path") r.path = std::string(value);
    std::uint64_t size = 0;
    if (key == "size" && std::from_chars(value.data(), value.data() + value.size(), size).ec == std::errc{})
      r.size = size;
    text.remove_prefix(length);
  }
  return r;
}

}  // namespace

bool is_tar(std::span<const std::byte> bytes) {
  return bytes.size() >= block && field(bytes, 257, 5) == "ustar" && sum_is_right(bytes.first(block));
}

std::vector<tar_member> read_tar(std::span<const std::byte> bytes, const std::string& where) {
  std::vector<tar_member> members;
  std::optional<std::string> long_name;
  pax_records pax;
  std::size_t at = 0;
  const auto bad = [&](const char* why) {
    fail({.where = where, .what = "not a tar archive: " + std::string(why) + " at byte " + std::to_string(at)});
  };
  while (bytes.size() - at >= block) {
    const auto header = bytes.subspan(at, block);
    if (std::all_of(header.begin(), header.end(), [](std::byte b) { return b == std::byte{}; })) break;
    if (!sum_is_right(header)) bad("a header is damaged");
    auto size = number(header, 124, 12);
    const char type = static_cast<char>(header[156]);
    const bool regular = type == '0' || type == '\0';
    if (regular && pax.size) size = pax.size;
    at += block;
    if (!size || *size > bytes.size() - at) bad("a member is longer than the file");
    const auto content = bytes.subspan(at, static_cast<std::size_t>(*size));
    const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
    if (type == 'L') {
      long_name = std::string(text.substr(0, text.find('\0')));
    } else if (type == 'x') {
      pax = read_pax(text, where);
    } else if (type != 'g') {
      std::string name(field(header, 0, 100));
      if (field(header, 257, 5) == "ustar" && header[262] == std::byte{} && !field(header, 345, 155).empty())
        name = std::string(field(header, 345, 155)) + "/" + name;
      if (long_name) name = *long_name;
      if (pax.path) name = *pax.path;
      while (name.starts_with("./")) name.erase(0, 2);
      if (regular) members.push_back({std::move(name), content});
      long_name.reset();
      pax = {};
    }
    const std::size_t padded = (content.size() + block - 1) / block * block;
    at += std::min(padded, bytes.size() - at);
  }
  return members;
}

std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& where) {
  z_stream z{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (inflateInit2(&z, gzip_only) != Z_OK) fail({.where = where, .what = "there is not enough memory"});
  struct closer {
    z_stream& z;
    ~closer() { inflateEnd(&z); }
  } close{z};
  std::vector<std::byte> out;
  std::size_t used = 0, made = 0;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    constexpr std::size_t piece = std::size_t{1} << 24;
    if (made == out.size()) out.resize(std::max(2 * out.size(), piece));
    const std::size_t give = std::min(piece, bytes.size() - used), take = std::min(piece, out.size() - made);
    // zlib does not write through next_in; its type predates const.
    z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data() + used));
    z.avail_in = static_cast<uInt>(give);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    z.avail_out = static_cast<uInt>(take);
    status = inflate(&z, Z_NO_FLUSH);
    const std::size_t read = give - z.avail_in, written = take - z.avail_out;
    used += read;
    made += written;
    if (status != Z_OK && status != Z_STREAM_END)
      fail({.where = where, .what = "the gzip stream is damaged or cut short"});
    if (read == 0 && written == 0) fail({.where = where, .what = "the gzip stream is cut short"});
  }
  out.resize(made);
  return out;
}

}  // namespace steno::inline STENO_ABI::nemo
