// A server as a process of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace steno::test {

// `steno serve`, at a port of the system's choice unless `more` names one, and what it says on stderr, through a pipe
// that holds one page.
class served {
 public:
  explicit served(
      std::vector<std::string> more = {}, const std::function<void()>& before = [] {},
      std::vector<std::string> model = {"-m", (steno::test::compact() / "wenet" / "model.gguf").string()}) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    EXPECT_GT(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 0);
    std::vector<std::string> words{STENO_PROGRAM, "serve"};
    if (std::find(more.begin(), more.end(), "--port") == more.end()) words.insert(words.end(), {"--port", "0"});
    words.insert(words.end(), model.begin(), model.end());
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& w : words) pointers.push_back(w.data());
    pointers.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDERR_FILENO);
      before();
      ::execv(pointers[0], pointers.data());
      ::_exit(99);
    }
    ::close(ends[1]);
    log_ = ends[0];
    const std::string text = log_up_to("connections\n");
    const std::size_t at = text.find("://127.0.0.1:");
    if (at != std::string::npos) port_ = std::stoi(text.substr(at + 13));
    EXPECT_GT(port_, 0) << text;
  }
  ~served() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    wait();
    close_log();
  }
  int port() const { return port_; }
  void close_log() {
    if (log_ >= 0) ::close(log_);
    log_ = -1;
  }
  pid_t process() const { return process_; }
  void signal(int number) const { ::kill(process_, number); }
  /// From now on it may take so many bytes of address space more; none: any number.
  void may_take(std::optional<rlim_t> more) const {
    rlimit limit{RLIM_INFINITY, RLIM_INFINITY};
    if (more) {
      std::ifstream sizes("/proc/" + std::to_string(process_) + "/statm");
      rlim_t pages = 0;
      ASSERT_TRUE(sizes >> pages);
      limit.rlim_cur = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + *more;
    }
    ASSERT_EQ(::prlimit(process_, RLIMIT_AS, &limit, nullptr), 0);
  }
  bool ended() const {
    siginfo_t how{};
    return ::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid != 0;
  }
  /// The exit code, or 1000 + the signal that ended it.
  int wait() {
    int status = 0;
    if (process_ <= 0 || ::waitpid(process_, &status, 0) != process_) return -1;
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  /// The log up to and with `last`, or up to its end.
  std::string log_up_to(const std::string& last) const {
    std::string all;
    char c = 0;
    pollfd ready{log_, POLLIN, 0};
    while ((last.empty() || all.find(last) == std::string::npos) && ::poll(&ready, 1, 60000) == 1 &&
           ::read(log_, &c, 1) == 1)
      all += c;
    return all;
  }

 private:
  pid_t process_ = -1;
  int log_ = -1, port_ = 0;
};

/// One with a bundled model.
inline served served_demo(const std::string& family, std::vector<std::string> more = {}) {
  return served(std::move(more), [] {}, {"--demo", family});
}

}  // namespace steno::test
