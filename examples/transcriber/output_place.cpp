#include "output_place.hpp"

#include <steno/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace steno::app {
namespace fs = std::filesystem;
namespace {

void refuse_same_file(const std::string& output, const input& in) {
  std::error_code none;
  if (in.audio != "-" && fs::equivalent(output, in.audio, none))
    wrong_usage("the output " + output + " would overwrite the input " + in.audio);
}

}  // namespace

output_place::output_place(const std::string& path, const std::vector<input>& inputs) {
  if (path.empty()) return;
  std::error_code failed;
  if (path.back() == '/' || fs::is_directory(path, failed)) {
    folder_ = path;
    fs::create_directories(folder_, failed);
    if (failed) fail({.where = folder_, .what = "cannot make the directory: " + failed.message()});
    return;
  }
  for (const input& in : inputs) refuse_same_file(path, in);
  path_ = path;
  file_ = open(path_);
}

output_place::file output_place::open(const std::string& path) {
  file f(std::fopen(path.c_str(), "wb"));
  if (!f) fail({.where = path, .what = std::string("cannot write: ") + std::strerror(errno)});
  return f;
}

void output_place::begin(const input& from, std::string_view extension) {
  if (folder_.empty()) return;
  path_ = (fs::path(folder_) / from.name).string() + std::string(extension);
  refuse_same_file(path_, from);
  file_.reset();
}

void output_place::put(std::string_view text) {
  if (!folder_.empty() && !file_) file_ = open(path_);
  std::FILE* const to = file_ ? file_.get() : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), to) == text.size();
  if (std::fflush(to) != 0 || !written)
    fail({.where = path_.empty() ? "standard output" : path_,
          .what = std::string("cannot write: ") + std::strerror(errno)});
}

}  // namespace steno::app
