// SPDX-License-Identifier: Apache-2.0
#include "damage/child.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "damage/wire.hpp"

extern char** environ;

namespace steno::damage {
namespace {

// A file in memory that a stream of the child goes to.
class stream {
 public:
  explicit stream(const char* name) : id_(::memfd_create(name, MFD_CLOEXEC)) {
    if (id_ < 0) throw std::runtime_error("cannot make a file in memory");
  }
  stream(const stream&) = delete;
  ~stream() { ::close(id_); }
  int id() const { return id_; }
  void clear() const {
    if (::ftruncate(id_, 0) != 0 || ::lseek(id_, 0, SEEK_SET) != 0) throw std::runtime_error("cannot clear a stream");
  }
  std::string text() const {
    std::string all(1u << 20, '\0');
    std::size_t n = 0;
    for (ssize_t got; n < all.size() && (got = ::pread(id_, all.data() + n, all.size() - n, off_t(n))) > 0;)
      n += static_cast<std::size_t>(got);
    all.resize(n);
    return all;
  }

 private:
  int id_;
};

void set_limit(decltype(RLIMIT_AS) what, std::uint64_t value) {
  const ::rlimit both{value, value};
  ::setrlimit(what, &both);
}

// In the child, between fork and exec: nothing that may allocate.
void prepare(int out, int err, const limits& limit) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, std::uint64_t{1} << 30);
  if (limit.address_space != 0) set_limit(RLIMIT_AS, limit.address_space);
  if (limit.seconds != 0) ::alarm(limit.seconds);  // outlives exec; nobody else asks for SIGALRM
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& t : texts) all.push_back(const_cast<char*>(t.c_str()));
  return all;
}

double seconds_of(const ::rusage& used) {
  const auto seconds = [](const ::timeval& t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}
double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// `in_child` does not return.
template <class F>
ending run_fork(const F& in_child, const stream& out, const stream& err, const limits& limit) {
  const auto start = std::chrono::steady_clock::now();
  const ::pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    prepare(out.id(), err.id(), limit);
    in_child();
    ::_exit(127);
  }
  int status = 0;
  ::rusage used{};
  while (::wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) throw std::runtime_error("lost a process");

  ending e;
  e.seconds = seconds_since(start);
  if (WIFEXITED(status)) e.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) e.signal = WTERMSIG(status);
  e.timed_out = e.signal == SIGALRM;
  e.busy = seconds_of(used);
  e.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  e.out = out.text();
  e.err = err.text();
  return e;
}

// The largest resident set since the last call.
std::uint64_t peak_since_last() {
  std::ifstream status("/proc/self/status");
  std::uint64_t kilobytes = 0;
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 6, "VmHWM:") == 0) kilobytes = std::stoull(line.substr(6));
  std::ofstream("/proc/self/clear_refs") << "5";
  return kilobytes * 1024;
}

// In a copy: one after the other, the ending of each into `results`.
void run_in_turn(const std::function<int(std::size_t)>& body, std::size_t from, std::size_t to, const stream& out,
                 const stream& err, const std::string& results, const limits& limit) {
  std::ofstream list(results, std::ios::binary);
  peak_since_last();
  for (std::size_t i = from; i < to; ++i) {
    out.clear();
    err.clear();
    ::alarm(limit.seconds);
    ::rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    const auto start = std::chrono::steady_clock::now();
    ending e;
    e.code = body(i);
    std::fflush(nullptr);
    ::getrusage(RUSAGE_SELF, &after);
    e.seconds = seconds_since(start);
    e.busy = seconds_of(after) - seconds_of(before);
    e.peak_bytes = peak_since_last();
    e.out = out.text();
    e.err = err.text();
    write_ending(list, e);
    list.flush();
  }
}

}  // namespace

ending run_child(const std::vector<std::string>& command, const limits& limit) {
  std::vector<char*> arguments = pointers(command), settings;
  for (char** s = environ; *s != nullptr; ++s) settings.push_back(*s);
  for (char* s : pointers(limit.settings)) settings.push_back(s);
  arguments.push_back(nullptr);
  settings.push_back(nullptr);
  const stream out("out"), err("err");
  return run_fork([&] { ::execve(arguments[0], arguments.data(), settings.data()); }, out, err, limit);
}

std::vector<ending> run_copies(const std::function<int(std::size_t)>& body, std::size_t count, std::size_t in_turn,
                               const limits& limit) {
  const stream out("out"), err("err"), results("results");
  const std::string name = "/proc/self/fd/" + std::to_string(results.id());
  std::vector<ending> ended;
  while (ended.size() < count) {
    const std::size_t from = ended.size(), to = std::min(count, from + in_turn);
    results.clear();
    // _exit: without a sanitizer's farewell to every global variable, which takes as long as a run.
    const auto in_child = [&] {
      run_in_turn(body, from, to, out, err, name, limit);
      ::_exit(0);
    };
    const ending last = run_fork(in_child, out, err, limit);
    std::ifstream list(name, std::ios::binary);
    while (ended.size() < to && list.peek() != std::ifstream::traits_type::eof()) ended.push_back(read_ending(list));
    if (ended.size() < to) ended.push_back(last);  // one that ended all
  }
  return ended;
}

std::vector<ending> run_children(const std::vector<std::vector<std::string>>& commands, const limits& limit,
                                 std::size_t in_turn, const std::string& list) {
  {
    std::ofstream to(list, std::ios::binary);
    to << limit.seconds << ' ' << in_turn << '\n';
    for (const auto& c : commands) write_command(to, c);
  }
  limits all = limit;
  all.seconds = 0;
  const std::string results = list + ".results";
  const ending e = run_child({STENO_DAMAGE_PROGRAMS, list, results}, all);
  if (e.code != 0) throw std::runtime_error("the programs cannot be run: " + e.err);
  std::ifstream in(results, std::ios::binary);
  std::vector<ending> ended(commands.size());
  for (ending& one : ended) one = read_ending(in);
  return ended;
}

}  // namespace steno::damage
