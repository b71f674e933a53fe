#include "signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace steno::app {

void prepare_standard_streams() {
  int fd = 0;
  do fd = ::open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= 2);
  if (fd > 2) ::close(fd);
  std::signal(SIGPIPE, SIG_DFL);
}

interrupt_watch::interrupt_watch(std::function<void()> last_words) : last_words_(std::move(last_words)) {
  sigemptyset(&signals_);
  for (const int s : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&signals_, s);  // SIGUSR2 ends the watch
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { watch(); });
}

interrupt_watch::~interrupt_watch() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

void interrupt_watch::watch() {
  int signal = 0;
  if (sigwait(&signals_, &signal) != 0 || signal == SIGUSR2) return;
  if (lock_.try_lock_for(std::chrono::seconds(2))) last_words_();
  ::_exit(128 + signal);
}

}  // namespace steno::app
