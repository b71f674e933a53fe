// tools/convert/content.hpp - telling files apart by their first bytes.
#pragma once
#include <steno/weights/mapped_file.hpp>

#include <filesystem>
#include <span>
#include <string_view>

namespace steno::inline STENO_ABI {

inline bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), text.size()) == text;
}
/// A regular file that begins with `text`.
inline bool file_starts_with(const std::filesystem::path& path, std::string_view text) {
  return std::filesystem::is_regular_file(path) && starts_with(mapped_file(path.string()).bytes(), text);
}
/// What torch.save writes: a zip archive, or a bare pickle.
inline bool is_torch_file(const std::filesystem::path& path) {
  return file_starts_with(path, "PK") || file_starts_with(path, "\x80");
}

}  // namespace steno::inline STENO_ABI
