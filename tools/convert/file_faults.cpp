// tools/convert/file_faults.cpp - see file_faults.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "file_faults.hpp"

#if !defined(_WIN32)
#include <unistd.h>

#include <csignal>
#include <cstring>
#endif

namespace steno {
inline namespace STENO_ABI {

#if defined(_WIN32)
void explain_file_faults(const char*) noexcept {}  // a file that is mapped cannot be cut there
#else
namespace {

const char* program_name = "steno";

// Only what may be called from a handler.
void say_and_leave(int) {
  constexpr char text[] =
      ": a file was cut, overwritten or lost while it was read (replace a file by renaming another over it)\n";
  [[maybe_unused]] ::ssize_t n = ::write(STDERR_FILENO, program_name, std::strlen(program_name));
  n = ::write(STDERR_FILENO, text, sizeof text - 1);
  ::_exit(1);
}

}  // namespace

void explain_file_faults(const char* program) noexcept {
  program_name = program;
  struct sigaction action {};
  action.sa_handler = say_and_leave;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}
#endif

}  // namespace STENO_ABI
}  // namespace steno
