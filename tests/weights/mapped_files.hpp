// Files to map, and what mapping them says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <fstream>
#include <steno/weights/mapped_file.hpp>
#include <string>
#include <support/refusal.hpp>

namespace steno::test {

inline std::string write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}
inline std::string message_of(const std::string& path) {
  return refusal([&] { weights::mapped_file f(path); });
}

}  // namespace steno::test
