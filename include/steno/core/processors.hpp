// steno/core/processors.hpp - how many processors this process may use.
//
// Linux: those it may run on (cpusets, taskset), but no more than the processor time that its control groups grant, as
// `docker run --cpus=2` sets it: more threads would only be stopped in turn. Other systems: those it may run on. Tested
// in tests/core/processors_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <thread>

#if defined(__linux__)
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#endif

namespace steno {
inline namespace STENO_ABI {
namespace core {

#if defined(__linux__)
namespace detail {
/// The first `limit` bytes of a file, as those of the system's own file systems, which have no size; "" if there is
/// none.
STENO_ON_CALL STENO_COLD inline std::string start_of_file(const std::string& path, std::size_t limit = 4096) {
  struct closing {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, closing> file(std::fopen(path.c_str(), "r"));
  std::string text(file ? limit : 0, '\0');
  text.resize(file ? std::fread(text.data(), 1, limit, file.get()) : 0);
  return text;
}

/// Processors that so much time in a period amounts to, rounded up; 0: no limit, or no numbers.
STENO_ON_CALL STENO_COLD inline int processors_of_quota(const std::string& quota, const std::string& period) {
  const double time = std::strtod(quota.c_str(), nullptr), of = std::strtod(period.c_str(), nullptr);
  if (!(time > 0 && of > 0 && time / of < 1e6)) return 0;
  const int whole = static_cast<int>(time / of);
  return whole < time / of ? whole + 1 : whole;
}

/// Processors that the control groups below `mounted` grant to a process of `groups`, a /proc/PID/cgroup; 0: no limit.
/// Second version: `cpu.max`; first: `cpu.cfs_quota_us`. A group has no more than those it is in. In a container the
/// group's path may be that of the system around it; its own files are then at the top.
STENO_ON_CALL STENO_COLD inline int granted_processors(std::string_view groups, const std::string& mounted) {
  int least = 0;
  const auto limit = [&](int n) { least = n > 0 && (least == 0 || n < least) ? n : least; };
  const auto each_group = [](std::string path, auto&& f) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    for (;; path.resize(path.rfind('/'))) {
      f(path);
      if (path.empty() || path.front() != '/') return;
    }
  };
  while (!groups.empty()) {  // number:controllers:path
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers = ',' + std::string(line.substr(first + 1, second - first - 1)) + ',';
    const std::string path(line.substr(second + 1));
    if (controllers == ",,") {
      each_group(path, [&](const std::string& group) {
        const std::string both = start_of_file(mounted + group + "/cpu.max");
        const std::size_t space = both.find(' ');
        if (space != std::string::npos) limit(processors_of_quota(both.substr(0, space), both.substr(space)));
      });
    } else if (controllers.find(",cpu,") != std::string::npos) {
      each_group(path, [&](const std::string& group) {
        const std::string folder = mounted + "/cpu" + group;
        limit(processors_of_quota(start_of_file(folder + "/cpu.cfs_quota_us"),
                                  start_of_file(folder + "/cpu.cfs_period_us")));
      });
    }
  }
  return least;
}
}  // namespace detail
#endif

/// Processors that this process may use, at least 1: how many threads are worth while. Reads what the system says anew
/// with each call. Any thread may call it.
STENO_ON_CALL STENO_COLD inline int processors() {
  const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#if defined(__linux__)
  if (const int granted = detail::granted_processors(detail::start_of_file("/proc/self/cgroup"), "/sys/fs/cgroup");
      granted > 0)
    return std::min(all, granted);
#endif
  return all;
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno
