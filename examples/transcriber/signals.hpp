// Interruption: what is finished stays whole, and the user is told how far it went.
#pragma once
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace steno::app {

/// Gives descriptors 0 to 2 something to stand for, should the caller have closed them: otherwise the next file opened
/// would become standard output. A reader that goes away ends the program silently, as with any filter.
void prepare_standard_streams();

/// Waits for SIGINT and SIGTERM on a thread of its own while it lives; made before any other thread, which then inherit
/// the blocked signals. When one arrives: takes the lock (so that no result is half written; a reader that stalls is
/// waited for at most two seconds), calls `last_words` and leaves with 128 + the signal's number.
class interrupt_watch {
 public:
  explicit interrupt_watch(std::function<void()> last_words);
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  /// To be held while a result or a message is written.
  std::timed_mutex& lock() { return lock_; }

 private:
  void watch();

  sigset_t signals_{};
  std::timed_mutex lock_;
  std::function<void()> last_words_;
  std::thread thread_;
};

}  // namespace steno::app
