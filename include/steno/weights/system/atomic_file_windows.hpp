// steno/weights/system/atomic_file_windows.hpp - weights/atomic_file.hpp for Windows.
//
// Bytes go to NAME.part-PID-N beside the target, which nobody else may write or remove while it is open. commit()
// brings them to the disk and moves the file over the target, which the system does as one step. What a process that
// died left behind is no longer open, so the next one that writes the same target removes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#if defined(_WIN32)
#include <process.h>
#include <steno/weights/system/windows.hpp>

#include <algorithm>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Writes one file from front to back. Throws steno::error with the system's reason (a full disk, no permission).
/// Not thread-safe; two objects for one target may live side by side, and the last commit() stays.
class atomic_file {
 public:
  /// Where the bytes go until commit(): both to a file beside the target, this system has none without a name.
  enum class scratch { nameless, named };

  /// Refuses targets that exist and are not regular files. A symbolic link keeps pointing to its file.
  STENO_ON_CALL explicit atomic_file(std::string path, scratch = scratch::nameless)
      : path_(std::move(path)), target_(system::wide(path_)) {
    struct ::_stat64 old {};
    if (::_wstat64(target_.c_str(), &old) == 0) {
      if ((old.st_mode & _S_IFMT) == _S_IFDIR) fail({.where = path_, .what = "is a directory, not a file"});
      if ((old.st_mode & _S_IFMT) != _S_IFREG)
        fail({.where = path_, .what = "is not a regular file and cannot be replaced"});
      if (std::wstring behind = system::behind_links(target_); !behind.empty()) target_ = std::move(behind);
    }
    remove_leftovers();
    for (int n = 0; file_ < 0; ++n) {
      temporary_ = target_ + part + std::to_wstring(::_getpid()) + L"-" + std::to_wstring(n);
      errno = ::_wsopen_s(&file_, temporary_.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT,
                          _SH_DENYWR, _S_IREAD | _S_IWRITE);
      if (errno != 0 && errno != EEXIST) fail({.where = path_, .what = "cannot create the file: " + system::reason()});
    }
  }
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file() {
    if (file_ >= 0) ::_close(file_);
    if (!temporary_.empty()) ::_wunlink(temporary_.c_str());
  }

  /// Appends bytes to the file; throws steno::error when the system does not take them all. Not after commit().
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto count = static_cast<unsigned>(std::min(bytes.size(), std::size_t{1} << 30));
      const int n = ::_write(file_, bytes.data(), count);
      if (n < 0) fail({.where = path_, .what = "cannot write the file: " + system::reason()});
      if (n == 0) fail({.where = path_, .what = "cannot write the file: the system took no more bytes"});
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  /// Gives the complete file its name, replacing an older one; one that is open or mapped cannot be replaced.
  void commit() {
    if (::_commit(file_) != 0) fail({.where = path_, .what = "cannot finish the file: " + system::reason()});
    if (::_close(std::exchange(file_, -1)) != 0)
      fail({.where = path_, .what = "cannot finish the file: " + system::reason()});
    constexpr unsigned long replace = 1, through = 8;  // to the disk before it returns
    if (::MoveFileExW(temporary_.c_str(), target_.c_str(), replace | through) == 0) {
      system::detail::keep_reason();
      fail({.where = path_, .what = "cannot give the file its name: " + system::reason()});
    }
    temporary_.clear();
  }

 private:
  static constexpr const wchar_t* part = L".part-";

  /// A file that a living process writes is open, and cannot be removed.
  void remove_leftovers() const {
    const std::wstring pattern = target_ + part + L"*";
    const std::wstring folder = target_.substr(0, target_.find_last_of(L"/\\:") + 1);
    struct ::_wfinddata64_t entry {};
    const std::intptr_t all = ::_wfindfirst64(pattern.c_str(), &entry);
    if (all == -1) return;
    do ::_wunlink((folder + entry.name).c_str());
    while (::_wfindnext64(all, &entry) == 0);
    ::_findclose(all);
  }

  std::string path_;
  std::wstring target_, temporary_;
  int file_ = -1;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
#endif
