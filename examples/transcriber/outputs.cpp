#include "outputs.hpp"

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

outputs::outputs(const options& o, const std::vector<input>& inputs)
    : format_(o.output_format), writer_(o.output_format, inputs.size() > 1) {
  if (o.output.empty()) return;
  std::error_code failed;
  if (o.output.back() == '/' || fs::is_directory(o.output, failed)) {
    folder_ = o.output;
    fs::create_directories(folder_, failed);
    if (failed) fail({.where = folder_, .what = "cannot make the directory: " + failed.message()});
    return;
  }
  for (const input& in : inputs) refuse_same_file(o.output, in);
  path_ = o.output;
  file_ = open(path_);
}

outputs::file outputs::open(const std::string& path) {
  file f(std::fopen(path.c_str(), "wb"));
  if (!f) fail({.where = path, .what = std::string("cannot write: ") + std::strerror(errno)});
  return f;
}

void outputs::put(const std::string& text) {
  if (text.empty()) return;
  if (!folder_.empty() && !file_) file_ = open(path_);  // an input that fails at once leaves no file
  std::FILE* const to = file_ ? file_.get() : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), to) == text.size();
  if (std::fflush(to) != 0 || !written)
    fail({.where = path_.empty() ? "standard output" : path_,
          .what = std::string("cannot write: ") + std::strerror(errno)});
}

void outputs::begin(const input& from) {
  if (!folder_.empty()) {
    path_ = (fs::path(folder_) / (from.name + std::string(extension(format_)))).string();
    refuse_same_file(path_, from);
    file_.reset();
    writer_ = writer(format_);
  }
  writer_.begin(from.audio);
}
void outputs::heard(const segment& s) { put(writer_.add(s)); }
void outputs::end(const result& head) { put(writer_.end(head)); }
void outputs::cut(double seconds_done) { put(writer_.cut(seconds_done)); }

}  // namespace steno::app
