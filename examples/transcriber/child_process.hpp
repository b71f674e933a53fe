// A program that writes bytes to its standard output: started without a shell, fed, listened to, and always reaped.
//
// It runs in a process group of its own, so that Ctrl-C is the caller's alone; it may write no files and make no core,
// has at most 4 GiB of address space, no descriptor but its three, and is killed when what started it ends, however
// that is. Nothing here waits for both ends of a pipe: one poll() sees all of them, and an interruption.
// Tested in tests/transcriber/child_process_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "byte_stream.hpp"

namespace steno::app {

/// The program of this name: itself when it holds a slash, else the first in an absolute folder of PATH. Empty when
/// there is none that may be run.
std::string find_program(const std::string& name);

class child_process {
 public:
  /// What it reads: an open file, which stays the caller's; or the bytes that were read of a stream, and the rest of
  /// it.
  struct input {
    int file = -1;
    std::vector<std::uint8_t> begun = {};
    std::optional<byte_stream> rest = {};
  };
  /// Takes what it writes to its standard error, in pieces.
  using listener = std::function<void(std::string_view)>;

  /// Throws steno::error, without a place, when it cannot be started. The thread that starts
  /// it must live as long as it.
  child_process(const std::string& program, const std::vector<std::string>& arguments, input from, listener errors);
  /// Kills it, unless it has ended.
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// Waits for what it writes; 0 when it writes no more, or at an interruption.
  std::size_t read(std::uint8_t* to, std::size_t most);

  struct ending {
    int code = 0;  ///< its exit code; 128 + the signal that ended it
    bool stuck = false;
  };
  /// Waits for its end, a few seconds at most, and not after an interruption: then it is killed.
  ending wait();

 private:
  class descriptor {
   public:
    descriptor() = default;
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(descriptor&& o) noexcept : fd_(o.fd_) { o.fd_ = -1; }
    descriptor& operator=(descriptor&& o) noexcept;
    ~descriptor() { close(); }
    void close();
    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }

   private:
    int fd_ = -1;
  };
  static void make_pipe(descriptor& reading, descriptor& writing);
  void start(const std::string& program, const std::vector<std::string>& arguments, int in, int out, int err);
  void take_errors();
  void feed(short events);
  void kill();

  pid_t pid_ = -1;
  input from_;
  std::size_t fed_ = 0;  // of from_.begun
  bool input_over_ = false;
  listener errors_;
  descriptor in_, out_, err_;
};

}  // namespace steno::app
