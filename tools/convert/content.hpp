// tools/convert/content.hpp - telling files apart by their first bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

inline bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), text.size()) == text;
}
/// A regular file that begins with `text`.
inline bool file_starts_with(const std::filesystem::path& path, std::string_view text) {
  return std::filesystem::is_regular_file(path) && starts_with(weights::mapped_file(path.string()).bytes(), text);
}
/// The length of a header below 4 GiB, and the header's bracket. The length may begin with any byte: with that of a
/// pickle (0x80) in one file of 32, since it is a multiple of 8.
inline bool starts_as_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > 8 && weights::load_as<std::uint32_t>(bytes.data() + 4) == 0 && bytes[8] == std::byte{'{'};
}
/// What torch.save writes: a zip archive, or a bare pickle.
inline bool is_torch_file(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  const weights::mapped_file file(path.string());
  const std::span<const std::byte> bytes = file.bytes();
  return (starts_with(bytes, "PK") || starts_with(bytes, "\x80")) && !starts_as_safetensors(bytes);
}

}  // namespace STENO_ABI
}  // namespace steno
