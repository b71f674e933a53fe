// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <system_error>

#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = utf8_path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

output_file::output_file(const std::string& path) : path_(path), target_(path) {
  std::error_code none;
  const fs::path named = utf8_path(path);
  const fs::file_status there = fs::status(named, none);
  const bool exists = fs::exists(there);
  if (exists && fs::is_regular_file(there)) {
    if (!system::may_write(path)) cannot("cannot write", errno);
    const fs::path target = file_behind_links(named);
    direct_ = target.empty();
    if (!direct_) target_ = target.string();
  } else {
    direct_ = exists || fs::is_symlink(fs::symlink_status(named, none));
  }
  if (exists && !fs::is_regular_file(there)) {
    open();
    return;
  }
  const std::string folder = folder_of(target_);
  if (system::may_make_files(folder)) return;
  if (!exists) cannot("cannot write", errno);
  direct_ = true;
}

void output_file::cannot(const char* what, int number) const {
  std::string hint;
  if (begun_ && written_ != target_) hint = "what was recognised so far is in " + written_;
  fail({.where = path_, .what = std::string(what) + ": " + std::strerror(number), .hint = hint});
}

void output_file::open() {
  const std::string part = target_ + ".part-" + std::to_string(::getpid());
  written_ = direct_ ? target_ : part;
  file_.reset(system::open_stream(written_, direct_ ? "wb" : "wbx"));
  for (int number = 2; !file_ && !direct_ && errno == EEXIST; ++number) {
    written_ = part + "." + std::to_string(number);
    file_.reset(system::open_stream(written_, "wbx"));
  }
  if (!file_) cannot("cannot write", errno);
  begun_ = true;
  if (!direct_) system::take_over_rights(::fileno(file_.get()), target_);
}

void output_file::put(std::string_view text, screen& on) {
  if (!file_) open();
  if (on.put(file_.get(), text)) return;
  failed_ = true;
  cannot("cannot write", errno);
}

void output_file::commit() {
  if (!file_) return;
  if (!direct_ && !system::keep(::fileno(file_.get()))) {
    failed_ = true;
    cannot("cannot write", errno);
  }
  file_.reset();
  if (direct_ || system::put_in_place(written_, target_)) return;
  failed_ = true;
  cannot("cannot put the result in its place", errno);
}

void output_file::drop() {
  if (!file_ || direct_ || failed_) return;  // what could not be written is told, and where the rest is
  file_.reset();
  std::error_code none;
  fs::remove(utf8_path(written_), none);
}

output_file::~output_file() {
  if (failed_) return;
  try {
    commit();
  } catch (const std::exception&) {  // the text stays in FILE.part-PID
  }
}

}  // namespace steno::app
