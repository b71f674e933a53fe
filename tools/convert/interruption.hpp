// tools/convert/interruption.hpp - what steno-convert does at SIGHUP, SIGINT and SIGTERM.
//
// Tested in tests/convert/interruption_posix_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <filesystem>

namespace steno {
inline namespace STENO_ABI {

/// From now on, a thread of its own waits for the signals that are not ignored; to be called before other threads are
/// made, which inherit the blocked signals. At the first one it removes what atomic_file has beside `output` under a
/// name of this process, and leaves with 128 + the signal's number.
void leave_nothing_when_interrupted(const std::filesystem::path& output);

}  // namespace STENO_ABI
}  // namespace steno
