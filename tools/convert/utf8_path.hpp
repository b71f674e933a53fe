// tools/convert/utf8_path.hpp - the path that a name in UTF-8 means, as arguments, settings and messages have names.
//
// Windows' std::filesystem::path takes a std::string for one of an old code page, though its string() is UTF-8. Names
// of over 240 characters get the prefix that lifts the system's old limit of 260.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#if defined(_WIN32)
#include <steno/weights/system/system.hpp>
#endif

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace steno {
inline namespace STENO_ABI {

/// Throws steno::error on Windows, where a name that is no UTF-8 means nothing.
inline std::filesystem::path utf8_path(std::string_view name) {
#if defined(_WIN32)
  return weights::system::wide(std::string(name));
#else
  return name;
#endif
}

/// `below` in `folder`, which the prefix of a long name is for.
inline std::filesystem::path utf8_path(std::string_view folder, std::string_view below) {
  constexpr auto separator = std::filesystem::path::preferred_separator;
  std::string name(folder);
  if (!name.empty() && !below.empty() && name.back() != '/' && name.back() != separator) name += '/';
  return utf8_path(name.append(below));
}

/// The file that `name` means, behind links; empty when it cannot be had. libstdc++'s canonical() takes Windows' prefix
/// of a long name for a folder.
inline std::filesystem::path file_behind_links(const std::filesystem::path& name) {
#if defined(_WIN32)
  return weights::system::behind_links(name.native());
#else
  std::error_code none;
  return std::filesystem::canonical(name, none);
#endif
}

}  // namespace STENO_ABI
}  // namespace steno
