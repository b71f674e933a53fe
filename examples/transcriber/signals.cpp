// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <utility>

#include "file_faults.hpp"

namespace steno::app {
namespace {

// A process has one set of signals.
std::atomic<bool> listening{false};
std::atomic<int> ended_by{0};
std::atomic<int> over_event{-1};

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

}  // namespace

void prepare_standard_streams() {
  // The lowest number that is free is taken. In the wrong direction, so that using it fails.
  if (!is_open(0)) (void)!::open("/dev/null", O_WRONLY);
  if (!is_open(1)) (void)!::open("/dev/null", O_RDONLY);
  if (!is_open(2)) (void)!::open("/dev/null", O_RDWR);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of who writes
  explain_file_faults("steno");
}

bool input_is_over() { return ended_by != 0; }
int input_over_event() { return over_event; }

interrupt_watch::interrupt_watch(std::function<void()> last_words) : last_words_(std::move(last_words)) {
  ended_by = 0;
  listening = false;
  over_event = ::eventfd(0, EFD_CLOEXEC);
  sigemptyset(&signals_);
  for (const int s : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals_, s);  // SIGUSR2 ends the watch
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { watch(); });
}

interrupt_watch::~interrupt_watch() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  ::close(over_event.exchange(-1));
}

void interrupt_watch::listen(bool reading) { listening = reading; }
int interrupt_watch::signal() { return ended_by; }

void interrupt_watch::watch() {
  for (int signal = 0;;) {
    if (sigwait(&signals_, &signal) != 0 || signal == SIGUSR2) return;
    if (!listening || ended_by != 0) leave(signal);
    ended_by = signal;
    const std::uint64_t one = 1;
    (void)!::write(over_event, &one, sizeof one);
  }
}

void interrupt_watch::leave(int signal) {
  std::promise<void> done;
  const std::future<void> over = done.get_future();
  std::thread([&] {
    const std::unique_lock<std::timed_mutex> whole(lock_, std::chrono::milliseconds(500));
    if (last_words_) last_words_();
    done.set_value();
  }).detach();
  over.wait_for(std::chrono::seconds(1));  // a terminal or a reader that stalls is not waited for
  ::_exit(128 + signal);
}

}  // namespace steno::app
