// SPDX-License-Identifier: Apache-2.0
#define NOMINMAX
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// after windows.h
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <share.h>
#include <sys/stat.h>

#include <steno/weights/system/system.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "command_line.hpp"
#include "system.hpp"

namespace steno::app::system {
namespace fs = std::filesystem;
using weights::system::wide;

namespace {

int open_wide(const std::string& path, int how) {
  try {
    return ::_wsopen(wide(path).c_str(), how | _O_BINARY | _O_NOINHERIT, _SH_DENYNO, _S_IREAD | _S_IWRITE);
  } catch (const std::exception&) {  // no UTF-8
    errno = EINVAL;
    return -1;
  }
}

HANDLE handle_of(int fd) { return reinterpret_cast<HANDLE>(::_get_osfhandle(fd)); }

std::optional<BY_HANDLE_FILE_INFORMATION> information_of(const std::string& path) {
  try {
    const HANDLE file = ::CreateFileW(wide(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                      nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (file == INVALID_HANDLE_VALUE) return std::nullopt;
    BY_HANDLE_FILE_INFORMATION facts{};
    const bool known = ::GetFileType(file) == FILE_TYPE_DISK && ::GetFileInformationByHandle(file, &facts) != 0;
    ::CloseHandle(file);
    if (known) return facts;
  } catch (const std::exception&) {  // no UTF-8
  }
  return std::nullopt;
}

std::uint64_t whole(DWORD high, DWORD low) { return std::uint64_t{high} << 32 | low; }

}  // namespace

int open_to_read(const std::string& path) { return open_wide(path, _O_RDONLY); }
int open_new(const std::string& path) { return open_wide(path, _O_WRONLY | _O_CREAT | _O_EXCL); }
int open_to_append(const std::string& path) { return open_wide(path, _O_WRONLY | _O_APPEND); }
int open_nowhere() { return open_wide("NUL", _O_RDWR); }
int duplicate(int fd) { return ::_dup(fd); }
std::ptrdiff_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t at) {
  const std::int64_t before = ::_lseeki64(fd, 0, SEEK_CUR);
  if (before < 0 || ::_lseeki64(fd, static_cast<std::int64_t>(at), SEEK_SET) < 0) return -1;
  const int n = ::_read(fd, to, static_cast<unsigned>(bytes));
  return ::_lseeki64(fd, before, SEEK_SET) < 0 ? -1 : n;
}

std::FILE* open_stream(const std::string& path, const char* mode) {
  const bool reads = mode[0] == 'r', is_new = std::strchr(mode, 'x') != nullptr;
  const int fd = open_wide(path, reads ? _O_RDONLY : _O_WRONLY | _O_CREAT | (is_new ? _O_EXCL : _O_TRUNC));
  return fd < 0 ? nullptr : ::_fdopen(fd, reads ? "rb" : "wb");
}
std::FILE* temporary_file() {  // the C runtime's are in the root of the disk, where nobody may write
  wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
  if (::GetTempPathW(MAX_PATH, folder) == 0 || ::GetTempFileNameW(folder, L"steno", 0, name) == 0) {
    errno = EACCES;
    return nullptr;
  }
  const int fd = ::_wopen(name, _O_RDWR | _O_CREAT | _O_TEMPORARY | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
  return fd < 0 ? nullptr : ::_fdopen(fd, "w+b");
}

std::optional<file_facts> facts_of(const std::string& path) {
  const auto facts = information_of(path);
  if (!facts) return std::nullopt;
  constexpr std::uint64_t ticks = 10000000, from_1601_to_1970 = 11644473600;
  const std::uint64_t changed = whole(facts->ftLastWriteTime.dwHighDateTime, facts->ftLastWriteTime.dwLowDateTime);
  return file_facts{whole(facts->nFileSizeHigh, facts->nFileSizeLow),
                    static_cast<std::int64_t>(changed / ticks) - static_cast<std::int64_t>(from_1601_to_1970),
                    static_cast<std::int64_t>(changed % ticks * 100)};
}
std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::string& path) {
  const auto facts = information_of(path);
  if (!facts) return std::nullopt;
  return std::pair<std::uint64_t, std::uint64_t>(facts->dwVolumeSerialNumber,
                                                 whole(facts->nFileIndexHigh, facts->nFileIndexLow));
}

bool may_write(const std::string& path) { return ::_waccess(wide(path).c_str(), 2) == 0; }
bool may_make_files(const std::string& folder) { return ::_waccess(wide(folder).c_str(), 2) == 0; }
bool may_look_into(const std::string& folder) { return ::_waccess(wide(folder).c_str(), 4) == 0; }

void take_over_rights(int, const std::string&) {}  // a new file has its folder's
bool keep(int fd) { return ::_commit(fd) == 0; }
bool put_in_place(const std::string& from, const std::string& to) {
  if (::MoveFileExW(wide(from).c_str(), wide(to).c_str(), MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0)
    return true;
  weights::system::detail::keep_reason();
  return false;
}

// The C runtime takes every device for a terminal.
bool is_terminal(int fd) {
  DWORD mode = 0;
  if (::_isatty(fd) == 0) return false;
  if (::GetConsoleMode(handle_of(fd), &mode) == 0) return false;
  ::SetConsoleMode(handle_of(fd), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);  // of one that is read it stays
  return true;
}
bool is_pipe(int fd) { return ::GetFileType(handle_of(fd)) == FILE_TYPE_PIPE; }
void end_without_reader() {
  constexpr int as_by_signal = 141;  // 128 + SIGPIPE, as shells show it
  const auto reason = _doserrno;     // wine's is the last of them
  if (reason == ERROR_NO_DATA || reason == ERROR_BROKEN_PIPE || reason == ERROR_PIPE_NOT_CONNECTED)
    ::_exit(as_by_signal);
}
unsigned long long terminal_number(int) { return 1; }  // a process has one
int terminal_width(int fd) {
  CONSOLE_SCREEN_BUFFER_INFO facts{};
  if (::GetConsoleScreenBufferInfo(handle_of(fd), &facts) == 0) return 80;
  return facts.srWindow.Right - facts.srWindow.Left + 1;
}

bool ends_as_folder(const std::string& path) { return path.ends_with('/') || path.ends_with('\\'); }

std::string own_program() {
  std::wstring name(32768, L'\0');
  name.resize(::GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size())));
  return fs::path(name).string();
}
double peak_megabytes() {
  PROCESS_MEMORY_COUNTERS facts{};
  if (::K32GetProcessMemoryInfo(::GetCurrentProcess(), &facts, sizeof facts) == 0) return 0;
  return static_cast<double>(facts.PeakWorkingSetSize) / (1024.0 * 1024.0);
}
std::string variable(const char* name) { return environment(name).value_or(""); }
std::string home_folder() {
  const std::string home = variable("HOME");
  return home.empty() ? variable("USERPROFILE") : home;
}
const char between_paths = ';';
std::string cache_folder(std::string& hint) {
  for (const char* name : {"XDG_CACHE_HOME", "LOCALAPPDATA"})
    if (std::string folder = variable(name); !folder.empty()) return folder;
  hint = "set LOCALAPPDATA";
  return "";
}
std::string how_to_install(const std::string& program) { return "winget install " + program; }

}  // namespace steno::app::system
