// A file that results go to. What is there stays until the new text is whole.
//
// Text is appended to FILE.part-PID beside FILE (FILE.part-PID.2 where that is there: a process of that number on
// another machine may write it), which can be watched while it grows; commit() brings it to the disk
// and gives it FILE's name, so FILE holds either what it held or the whole new text, also after a power cut. A run
// that is killed leaves what it had recognised in FILE.part-PID. Devices, pipes and sockets are written directly, and
// so is a file in a directory that takes no new one, from the first text on. Tested in
// tests/transcriber/output_place_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "screen.hpp"

namespace steno::app {

class output_file {
 public:
  /// Looks whether it can be written, and changes nothing; a device or a pipe is opened (a fifo waits for its reader).
  /// Throws steno::error.
  explicit output_file(const std::string& path);
  /// Keeps what was written, as commit() does, unless writing failed.
  ~output_file();
  output_file(output_file&&) = delete;
  output_file& operator=(output_file&&) = delete;

  /// Appends and flushes; the first call makes the file, even without any text. Throws steno::error.
  void put(std::string_view text, screen& on);
  /// Takes back what was written, unless it went directly to its place.
  void drop();
  /// Nothing more comes. Throws steno::error when the file cannot be put in its place.
  void commit();

 private:
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  void open();
  [[noreturn]] void cannot(const char* what, int number) const;

  std::string path_;     // as the user named it
  std::string target_;   // with its links followed
  std::string written_;  // what is open
  bool direct_ = false, failed_ = false, begun_ = false;
  std::unique_ptr<std::FILE, close> file_;
};

}  // namespace steno::app
