// Bytes of a pipe, a terminal or a file, until they end or an interruption ends them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "byte_source.hpp"

namespace steno::app {

class byte_stream final : public byte_source {
 public:
  /// `fd` is not owned; `name` is for messages.
  byte_stream(int fd, std::string name);
  /// Does not wait for a writer. Throws steno::error.
  static byte_stream open(const std::string& path);
  ~byte_stream() override;
  byte_stream(byte_stream&& other) noexcept;
  byte_stream& operator=(byte_stream&&) = delete;

  std::size_t read(std::uint8_t* to, std::size_t most) override;
  int descriptor() const { return fd_; }
  /// Whether it is a file that is read from its beginning on: one that can be opened again.
  bool whole_file() const { return whole_file_; }

 private:
  int fd_;
  bool owned_ = false, waits_ = false, whole_file_ = false;
};

}  // namespace steno::app
