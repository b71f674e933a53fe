// SPDX-License-Identifier: Apache-2.0
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// after windows.h
#include <io.h>

#include <steno/error.hpp>
#include <steno/weights/system/system.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "child_process.hpp"
#include "signals.hpp"
#include "system.hpp"

namespace steno::app {
namespace {

namespace fs = std::filesystem;
using weights::system::wide;

[[noreturn]] void child_failure(const std::string& what) {
  fail({.what = what + ": " + std::system_category().message(static_cast<int>(::GetLastError()))});
}

bool may_be_run(const std::string& path) {
  try {
    const DWORD facts = ::GetFileAttributesW(wide(path).c_str());
    return facts != INVALID_FILE_ATTRIBUTES && (facts & FILE_ATTRIBUTE_DIRECTORY) == 0;
  } catch (const std::exception&) {  // no UTF-8
    return false;
  }
}

std::wstring utf16(const std::string& word) {
  const auto bytes = static_cast<int>(word.size());
  std::wstring all(static_cast<std::size_t>(::MultiByteToWideChar(CP_UTF8, 0, word.data(), bytes, nullptr, 0)), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, word.data(), bytes, all.data(), static_cast<int>(all.size()));
  return all;
}

// As the C runtime takes a line apart: backslashes count before a quotation mark alone.
std::wstring quoted(const std::wstring& word) {
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring::npos) return word;
  std::wstring all = L"\"";
  std::size_t slashes = 0;
  for (const wchar_t c : word) {
    if (c == L'"') all.append(slashes + 1, L'\\');
    slashes = c == L'\\' ? slashes + 1 : 0;
    all += c;
  }
  return all.append(slashes, L'\\') + L'"';
}

// FFREPORT would make ffmpeg write a file, and colours are no text.
std::wstring child_environment() {
  std::wstring all = L"AV_LOG_FORCE_NOCOLOR=1";
  all += L'\0';
  wchar_t* const own = ::GetEnvironmentStringsW();
  for (const wchar_t* at = own; at != nullptr && *at != L'\0';) {
    const std::wstring_view entry(at);
    if (!entry.starts_with(L"FFREPORT=") && !entry.starts_with(L"AV_LOG_FORCE_")) all.append(entry) += L'\0';
    at += entry.size() + 1;
  }
  if (own != nullptr) ::FreeEnvironmentStringsW(own);
  return all += L'\0';
}

class owned_handle {
 public:
  owned_handle() = default;
  explicit owned_handle(HANDLE h) : handle_(h == INVALID_HANDLE_VALUE ? nullptr : h) {}
  owned_handle(owned_handle&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  owned_handle& operator=(owned_handle&& o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~owned_handle() { close(); }
  void close() {
    if (handle_ != nullptr) ::CloseHandle(handle_);
    handle_ = nullptr;
  }
  HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  HANDLE handle_ = nullptr;
};

struct pipe_ends {
  owned_handle own, child;
};
pipe_ends make_pipe(bool child_reads) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  HANDLE reading = nullptr, writing = nullptr;
  if (::CreatePipe(&reading, &writing, &inherited, 65536) == 0) child_failure("cannot make a pipe");
  pipe_ends ends{owned_handle(child_reads ? writing : reading), owned_handle(child_reads ? reading : writing)};
  ::SetHandleInformation(ends.own.get(), HANDLE_FLAG_INHERIT, 0);
  return ends;
}

// A child inherits these three, whatever else may be inherited.
class inherited_handles {
 public:
  explicit inherited_handles(std::array<HANDLE, 3> all) : all_(all) {
    SIZE_T bytes = 0;
    ::InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    room_.resize(bytes);
    if (::InitializeProcThreadAttributeList(list(), 1, 0, &bytes) == 0) child_failure("cannot start it");
    made_ = true;
    if (::UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, all_.data(), sizeof all_, nullptr,
                                    nullptr) == 0)
      child_failure("cannot start it");
  }
  ~inherited_handles() {
    if (made_) ::DeleteProcThreadAttributeList(list());
  }
  inherited_handles(const inherited_handles&) = delete;
  inherited_handles& operator=(const inherited_handles&) = delete;
  LPPROC_THREAD_ATTRIBUTE_LIST list() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(room_.data()); }

 private:
  std::array<HANDLE, 3> all_;
  std::vector<std::byte> room_;
  bool made_ = false;
};

}  // namespace

