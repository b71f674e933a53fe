// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <steno/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>

namespace steno::app {
namespace fs = std::filesystem;
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Who reads it sees the old file's rights on the new one.
void take_over(int fd, const std::string& old) {
  struct stat facts {};
  if (::stat(old.c_str(), &facts) != 0) return;
  (void)!::fchown(fd, facts.st_uid, facts.st_gid);  // only root may
  (void)!::fchmod(fd, facts.st_mode & 07777);
}

// Without this a power cut may forget the rename.
void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path), target_(path) {
  std::error_code none;
  const fs::file_status there = fs::status(path, none);
  const bool exists = fs::exists(there);
  if (exists && fs::is_regular_file(there)) {
    if (::access(path.c_str(), W_OK) != 0) cannot("cannot write", errno);
    target_ = fs::canonical(path, none).string();
    direct_ = target_.empty();
  } else {
    direct_ = exists || fs::is_symlink(fs::symlink_status(path, none));
  }
  if (exists && !fs::is_regular_file(there)) {
    open();
    return;
  }
  const std::string folder = folder_of(target_);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return;
  if (!exists) cannot("cannot write", errno);
  direct_ = true;
}

void output_file::cannot(const char* what, int number) const {
  std::string hint;
  if (file_ && written_ != target_) hint = "what was recognised so far is in " + written_;
  fail({.where = path_, .what = std::string(what) + ": " + std::strerror(number), .hint = hint});
}

void output_file::open() {
  const std::string part = target_ + ".part-" + std::to_string(::getpid());
  written_ = direct_ ? target_ : part;
  file_.reset(std::fopen(written_.c_str(), direct_ ? "wbe" : "wbxe"));
  for (int number = 2; !file_ && !direct_ && errno == EEXIST; ++number) {
    written_ = part + "." + std::to_string(number);
    file_.reset(std::fopen(written_.c_str(), "wbxe"));
  }
  if (!file_) cannot("cannot write", errno);
  if (!direct_) take_over(::fileno(file_.get()), target_);
}

void output_file::put(std::string_view text, screen& on) {
  if (!file_) open();
  if (on.put(file_.get(), text)) return;
  failed_ = true;
  cannot("cannot write", errno);
}

void output_file::commit() {
  if (!file_) return;
  if (!direct_ && ::fsync(::fileno(file_.get())) != 0 && errno != EINVAL) {
    failed_ = true;
    cannot("cannot write", errno);
  }
  if (!direct_ && std::rename(written_.c_str(), target_.c_str()) != 0) {
    failed_ = true;
    cannot("cannot put the result in its place", errno);
  }
  file_.reset();
  if (!direct_) sync_folder(folder_of(target_));
}

void output_file::drop() {
  if (!file_ || direct_ || failed_) return;  // what could not be written is told, and where the rest is
  file_.reset();
  ::unlink(written_.c_str());
}

output_file::~output_file() {
  if (failed_) return;
  try {
    commit();
  } catch (const std::exception&) {  // the text stays in FILE.part-PID
  }
}

}  // namespace steno::app
