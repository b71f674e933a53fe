// SPDX-License-Identifier: Apache-2.0
#include "upload_file.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "api_error.hpp"

namespace steno::app {
namespace {

// The reason is the server's own matter: it is logged, and the client is told no more than that.
[[noreturn]] void cannot_keep(int reason) {
  throw api_error(503, std::string("the upload cannot be kept: ") + std::strerror(reason), "storage_unavailable");
}

}  // namespace

upload_file::upload_file() {
  const char* const set = std::getenv("TMPDIR");
  const std::string folder = set != nullptr && *set != '\0' ? set : "/tmp";
  fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ >= 0) return;
  std::string name = folder + "/steno-upload-XXXXXX";  // a file system that knows no files without names
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) cannot_keep(errno);
  ::unlink(name.c_str());
}

upload_file::~upload_file() { ::close(fd_); }

void upload_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) cannot_keep(n < 0 ? errno : ENOSPC);
    size_ += static_cast<std::size_t>(n);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace steno::app
