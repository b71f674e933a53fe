// tools/convert/folder_entries.cpp - see folder_entries.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "folder_entries.hpp"

#include <steno/error.hpp>

#if defined(_WIN32)
#include <io.h>
#else
#include <dirent.h>
#endif

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

// The next name of an open folder; empty after the last, with the reason in errno where there are more.
#if defined(_WIN32)
class folder_names {
 public:
  explicit folder_names(const std::filesystem::path& folder)
      : names_(::_wfindfirst64((folder / "*").c_str(), &entry_)), is_new_(names_ != -1) {}
  folder_names(const folder_names&) = delete;
  folder_names& operator=(const folder_names&) = delete;
  ~folder_names() {
    if (names_ != -1) ::_findclose(names_);
  }
  bool is_open() const { return names_ != -1; }
  std::wstring_view next() {
    if (!is_new_ && ::_wfindnext64(names_, &entry_) != 0) {
      if (errno == ENOENT) errno = 0;  // there is none
      return {};
    }
    is_new_ = false;
    return entry_.name;
  }

 private:
  struct ::_wfinddata64_t entry_ {};
  std::intptr_t names_;
  bool is_new_;
};
#else
class folder_names {
 public:
  explicit folder_names(const std::filesystem::path& folder) : names_(::opendir(folder.c_str())) {}
  bool is_open() const { return names_ != nullptr; }
  std::string_view next() {
    const ::dirent* const entry = ::readdir(names_.get());
    return entry == nullptr ? std::string_view() : entry->d_name;
  }

 private:
  struct closer {
    void operator()(::DIR* d) const { ::closedir(d); }
  };
  std::unique_ptr<::DIR, closer> names_;
};
#endif

}  // namespace

std::filesystem::path folder_of(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return path;
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  folder_names names(folder);
  if (!names.is_open()) return all;
  for (;;) {
    errno = 0;
    const auto name = names.next();
    if (name.empty()) break;
    if (name.size() > 2 || name.find_first_not_of('.') != name.npos) all.push_back(utf8_path((folder / name).string()));
  }
  if (errno != 0)
    fail({.where = folder.string(), .what = "cannot read the folder: " + std::generic_category().message(errno)});
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace STENO_ABI
}  // namespace steno
