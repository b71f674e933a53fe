// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <steno/error.hpp>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "signals.hpp"

namespace steno::app {
namespace {

[[noreturn]] void child_failure(const std::string& what, int number) {
  fail({.what = what + ": " + std::strerror(number)});
}

bool may_be_run(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// FFREPORT would make ffmpeg write a file, and colours are no text.
std::vector<std::string> child_environment() {
  std::vector<std::string> all;
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
    const std::string_view entry = *e;
    if (!entry.starts_with("FFREPORT=") && !entry.starts_with("AV_LOG_FORCE_")) all.emplace_back(entry);
  }
  all.emplace_back("AV_LOG_FORCE_NOCOLOR=1");
  return all;
}

std::vector<char*> pointers_of(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& w : words) all.push_back(w.data());
  all.push_back(nullptr);
  return all;
}

void limit_child(decltype(RLIMIT_FSIZE) what, rlim_t most) {
  struct rlimit r {};
  if (::getrlimit(what, &r) != 0) return;
  if (r.rlim_max != RLIM_INFINITY && r.rlim_max < most) most = r.rlim_max;
  r.rlim_cur = r.rlim_max = most;
  ::setrlimit(what, &r);
}

struct child_files {
  int in, out, err, report;
};

// In the child, between fork() and exec(): nothing that allocates or locks.
[[noreturn]] void become(const char* program, char** arguments, char** variables, child_files f, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int s : {SIGPIPE, SIGINT, SIGTERM}) std::signal(s, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // writing a file is an error to it, and no reason to die
  limit_child(RLIMIT_FSIZE, 0);
  limit_child(RLIMIT_CORE, 0);
  limit_child(RLIMIT_AS, rlim_t{4} << 30);
  ::dup2(f.in, 0);
  ::dup2(f.out, 1);
  ::dup2(f.err, 2);
  ::syscall(SYS_close_range, 3u, ~0u, unsigned{CLOSE_RANGE_CLOEXEC});  // musl 1.2.3 has no function for it
  ::execve(program, arguments, variables);
  const int number = errno;
  (void)!::write(f.report, &number, sizeof number);
  ::_exit(127);
}

}  // namespace

// One poll() sees all of its pipes, and an interruption.
class child_process::running {
 public:
  running(const std::string& program, const std::vector<std::string>& arguments, input from, listener errors);
  ~running() { kill(); }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  std::size_t read(std::uint8_t* to, std::size_t most);
  ending wait();

 private:
  class descriptor {
   public:
    descriptor() = default;
    explicit descriptor(int fd) : fd_(fd) {}
    descriptor(descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
    descriptor& operator=(descriptor&& o) noexcept {
      std::swap(fd_, o.fd_);
      return *this;
    }
    ~descriptor() { close(); }
    void close() {
      if (fd_ >= 0) ::close(fd_);
      fd_ = -1;
    }
    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }

   private:
    int fd_ = -1;
  };
  static void make_pipe(descriptor& reading, descriptor& writing) {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) != 0) child_failure("cannot make a pipe", errno);
    reading = descriptor(both[0]);
    writing = descriptor(both[1]);
  }
  void start(const std::string& program, const std::vector<std::string>& arguments, int in, int out, int err);
  void take_errors();
  void feed(short events);
  void kill();

  pid_t pid_ = -1;
  input from_;
  std::size_t fed_ = 0;  // of from_.begun
  listener errors_;
  descriptor in_, out_, err_;
};

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return may_be_run(name) ? name : "";
  const char* const path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (folder.starts_with('/') && may_be_run(folder + "/" + name)) return folder + "/" + name;
  }
  return "";
}

std::string own_input_path(int) { return "/dev/fd/0"; }

child_process::running::running(const std::string& program, const std::vector<std::string>& arguments, input from,
                                listener errors)
    : from_(std::move(from)), errors_(std::move(errors)) {
  descriptor in, out, err;
  if (from_.file < 0) {  // a socket: writing to one that is closed is no signal
    int both[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0) child_failure("cannot make a socket", errno);
    in_ = descriptor(both[0]);
    in = descriptor(both[1]);
  }
  make_pipe(out_, out);
  make_pipe(err_, err);
  start(program, arguments, from_.file < 0 ? in.get() : from_.file, out.get(), err.get());
}

