// A program that runs while the test goes on: its standard input stays open until the test closes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace steno::test {

class running_program {
 public:
  /// Shell text; the shell is replaced by the program, so it is the program that signals go to.
  explicit running_program(const std::string& command) {
    int input[2], output[2], errors[2];
    EXPECT_EQ(::pipe2(input, O_CLOEXEC) + ::pipe2(output, O_CLOEXEC) + ::pipe2(errors, O_CLOEXEC), 0);
    ::signal(SIGPIPE, SIG_IGN);  // a program that ended is no reason to end, too
    child_ = ::fork();
    if (child_ == 0) {
      ::signal(SIGPIPE, SIG_DFL);
      ::dup2(input[0], 0);
      ::dup2(output[1], 1);
      ::dup2(errors[1], 2);
      ::execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    ::close(errors[1]);
    in_ = input[1];
    out_ = output[0];
    err_ = errors[0];
  }
  ~running_program() {
    close_input();
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;

  /// What a program that has ended does not take any more is lost; wait() tells how it ended.
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(in_, bytes.data(), bytes.size());
      if (n < 0 && errno == EPIPE) return;
      ASSERT_GT(n, 0) << errno;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  void close_input() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
  }
  /// Waits until standard output holds `text`, or has ended.
  bool says(std::string_view text) { return reads(out_, out, text); }
  /// The same of standard error.
  bool tells(std::string_view text) { return reads(err_, err, text); }
  void send(int signal) const { ::kill(child_, signal); }
  /// Waits for its end and reads the rest: the exit code, or 128 + the signal that ended it.
  int wait() {
    reads(out_, out, {});
    reads(err_, err, {});
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::string out, err;

 private:
  static bool reads(int fd, std::string& to, std::string_view text) {
    char block[4096];
    while (text.empty() || to.find(text) == std::string::npos) {
      const ssize_t n = ::read(fd, block, sizeof block);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      to.append(block, static_cast<std::size_t>(n));
    }
    return true;
  }
  pid_t child_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
};

}  // namespace steno::test
