// Runs a program in a process of its own under limits, and tells how it ended: status, streams, memory, time.
#pragma once
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

/// Runs `body` in a copy of this process, which must have one thread; what it returns is the exit status.
ending run_copy(const std::function<int()>& body, const limits& limit);

/// Runs commands one after the other, each under `limit`. Under sanitizers, whose start takes longer than most
/// commands, they are copies of one process (programs.cpp) and so share its settings; `list` is the name of a file that
/// tells it what to run.
std::vector<ending> run_children(const std::vector<std::vector<std::string>>& commands, const limits& limit,
                                 const std::string& list);

}  // namespace steno::damage
