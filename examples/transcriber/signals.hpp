// Interruption is the end of the input: what was recognised is finished and written.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>
#include <functional>
#include <mutex>
#include <thread>

namespace steno::app {

/// Gives descriptors 0 to 2 something to stand for, should the caller have closed them: otherwise the next file opened
/// would become standard output. Writing to a standard output that was closed fails, and so does reading from a closed
/// standard input. A reader that goes away ends the program silently, as with any filter.
void prepare_standard_streams();

/// Whether an interruption has ended the input. What reads asks before each block.
bool input_is_over();
/// Readable from then on, for poll(); negative while nothing watches, and on Windows.
int input_over_event();

/// Waits for SIGINT and SIGTERM (Windows: Ctrl-C, Ctrl-Break, a closed window) on a thread of its own while it lives
/// (one at a time); made before any other thread, which then inherit the blocked signals. While the input is listened
/// to the first one makes input_is_over() true; one that comes before, and a second one, ends the program at once with
/// 128 + the signal's number: `last_words` is called first, under the lock unless a writer holds it, and given a
/// second.
class interrupt_watch {
 public:
  explicit interrupt_watch(std::function<void()> last_words = {});
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  /// Reading begins, or is over.
  void listen(bool reading);
  /// That ended the input; 0: none did.
  static int signal();
  /// The program's exit code: 128 + the signal's number where one came, else `code`.
  static int exit_code(int code) { return signal() != 0 ? 128 + signal() : code; }

  /// To be held while a result or a message is written.
  std::timed_mutex& lock() { return lock_; }

 private:
  void watch();
  [[noreturn]] void leave(int signal);

#if !defined(_WIN32)
  sigset_t signals_{};
#endif
  std::timed_mutex lock_;
  std::function<void()> last_words_;
  std::thread thread_;
};

}  // namespace steno::app
