// tools/convert/file_faults.hpp - what a program says when a mapped file is cut or lost while it is in use.
//
// The system sends SIGBUS then, and nothing can be read any more: the program leaves with one line and status 1 instead
// of dying without a word. Tested in tests/convert/file_faults_posix_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

namespace steno {
inline namespace STENO_ABI {

/// Installs the handler; `program` begins the line and must stay valid. For programs only: a library's users have
/// handlers of their own.
void explain_file_faults(const char* program) noexcept;

}  // namespace STENO_ABI
}  // namespace steno
