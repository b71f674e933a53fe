// steno-convert at signals: it ends at once with the status that shells expect, and leaves nothing of its output.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace interruption_test {

namespace fs = std::filesystem;
using steno::test::fixture;

// The converter with a stopped terminal as stderr: its first progress bar waits, with the output open, for ever.
class stopped_converter {
 public:
  explicit stopped_converter(const fs::path& output, int ignored = 0) {
    if (::openpty(&master_, &slave_, nullptr, nullptr, nullptr) != 0) return;
    ::tcflow(slave_, TCOOFF);
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const int s : {SIGHUP, SIGINT, SIGTERM}) std::signal(s, s == ignored ? SIG_IGN : SIG_DFL);
    ::dup2(slave_, STDERR_FILENO);
    const std::string command = "exec '" STENO_CONVERT_PROGRAM "' '" + fixture("sense_voice").string() + "' -o '" +
                                output.string() + "'";
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(99);
  }
  ~stopped_converter() {
    if (pid_ > 0 && !ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(master_);
    ::close(slave_);
  }
  bool started() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  /// Waits until the process has a file of `folder` open for its output, under a name or without one.
  bool writes_in(const fs::path& folder) const {
    const std::string files = "/proc/" + std::to_string(pid_) + "/fd";
    for (int i = 0; i < 60000; ++i) {
      std::error_code gone;
      for (const auto& e : fs::directory_iterator(files, gone)) {
        const fs::path file = fs::read_symlink(e.path(), gone);
        if (!gone && file.string().starts_with(folder.string() + "/")) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }
  void send(int signal) const { ::kill(pid_, signal); }
  void go_on() const { ::tcflow(slave_, TCOON); }
  int status() {
    int s = 0;
    ::waitpid(pid_, &s, 0);
    ended_ = true;
    return WIFEXITED(s) ? WEXITSTATUS(s) : -WTERMSIG(s);
  }

 private:
  int master_ = -1, slave_ = -1;
  pid_t pid_ = -1;
  bool ended_ = false;
};

TEST(convert_interruption, leaves_nothing) {
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
    const steno::test::temporary_directory d;
    const fs::path real = fs::canonical(d.path());
    stopped_converter c(real / "out.gguf");
    if (!c.started()) GTEST_SKIP() << "no terminal to be had";
    ASSERT_TRUE(c.writes_in(real));
    steno::test::write_text(real / ("out.gguf.part-" + std::to_string(c.pid()) + "-7"), "as without nameless files");
    c.send(s);
    EXPECT_EQ(c.status(), 128 + s);
    EXPECT_TRUE(fs::is_empty(real));
  }
}

// nohup: the signal is ignored, and the file is finished.
TEST(convert_interruption, ignored_signals_stay_ignored) {
  const steno::test::temporary_directory d;
  const fs::path real = fs::canonical(d.path());
  stopped_converter c(real / "out.gguf", SIGHUP);
  if (!c.started()) GTEST_SKIP() << "no terminal to be had";
  ASSERT_TRUE(c.writes_in(real));
  c.send(SIGHUP);
  c.go_on();
  EXPECT_EQ(c.status(), 0);
  EXPECT_TRUE(fs::exists(real / "out.gguf"));
}

}  // namespace interruption_test
