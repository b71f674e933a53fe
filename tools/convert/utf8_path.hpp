// tools/convert/utf8_path.hpp - the path that a name in UTF-8 means, as arguments, settings and messages have names.
//
// Windows' std::filesystem::path takes a std::string for one of an old code page, though its string() is UTF-8.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

/// Throws steno::error on Windows, where a name that is no UTF-8 means nothing.
inline std::filesystem::path utf8_path(std::string_view name) {
#if defined(_WIN32)
  try {
    return std::u8string(name.begin(), name.end());
  } catch (const std::filesystem::filesystem_error&) {
    fail({.where = std::string(name), .what = "the file's name is no UTF-8"});
  }
#else
  return name;
#endif
}

}  // namespace STENO_ABI
}  // namespace steno