void child_process::running::start(const std::string& program, const std::vector<std::string>& arguments, int in,
                                   int out, int err) {
  std::vector<std::string> words = {program}, variables = child_environment();
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> argv = pointers_of(words), envp = pointers_of(variables);
  descriptor report, reported;
  make_pipe(report, reported);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) child_failure("cannot start " + program, errno);
  if (pid_ == 0)
    become(program.c_str(), const_cast<char**>(argv.data()), const_cast<char**>(envp.data()),
           {in, out, err, reported.get()}, parent);
  ::setpgid(pid_, pid_);  // whoever is first
  reported.close();
  int number = 0;
  ssize_t n = 0;
  do n = ::read(report.get(), &number, sizeof number);
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof number)) {
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    child_failure("cannot start " + program, number);
  }
}

void child_process::running::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void child_process::running::take_errors() {
  std::array<char, 4096> text;
  const ssize_t n = ::read(err_.get(), text.data(), text.size());
  if (n > 0) errors_({text.data(), static_cast<std::size_t>(n)});
  if (n == 0 || (n < 0 && errno != EINTR)) err_.close();
}

// What was read of the stream goes on; then the next of it is read.
void child_process::running::feed(short events) {
  if (events == 0) return;
  if (fed_ == from_.begun.size()) {
    from_.begun.resize(65536);
    fed_ = 0;
    from_.begun.resize(from_.rest ? from_.rest->read(from_.begun.data(), from_.begun.size()) : 0);
    if (from_.begun.empty()) in_.close();
    return;
  }
  const ssize_t n =
      ::send(in_.get(), from_.begun.data() + fed_, from_.begun.size() - fed_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) fed_ += static_cast<std::size_t>(n);
  if (n < 0 && errno != EAGAIN && errno != EINTR) in_.close();  // it wants no more
}

std::size_t child_process::running::read(std::uint8_t* to, std::size_t most) {
  while (out_.open()) {
    if (input_is_over()) return 0;
    enum place { of_out, of_err, of_interruption, of_feed };
    std::array<pollfd, 4> all{};
    all[of_out] = {out_.get(), POLLIN, 0};
    all[of_err] = {err_.get(), POLLIN, 0};  // negative ones are not looked at
    all[of_interruption] = {input_over_event(), POLLIN, 0};
    const bool has_more = fed_ < from_.begun.size();
    all[of_feed] = {-1, 0, 0};
    if (in_.open() && has_more) all[of_feed] = {in_.get(), POLLOUT, 0};
    if (in_.open() && !has_more) all[of_feed] = {from_.rest ? from_.rest->descriptor() : -1, POLLIN, 0};
    if (in_.open() && !has_more && !from_.rest) in_.close();
    if (::poll(all.data(), all.size(), -1) < 0) {
      if (errno == EINTR) continue;
      child_failure("cannot wait for it", errno);
    }
    if ((all[of_interruption].revents & POLLIN) != 0) return 0;
    if (all[of_err].revents != 0) take_errors();
    if (all[of_out].revents != 0) {
      const ssize_t n = ::read(out_.get(), to, most);
      if (n > 0) return static_cast<std::size_t>(n);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) child_failure("cannot read from it", errno);
      out_.close();
      return 0;
    }
    feed(all[of_feed].revents);
  }
  return 0;
}

child_process::ending child_process::running::wait() {
  const auto over = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  in_.close();
  out_.close();
  for (bool stuck = false;;) {
    const auto listen = [this](int milliseconds) {
      pollfd errors = {err_.get(), POLLIN, 0};
      const bool more = ::poll(&errors, 1, milliseconds) > 0;
      if (more) take_errors();
      return more;
    };
    listen(err_.open() ? 20 : 2);
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      while (err_.open() && listen(0)) {
      }
      return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), stuck};
    }
    if (!stuck && (std::chrono::steady_clock::now() > over || input_is_over())) {
      stuck = true;
      ::kill(-pid_, SIGKILL);
      ::kill(pid_, SIGKILL);
    }
  }
}

child_process::child_process(const std::string& program, const std::vector<std::string>& arguments, input from,
                             listener errors)
    : it_(std::make_unique<running>(program, arguments, std::move(from), std::move(errors))) {}
child_process::~child_process() = default;
std::size_t child_process::read(std::uint8_t* to, std::size_t most) { return it_->read(to, most); }
child_process::ending child_process::wait() { return it_->wait(); }

}  // namespace steno::app
