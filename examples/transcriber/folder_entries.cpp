// SPDX-License-Identifier: Apache-2.0
#include "folder_entries.hpp"

#include <steno/error.hpp>

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "utf8_path.hpp"

namespace steno::app {
namespace {

// Windows has the same functions for names in UTF-16, which is what a path holds there.
#if defined(_WIN32)
using folder_handle = _WDIR;
constexpr auto open_folder = ::_wopendir;
constexpr auto read_folder = ::_wreaddir;
constexpr auto close_folder = ::_wclosedir;
#else
using folder_handle = DIR;
constexpr auto open_folder = ::opendir;
constexpr auto read_folder = ::readdir;
constexpr auto close_folder = ::closedir;
#endif

struct closer {
  void operator()(folder_handle* d) const { close_folder(d); }
};

}  // namespace

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  const std::unique_ptr<folder_handle, closer> open(open_folder(folder.c_str()));
  if (open == nullptr) return all;
  errno = 0;
  while (const auto* const entry = read_folder(open.get())) {
    const std::basic_string_view<std::filesystem::path::value_type> name = entry->d_name;
    if (name.size() > 2 || name.find_first_not_of('.') != name.npos) all.push_back(utf8_path((folder / name).string()));
    errno = 0;
  }
  if (errno != 0)
    fail({.where = folder.string(), .what = "cannot read the folder: " + std::generic_category().message(errno)});
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace steno::app
