// Sets variables of the environment, on every system.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <string>

namespace steno::test {

inline void set_variable(const char* name, const std::string& value) {
#if defined(_WIN32)
  ::_putenv_s(name, value.c_str());
#else
  ::setenv(name, value.c_str(), 1);
#endif
}
inline void unset_variable(const char* name) {
#if defined(_WIN32)
  ::_putenv_s(name, "");
#else
  ::unsetenv(name);
#endif
}
/// As PATH lists folders.
inline std::string path_list(std::initializer_list<std::filesystem::path> folders) {
  std::string all;
  for (const std::filesystem::path& f : folders) {
#if defined(_WIN32)
    if (!all.empty()) all += ';';
#else
    if (!all.empty()) all += ':';
#endif
    all += f.string();
  }
  return all;
}

}  // namespace steno::test
