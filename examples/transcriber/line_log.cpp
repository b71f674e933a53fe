// SPDX-License-Identifier: Apache-2.0
#include "line_log.hpp"

#include <steno/error.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "text_width.hpp"

namespace steno::app {
namespace {

using clock = std::chrono::steady_clock;

// With its prefix less than the 4096 bytes that a pipe which can be written to takes without waiting.
constexpr std::size_t longest_line = 1000;

std::string whole_line(std::string_view text) {
  if (text.size() > longest_line) {
    std::size_t n = longest_line;
    while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0u) == 0x80u) --n;  // whole characters
    text = text.substr(0, n);
  }
  return "steno: " + printable(text) + "\n";
}

std::string dropped_line(std::uint64_t n) {
  return whole_line(std::to_string(n) + " log lines were dropped: nobody read them");
}

}  // namespace

struct line_log::state {
  state(int d, std::size_t n) : descriptor(d), most(n) {}

  const int descriptor;
  const std::size_t most;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> waiting;
  std::uint64_t unreported = 0, dropped = 0;
  bool stopping = false, done = false;
  clock::time_point deadline;

  void drop() {
    ++unreported;
    ++dropped;
  }
  void write_lines();
  bool next(std::string& text);
  bool write(std::string_view text);
  int milliseconds_left();
};

// False: there is none and will be none.
bool line_log::state::next(std::string& text) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return stopping || !waiting.empty() || unreported > 0; });
  if (!waiting.empty()) {
    text = std::move(waiting.front());
    waiting.pop_front();
  } else if (unreported > 0) {
    text = dropped_line(unreported);
    unreported = 0;
  } else {
    return false;
  }
  return true;
}

// How long to wait for the reader before looking whether this is the end.
int line_log::state::milliseconds_left() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (!stopping) return 100;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : -1;
}

// False: nobody will read any more.
bool line_log::state::write(std::string_view text) {
  while (!text.empty()) {
    const int wait = milliseconds_left();
    if (wait < 0) return false;
    pollfd ready{descriptor, POLLOUT, 0};
    const int n = ::poll(&ready, 1, wait);
    if (n < 0 && errno != EINTR) return false;
    if (n <= 0) continue;
    if ((ready.revents & POLLOUT) == 0) return false;
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void line_log::state::write_lines() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // a reader that goes away is an error here, not the end of the program
  try {
    std::string text;
    bool taken = true;
    while (taken && next(text)) taken = write(text);
  } catch (const std::exception&) {  // out of memory: from now on lines are dropped
  }
  const std::lock_guard<std::mutex> lock(mutex);
  done = true;
  changed.notify_all();
}

line_log::line_log(int descriptor, std::size_t lines) : state_(std::make_shared<state>(descriptor, lines)) {
  try {
    std::thread([s = state_] { s->write_lines(); }).detach();
  } catch (const std::system_error& e) {
    fail({.what = "no thread can be had for the log", .found = e.code().message()});
  }
}

line_log::~line_log() {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->stopping = true;
  state_->deadline = clock::now() + patience;
  state_->changed.notify_all();
  // A descriptor that can be written to may still keep the thread: then it goes on alone, with a state of its own.
  state_->changed.wait_until(lock, state_->deadline + std::chrono::milliseconds(200), [&] { return state_->done; });
}

void line_log::say(std::string_view line) noexcept {
  try {
    const std::string text = whole_line(line);
    const std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->done || state_->waiting.size() >= state_->most) return state_->drop();
    if (state_->unreported > 0) {
      state_->waiting.push_back(dropped_line(state_->unreported));
      state_->unreported = 0;
    }
    state_->waiting.push_back(text);
    state_->changed.notify_all();
  } catch (const std::exception&) {  // out of memory: of all that is done here this matters least
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->drop();
  }
}

std::uint64_t line_log::dropped() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->dropped;
}

}  // namespace steno::app
