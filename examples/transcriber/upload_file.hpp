// A file without a name that holds what a client uploads: gone when it is closed, however that comes about.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string_view>

namespace steno::app {

class upload_file {
 public:
  /// In TMPDIR, or /tmp. Throws api_error (503).
  upload_file();
  ~upload_file();
  upload_file(const upload_file&) = delete;
  upload_file& operator=(const upload_file&) = delete;

  /// Appends. Throws api_error (503) where the disk is full.
  void write(std::string_view bytes);
  std::size_t size() const { return size_; }
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  std::size_t size_ = 0;
};

}  // namespace steno::app
