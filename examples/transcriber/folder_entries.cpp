// SPDX-License-Identifier: Apache-2.0
#include "folder_entries.hpp"

#include <steno/error.hpp>

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

namespace steno::app {
namespace {

struct closer {
  void operator()(DIR* d) const { ::closedir(d); }
};

}  // namespace

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  const std::unique_ptr<DIR, closer> open(::opendir(folder.c_str()));
  if (open == nullptr) return all;
  errno = 0;
  while (const ::dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") all.push_back(folder / name);
    errno = 0;
  }
  if (errno != 0)
    fail({.where = folder.string(), .what = "cannot read the folder: " + std::generic_category().message(errno)});
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace steno::app
