// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "system.hpp"

namespace steno::app::system {
namespace fs = std::filesystem;

int open_to_read(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }
int open_new(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }
int open_to_append(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); }
int open_nowhere() { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }
int duplicate(int fd) { return ::fcntl(fd, F_DUPFD_CLOEXEC, 3); }
std::ptrdiff_t read_at(int fd, void* to, std::size_t bytes, std::uint64_t at) {
  return ::pread(fd, to, bytes, static_cast<::off_t>(at));
}

std::FILE* open_stream(const std::string& path, const char* mode) {
  return std::fopen(path.c_str(), (std::string(mode) + "e").c_str());
}
std::FILE* temporary_file() { return std::tmpfile(); }

std::optional<file_facts> facts_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return file_facts{static_cast<std::uint64_t>(facts.st_size), static_cast<std::int64_t>(facts.st_mtim.tv_sec),
                    static_cast<std::int64_t>(facts.st_mtim.tv_nsec)};
}
std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))) return std::nullopt;
  return std::pair<std::uint64_t, std::uint64_t>(facts.st_dev, facts.st_ino);
}

bool may_write(const std::string& path) { return ::access(path.c_str(), W_OK) == 0; }
bool may_make_files(const std::string& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }
bool may_look_into(const std::string& folder) { return ::access(folder.c_str(), R_OK | X_OK) == 0; }

void take_over_rights(int fd, const std::string& old) {
  struct stat facts {};
  if (::stat(old.c_str(), &facts) != 0) return;
  (void)!::fchown(fd, facts.st_uid, facts.st_gid);  // only root may
  (void)!::fchmod(fd, facts.st_mode & 07777);
}
bool keep(int fd) { return ::fsync(fd) == 0 || errno == EINVAL; }
bool put_in_place(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return false;
  // Without this a power cut may forget the rename.
  const std::string folder = fs::path(to).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return true;
  ::fsync(fd);
  ::close(fd);
  return true;
}

bool is_terminal(int fd) { return ::isatty(fd) != 0; }
bool is_pipe(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && (S_ISFIFO(facts.st_mode) || S_ISSOCK(facts.st_mode));
}
void end_without_reader() {}
unsigned long long terminal_number(int fd) {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 ? facts.st_rdev : 0;
}
int terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool ends_as_folder(const std::string& path) { return path.ends_with('/'); }

std::string own_program() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  return failed ? std::string() : program.string();
}
double peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts in KiB
}
std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}
std::string home_folder() { return variable("HOME"); }
const char between_paths = ':';
std::string cache_folder(std::string& hint) {
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache;
  if (const std::string home = home_folder(); !home.empty()) return (fs::path(home) / ".cache").string();
  hint = "set XDG_CACHE_HOME";
  return "";
}
std::string how_to_install(const std::string& program) { return "apt-get install " + program; }

}  // namespace steno::app::system
