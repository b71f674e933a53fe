// A program that writes bytes to its standard output: started without a shell, fed, listened to, and always reaped.
//
// It is no part of the caller's process group, so that Ctrl-C is the caller's alone; it has at most 4 GiB of memory, no
// descriptor or handle but its three, and is killed when what started it ends, however that is. On Linux it may write
// no files and make no core; on Windows it may start no other program. Nothing here waits for one pipe alone.
// child_process_posix.cpp, child_process_windows.cpp. Tested in tests/transcriber/child_process_test.cpp, and on every
// system by tests/systems.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "byte_stream.hpp"

namespace steno::app {

/// The program of this name: itself when it names a folder, too, else the first in an absolute folder of PATH. Empty
/// when there is none that may be run.
std::string find_program(const std::string& name);

/// The path under which a child opens the file that is its standard input anew, to read it in any order; empty: there
/// is none.
std::string own_input_path(int file);

class child_process {
 public:
  /// What it reads: an open file, which stays the caller's; or the bytes that were read of a stream, and the rest of
  /// it.
  struct input {
    int file = -1;
    std::vector<std::uint8_t> begun = {};
    std::optional<byte_stream> rest = {};
  };
  /// Takes what it writes to its standard error, in pieces, on the thread that calls read() or wait().
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
  class running;
  std::unique_ptr<running> it_;
};

}  // namespace steno::app
