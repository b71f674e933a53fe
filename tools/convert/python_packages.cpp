// tools/convert/python_packages.cpp - see python_packages.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "python_packages.hpp"

#include <algorithm>
#include <system_error>

#include "command_line.hpp"
#include "folder_entries.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace fs = std::filesystem;

namespace {

void add_environment(std::vector<fs::path>& to, const fs::path& prefix) {
  for (const fs::path& python : folders_in(prefix / "lib", "python3"))
    for (const char* packages : {"site-packages", "dist-packages"}) to.push_back(python / packages);
#if defined(_WIN32)
  to.push_back(prefix / "Lib" / "site-packages");
#endif
}

}  // namespace

std::string environment_variable(const char* name) { return environment(name).value_or(""); }

std::string home_folder() {
  std::string home = environment_variable("HOME");
#if defined(_WIN32)
  if (home.empty()) home = environment_variable("USERPROFILE");
#endif
  return home;
}

std::vector<fs::path> folders_in(const fs::path& at, std::string_view beginning) {
  constexpr std::size_t most = 4096;
  std::vector<fs::path> all;
  for (const fs::path& folder : folder_entries(at))
    if (folder.filename().string().starts_with(beginning) && all.size() < most) all.push_back(folder);
  return all;
}

std::vector<fs::path> python_packages() {
  std::vector<fs::path> all;
#if defined(_WIN32)
  constexpr char between = ';';
#else
  constexpr char between = ':';
#endif
  const std::string paths = environment_variable("PYTHONPATH");
  for (std::size_t at = 0; at < paths.size();) {
    const std::size_t end = std::min(paths.find(between, at), paths.size());
    if (end > at) all.push_back(utf8_path(paths.substr(at, end - at)));
    at = end + 1;
  }
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const std::string prefix = environment_variable(name); !prefix.empty()) add_environment(all, utf8_path(prefix));
  if (const std::string home = home_folder(); !home.empty()) add_environment(all, utf8_path(home) / ".local");
  for (const char* prefix : {"/usr/local", "/usr"}) add_environment(all, prefix);
  return all;
}

}  // namespace STENO_ABI
}  // namespace steno
