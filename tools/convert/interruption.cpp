// tools/convert/interruption.cpp - see interruption.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "interruption.hpp"

#if defined(_WIN32)
#include <process.h>
#else
#include <pthread.h>
#include <unistd.h>
#endif

#include <csignal>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "folder_entries.hpp"
#include "utf8_path.hpp"

#if defined(_WIN32)
// As <windows.h> declares them, whose macros would reach all that is compiled with this file.
extern "C" {
__declspec(dllimport) int __stdcall SetConsoleCtrlHandler(int(__stdcall*)(unsigned long), int);
}
#endif

namespace steno {
inline namespace STENO_ABI {

namespace fs = std::filesystem;

namespace {

void remove_own_parts(const fs::path& output) try {
  fs::path target = file_behind_links(output);
  if (target.empty()) target = output;
  const std::string stem = target.filename().string() + ".part-" + std::to_string(::getpid()) + "-";
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  for (const fs::path& file : folder_entries(folder))
    if (file.filename().string().starts_with(stem)) {
      std::error_code gone;
      fs::remove(file, gone);
    }
} catch (const std::exception&) {  // no memory, a folder that cannot be read: nothing can be done about it
}

}  // namespace

#if defined(_WIN32)
namespace {

fs::path* to_remove_beside = nullptr;

// On a thread of the system's.
int __stdcall leave(unsigned long what) {
  remove_own_parts(*to_remove_beside);
  ::_exit(what == 0 ? 128 + SIGINT : 128 + SIGTERM);
}

}  // namespace

void leave_nothing_when_interrupted(const fs::path& output) {
  delete std::exchange(to_remove_beside, new fs::path(output));
  ::SetConsoleCtrlHandler(&leave, 1);
}
#else
void leave_nothing_when_interrupted(const fs::path& output) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGHUP, SIGINT, SIGTERM}) {
    struct sigaction now {};  // nohup and background jobs ignore some, and a blocked signal would arrive all the same
    if (::sigaction(s, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&signals, s);
  }
  sigset_t before;
  if (::pthread_sigmask(SIG_BLOCK, &signals, &before) != 0) return;
  try {
    std::thread([output, signals] {
      int s = 0;
      if (::sigwait(&signals, &s) != 0) return;
      remove_own_parts(output);
      ::_exit(128 + s);
    }).detach();
  } catch (const std::system_error&) {  // no thread to be had: the signals do what they always do
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
}
#endif

}  // namespace STENO_ABI
}  // namespace steno
