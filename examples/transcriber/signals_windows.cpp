// SPDX-License-Identifier: Apache-2.0
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// after windows.h
#include <fcntl.h>
#include <io.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "signals.hpp"

namespace steno::app {
namespace {

// A process has one set of them. The system calls the handler on a thread of its own.
std::atomic<bool> listening{false};
std::atomic<int> ended_by{0};
std::atomic<interrupt_watch*> watching{nullptr};
std::atomic<int> came{0};
HANDLE event = nullptr;

constexpr int over = -1;  // of the watch

BOOL WINAPI take(DWORD what) {
  if (watching == nullptr) return FALSE;
  came = what == CTRL_C_EVENT ? SIGINT : SIGTERM;
  ::SetEvent(event);
  if (what != CTRL_C_EVENT && what != CTRL_BREAK_EVENT) ::Sleep(4000);  // the process ends when this one returns
  return TRUE;
}

}  // namespace

void prepare_standard_streams() {
  // In the wrong direction, so that using it fails.
  if (::_get_osfhandle(0) < 0) (void)!::_open("NUL", _O_WRONLY);
  if (::_get_osfhandle(1) < 0) (void)!::_open("NUL", _O_RDONLY);
  if (::_get_osfhandle(2) < 0) (void)!::_open("NUL", _O_RDWR);
  for (const int fd : {0, 1, 2}) ::_setmode(fd, _O_BINARY);  // sound, and lines as on every system
  ::SetConsoleOutputCP(CP_UTF8);
}

bool input_is_over() { return ended_by != 0; }
int input_over_event() { return -1; }

interrupt_watch::interrupt_watch(std::function<void()> last_words) : last_words_(std::move(last_words)) {
  ended_by = 0;
  came = 0;
  listening = false;
  if (event == nullptr) event = ::CreateEventW(nullptr, FALSE, FALSE, nullptr);
  watching = this;
  ::SetConsoleCtrlHandler(&take, TRUE);
  thread_ = std::thread([this] { watch(); });
}

interrupt_watch::~interrupt_watch() {
  watching = nullptr;
  ::SetConsoleCtrlHandler(&take, FALSE);
  came = over;
  ::SetEvent(event);
  thread_.join();
}

void interrupt_watch::listen(bool reading) { listening = reading; }
int interrupt_watch::signal() { return ended_by; }

void interrupt_watch::watch() {
  for (;;) {
    ::WaitForSingleObject(event, INFINITE);
    const int signal = came.exchange(0);
    if (signal == over) return;
    if (signal == 0) continue;
    if (!listening || ended_by != 0) leave(signal);
    ended_by = signal;
  }
}

void interrupt_watch::leave(int signal) {
  std::thread([&] {
    const std::unique_lock<std::timed_mutex> whole(lock_, std::chrono::milliseconds(500));
    if (last_words_) last_words_();
    ::SetEvent(event);
  }).detach();
  ::WaitForSingleObject(event, 1000);  // a terminal or a reader that stalls is not waited for
  ::_exit(128 + signal);
}

}  // namespace steno::app
