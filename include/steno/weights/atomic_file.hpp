// steno/weights/atomic_file.hpp - a file that appears under its name only when it is complete.
//
// Bytes go to a new file beside the target (NAME.part-PID-N), which is renamed over the target by commit() and removed
// when the object dies before. Tested in tests/weights/gguf_writer_test.cpp.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <steno/error.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace steno::inline STENO_ABI {

/// Writes one file from front to back. Throws steno::error with the system's reason (a full disk, no permission).
class atomic_file {
 public:
  /// Refuses targets that exist and are not regular files. A symbolic link keeps pointing to its file.
  explicit atomic_file(std::string path) : path_(std::move(path)), target_(path_) {
    struct ::stat facts {};
    if (::stat(path_.c_str(), &facts) == 0) {
      if (S_ISDIR(facts.st_mode)) fail({.where = path_, .what = "is a directory, not a file"});
      if (!S_ISREG(facts.st_mode)) fail({.where = path_, .what = "is not a regular file and cannot be replaced"});
      char real[PATH_MAX];
      if (::realpath(path_.c_str(), real) != nullptr) target_ = real;
    }
    for (int n = 0; file_ < 0; ++n) {
      temporary_ = target_ + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(n);
      file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && errno != EEXIST) fail({.where = path_, .what = "cannot create the file: " + reason()});
    }
  }
  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;
  ~atomic_file() {
    if (file_ >= 0) ::close(file_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

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
    const int closed = ::close(std::exchange(file_, -1));
    if (closed != 0) fail({.where = path_, .what = "cannot finish the file: " + reason()});
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
      fail({.where = path_, .what = "cannot give the file its name: " + reason()});
    temporary_.clear();
  }

 private:
  static std::string reason() { return std::generic_category().message(errno); }

  std::string path_, target_, temporary_;
  int file_ = -1;
};

}  // namespace steno::inline STENO_ABI