std::string find_program(const std::string& name) {
  if (name.empty()) return "";
  const auto runnable = [](const std::string& path) {
    if (may_be_run(path + ".exe")) return path + ".exe";
    return may_be_run(path) ? path : std::string();
  };
  if (name.find_first_of("/\\:") != std::string::npos) return runnable(name);
  const std::string path = system::variable("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t end = std::min(rest.find(system::between_paths), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool absolute = folder.starts_with("\\\\") || (folder.size() > 2 && folder[1] == ':');
    if (!absolute) continue;
    if (std::string found = runnable(folder + "\\" + name); !found.empty()) return found;
  }
  return "";
}

std::string own_input_path(int file) {
  std::wstring name(32768, L'\0');
  const HANDLE handle = reinterpret_cast<HANDLE>(::_get_osfhandle(file));
  const DWORD length = ::GetFinalPathNameByHandleW(handle, name.data(), static_cast<DWORD>(name.size()), 0);
  if (length == 0 || length >= name.size()) return "";
  name.resize(length);
  // The prefix of names that may be long is no name to every program.
  if (name.size() < MAX_PATH && name.starts_with(L"\\\\?\\") && name.find(L':') == 5) name.erase(0, 4);
  return fs::path(name).string();  // UTF-8
}

// A thread listens to the child's errors, and one feeds it: Windows cannot wait for several pipes.
class child_process::running {
 public:
  running(const std::string& program, const std::vector<std::string>& arguments, input from, listener errors)
      : from_(std::move(from)), errors_(std::move(errors)) {
    owned_handle in;
    if (from_.file < 0) {
      pipe_ends ends = make_pipe(true);
      in = std::move(ends.child);
      in_ = std::move(ends.own);
    } else {
      HANDLE copy = nullptr;
      const HANDLE file = reinterpret_cast<HANDLE>(::_get_osfhandle(from_.file)), self = ::GetCurrentProcess();
      if (::DuplicateHandle(self, file, self, &copy, 0, TRUE, DUPLICATE_SAME_ACCESS) == 0)
        child_failure("cannot pass the file on");
      in = owned_handle(copy);
    }
    pipe_ends out = make_pipe(false), err = make_pipe(false);
    out_ = std::move(out.own);
    err_ = std::move(err.own);
    start(program, arguments, {in.get(), out.child.get(), err.child.get()});
    try {
      listening_ = std::thread([this] { listen(); });
      if (in_) feeding_ = std::thread([this] { feed(); });
    } catch (...) {
      end();
      join();
      throw;
    }
  }
  ~running() {
    end();
    out_.close();
    join();
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  std::size_t read(std::uint8_t* to, std::size_t most) {
    const auto room = static_cast<DWORD>(std::min<std::size_t>(most, 1 << 20));
    while (out_ && !input_is_over()) {
      DWORD n = 0;
      const bool done = ::ReadFile(out_.get(), to, room, &n, nullptr) == 0;
      if (done && ::GetLastError() != ERROR_BROKEN_PIPE) child_failure("cannot read from it");
      if (done) out_.close();
      take_errors();
      if (n > 0) return n;  // nothing is what a child may write, too
    }
    return 0;
  }

  ending wait() {
    stop_feeding();
    out_.close();
    ending e;
    for (int slices = 0; ::WaitForSingleObject(process_.get(), 20) == WAIT_TIMEOUT; ++slices) {
      if (e.stuck || (slices < 250 && !input_is_over())) continue;
      e.stuck = true;
      end();
    }
    join();
    take_errors();
    DWORD code = 0;
    ::GetExitCodeProcess(process_.get(), &code);
    e.code = static_cast<int>(code);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return e;
  }

 private:
  void start(const std::string& program, const std::vector<std::string>& arguments, std::array<HANDLE, 3> three) {
    std::wstring line = quoted(wide(program)), variables = child_environment();
    for (const std::string& a : arguments) line.append(L" ").append(quoted(utf16(a)));
    inherited_handles handles(three);
    STARTUPINFOEXW how{};
    how.StartupInfo.cb = sizeof how;
    how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    how.StartupInfo.hStdInput = three[0];
    how.StartupInfo.hStdOutput = three[1];
    how.StartupInfo.hStdError = three[2];
    how.lpAttributeList = handles.list();
    // What the system closes with the last handle, that is with this program, ends the child.
    job_ = owned_handle(::CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_ACTIVE_PROCESS |
                                              JOB_OBJECT_LIMIT_PROCESS_MEMORY |
                                              JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
    limits.BasicLimitInformation.ActiveProcessLimit = 1;
    limits.ProcessMemoryLimit = SIZE_T{4} << 30;
    if (!job_ || ::SetInformationJobObject(job_.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits) == 0)
      child_failure("cannot start " + program);
    PROCESS_INFORMATION child{};
    constexpr DWORD flags = EXTENDED_STARTUPINFO_PRESENT | CREATE_UNICODE_ENVIRONMENT | CREATE_NEW_PROCESS_GROUP |
                            CREATE_NO_WINDOW | CREATE_SUSPENDED;
    if (::CreateProcessW(wide(program).c_str(), line.data(), nullptr, nullptr, TRUE, flags, variables.data(), nullptr,
                         &how.StartupInfo, &child) == 0)
      child_failure("cannot start " + program);
    process_ = owned_handle(child.hProcess);
    const owned_handle thread(child.hThread);
    if (::AssignProcessToJobObject(job_.get(), process_.get()) == 0) {
      ::TerminateProcess(process_.get(), 127);
      child_failure("cannot confine " + program);
    }
    ::ResumeThread(thread.get());
  }

  void end() {
    if (process_) ::TerminateJobObject(job_.get(), 127);
  }

  // It may be waiting for bytes of a stream.
  void stop_feeding() {
    over_ = true;
    while (feeding_.joinable() && !fed_) {
      if (const HANDLE feeder = feeder_; feeder != nullptr) ::CancelSynchronousIo(feeder);
      ::Sleep(5);
    }
    if (feeding_.joinable()) feeding_.join();
  }
  void join() {
    stop_feeding();
    if (listening_.joinable()) listening_.join();  // it ends with the child
  }

  void listen() {
    std::array<char, 4096> text;
    for (DWORD n = 0; ::ReadFile(err_.get(), text.data(), text.size(), &n, nullptr) != 0;) {
      const std::scoped_lock lock(mutex_);
      // Of more than anybody reads, the first and the newest are kept.
      if (said_.size() > (1 << 20)) said_.erase(said_.begin() + (1 << 19), said_.end());
      said_.append(text.data(), n);
    }
  }
  void take_errors() {
    std::string more;
    {
      const std::scoped_lock lock(mutex_);
      more.swap(said_);
    }
    if (!more.empty()) errors_(more);
  }

  // What was read of the stream goes on; then the rest of it is read.
  void feed() {
    own_feeder_ = owned_handle(own_thread());
    feeder_ = own_feeder_.get();
    try {
      std::vector<std::uint8_t> bytes = std::move(from_.begun);
      while (!over_ && put(bytes) && from_.rest) {
        bytes.resize(65536);
        bytes.resize(from_.rest->read(bytes.data(), bytes.size()));
        if (bytes.empty()) break;
      }
    } catch (...) {
      if (!over_) failure_ = std::current_exception();
    }
    in_.close();
    fed_ = true;
  }
  static HANDLE own_thread() {
    HANDLE copy = nullptr;
    const HANDLE self = ::GetCurrentProcess();
    ::DuplicateHandle(self, ::GetCurrentThread(), self, &copy, 0, FALSE, DUPLICATE_SAME_ACCESS);
    return copy;
  }
  // False where it wants no more.
  bool put(const std::vector<std::uint8_t>& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      DWORD n = 0;
      if (::WriteFile(in_.get(), bytes.data() + done, static_cast<DWORD>(bytes.size() - done), &n, nullptr) == 0)
        return false;
      done += n;
    }
    return true;
  }

  input from_;
  listener errors_;
  owned_handle job_, process_, in_, out_, err_;
  std::mutex mutex_;
  std::string said_;  // to its standard error, and nobody was shown it yet
  owned_handle own_feeder_;
  std::atomic<HANDLE> feeder_{nullptr};  // the same, from when it is known
  std::atomic<bool> over_{false}, fed_{false};
  std::exception_ptr failure_;  // of the stream, read when the feeder has ended
  std::thread listening_, feeding_;
};

child_process::child_process(const std::string& program, const std::vector<std::string>& arguments, input from,
                             listener errors)
    : it_(std::make_unique<running>(program, arguments, std::move(from), std::move(errors))) {}
child_process::~child_process() = default;
std::size_t child_process::read(std::uint8_t* to, std::size_t most) { return it_->read(to, most); }
child_process::ending child_process::wait() { return it_->wait(); }

}  // namespace steno::app
