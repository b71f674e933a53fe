// Runs a program in a process of its own under limits, and tells how it ended: status, streams, memory, time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace steno::damage {

/// Limits of a child; 0: none.
struct limits {
  unsigned seconds = 10;              ///< of wall time; the child is then killed
  std::uint64_t address_space = 0;    ///< RLIMIT_AS in bytes
  std::vector<std::string> settings;  ///< NAME=VALUE, added to the environment
};

/// How a child ended.
struct ending {
  int code = -1;   ///< exit status, or -1
  int signal = 0;  ///< that ended it, or 0
  bool timed_out = false;
  std::string out, err;          ///< at most 1 MiB of each
  std::uint64_t peak_bytes = 0;  ///< resident set at its largest, at least as large as ours was at the fork
  double seconds = 0;            ///< of wall time
  double busy = 0;               ///< seconds of processor time: what a busy machine does not prolong
};

/// Runs `command` (program and arguments) to its end. Any number of threads may call it. Throws std::runtime_error
/// when no process can be had.
ending run_child(const std::vector<std::string>& command, const limits& limit);

/// Runs body(0) to body(count - 1) in copies of this process, which must have one thread; what they return are exit
/// statuses. `in_turn` of them share a copy, as long as none ends it: a copy costs more than most of them under a
/// sanitizer.
std::vector<ending> run_copies(const std::function<int(std::size_t)>& body, std::size_t count, std::size_t in_turn,
                               const limits& limit);

/// Runs commands of steno and steno-convert one after the other, each under `limit`. They are copies of one process
/// (programs.cpp), whose start, under a sanitizer above all, takes longer than most commands, and share its settings;
/// `in_turn` of them run in one copy (see run_copies). `list` is the name of a file that tells it what to run.
std::vector<ending> run_children(const std::vector<std::vector<std::string>>& commands, const limits& limit,
                                 std::size_t in_turn, const std::string& list);

}  // namespace steno::damage
