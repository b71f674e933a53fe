// steno/weights/system/atomic_file_posix.hpp - weights/atomic_file.hpp for Linux, macOS and other POSIX systems.
//
// Bytes go to a file without a name in the target's folder (O_TMPFILE): the system removes it however the process
// ends. commit() brings the bytes to the disk, names the file NAME.part-PID-N, renames that over the target and brings
// the folder to the disk, so that after a power cut the name holds the old file or the whole new one. File systems
// without such files (NFS, FAT) have the name from the start; what a process that died left behind is removed by the
// next one that writes the same target.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#if !defined(_WIN32)
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <steno/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

/// Writes one file from front to back. Throws steno::error with the system's reason (a full disk, no permission).
/// Not thread-safe; two objects for one target may live side by side, and the last commit() stays.
class atomic_file {
 public:
  /// Where the bytes go until commit(): to a file without a name, where the file system has such files, or always to
  /// one beside the target.
  enum class scratch { nameless, named };

  /// Refuses targets that exist and are not regular files. A symbolic link keeps pointing to its file. A file that is
  /// replaced keeps its permissions and, where the system allows it, its owner.
  STENO_ON_CALL explicit atomic_file(std::string path, scratch kind = scratch::nameless)
      : path_(std::move(path)), target_(path_) {
    struct ::stat old {};
    const bool replaces = ::stat(path_.c_str(), &old) == 0;
    if (replaces) {
      if (S_ISDIR(old.st_mode)) fail({.where = path_, .what = "is a directory, not a file"});
      if (!S_ISREG(old.st_mode)) fail({.where = path_, .what = "is not a regular file and cannot be replaced"});
      char real[PATH_MAX];
      if (::realpath(path_.c_str(), real) != nullptr) target_ = real;
    }
    const std::size_t slash = target_.rfind('/');
    folder_ = slash == std::string::npos ? "." : target_.substr(0, std::max<std::size_t>(slash, 1));
    remove_leftovers(slash == std::string::npos ? 0 : slash + 1);
    const ::mode_t mode = replaces ? 0600 : 0666;
    if (kind == scratch::named || !open_nameless(mode)) open_named(mode);
    ::flock(file_, LOCK_EX | LOCK_NB);  // shows other processes that this one lives
    if (replaces) keep_rights(old);
  }
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  /// Appends bytes to the file; throws steno::error when the system does not take them all. Not after commit().
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ::ssize_t n = ::write(file_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail({.where = path_, .what = "cannot write the file: " + reason()});
      if (n == 0) fail({.where = path_, .what = "cannot write the file: the system took no more bytes"});
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
  }

  /// Gives the complete file its name, replacing an older one.
  void commit() {
    while (::fsync(file_) != 0) {
      if (errno == EINVAL || errno == ENOSYS) break;  // a file system that cannot
      if (errno != EINTR) fail({.where = path_, .what = "cannot finish the file: " + reason()});
    }
    if (temporary_.empty()) give_name();
    const int closed = ::close(std::exchange(file_, -1));
    if (closed != 0) fail({.where = path_, .what = "cannot finish the file: " + reason()});
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
      fail({.where = path_, .what = "cannot give the file its name: " + reason()});
    temporary_.clear();
    // The new name is there for everybody; a folder that cannot be brought to the disk is no reason to say otherwise.
    const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
  }

 private:
  static constexpr std::string_view part = ".part-";

  static std::string reason() { return std::generic_category().message(errno); }
  static std::string link_to(int file) { return "/proc/self/fd/" + std::to_string(file); }
  std::string temporary_name(int n) const {
    return std::string(target_).append(part) + std::to_string(::getpid()) + "-" + std::to_string(n);
  }

  bool open_nameless(::mode_t mode) {
#ifdef O_TMPFILE
    file_ = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (file_ >= 0 && ::access(link_to(file_).c_str(), F_OK) == 0) return true;  // it can be given a name later
    if (file_ >= 0) ::close(std::exchange(file_, -1));
#else
    (void)mode;
#endif
    return false;
  }
  void open_named(::mode_t mode) {
    for (int n = 0; file_ < 0; ++n) {
      const std::string name = temporary_name(n);
      file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (file_ >= 0) temporary_ = name;
      if (file_ < 0 && errno != EEXIST) fail({.where = path_, .what = "cannot create the file: " + reason()});
    }
  }
  void give_name() {
    for (int n = 0; temporary_.empty(); ++n) {
      const std::string name = temporary_name(n);
      if (::linkat(AT_FDCWD, link_to(file_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
        temporary_ = name;
      else if (errno != EEXIST)
        fail({.where = path_, .what = "cannot give the file its name: " + reason()});
    }
  }

  void keep_rights(const struct ::stat& old) const {
    struct ::stat now {};
    ::mode_t mode = old.st_mode & 0777;
    const bool same = ::fstat(file_, &now) == 0 && now.st_uid == old.st_uid && now.st_gid == old.st_gid;
    if (!same && ::fchown(file_, old.st_uid, old.st_gid) != 0 && ::fchown(file_, ::uid_t(-1), old.st_gid) != 0)
      mode &= ~::mode_t{070};  // what the old group might do is not for another one
    if (::fchmod(file_, mode) != 0) fail({.where = path_, .what = "cannot keep the file's permissions: " + reason()});
  }

  // Files of other processes for this target, when no such process runs and nobody holds the file: the first alone
  // says little across containers and machines.
  void remove_leftovers(std::size_t base) const {
    const std::string stem = target_.substr(base).append(part);
    ::DIR* const all = ::opendir(folder_.c_str());
    if (all == nullptr) return;
    while (const ::dirent* entry = ::readdir(all)) {
      const std::string_view name = entry->d_name;
      if (!name.starts_with(stem)) continue;
      ::pid_t pid = 0;
      const std::string_view rest = name.substr(stem.size());
      const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
      if (failure != std::errc{} || pid <= 0 || end == rest.data() + rest.size() || *end != '-') continue;
      if (::kill(pid, 0) == 0 || errno != ESRCH) continue;
      const std::string file = folder_ + "/" + entry->d_name;
      const int left = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (left < 0) continue;
      if (::flock(left, LOCK_EX | LOCK_NB) == 0) ::unlink(file.c_str());
      ::close(left);
    }
    ::closedir(all);
  }

  std::string path_, target_, folder_, temporary_;
  int file_ = -1;
};

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno
#endif
