// Bytes of a pipe, a terminal or a file, until they end or an interruption ends them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace steno::app {

class byte_stream {
 public:
  /// `fd` is not owned; `name` is for messages.
  byte_stream(int fd, std::string name);
  /// Does not wait for a writer. Throws steno::error.
  static byte_stream open(const std::string& path);
  ~byte_stream();
  byte_stream(byte_stream&& other) noexcept;
  byte_stream& operator=(byte_stream&&) = delete;

  /// Appends to `bytes` until it holds `want`, unless the stream ends first. Throws steno::error when it cannot be
  /// read.
  void fill(std::vector<std::uint8_t>& bytes, std::size_t want);
  const std::string& name() const { return name_; }
  int descriptor() const { return fd_; }

 private:
  std::size_t read(std::uint8_t* to, std::size_t most);

  int fd_;
  bool owned_ = false, waits_ = false;
  std::string name_;
};

}  // namespace steno::app
