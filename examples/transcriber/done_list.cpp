#include "done_list.hpp"

#include <steno/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "folder_entries.hpp"

namespace steno::app {
namespace fs = std::filesystem;

namespace {
// In the directory, without an ending.
std::string path_of(const input& in) { return (fs::path(in.folder) / in.name).string(); }
}  // namespace

done_list::done_list(const std::string& folder, const options& o)
    : folder_(folder),
      model_(o.model),
      formats_(o.output_formats),
      offset_(o.reading.part.offset),
      duration_(o.reading.part.duration.value_or(0)) {
  own_ = (fs::path(folder) / ".steno-done").string();
  if (o.part.count > 1) own_ += "-" + std::to_string(o.part.index) + "-of-" + std::to_string(o.part.count);
  for (const fs::path& entry : folder_entries(folder)) {
    if (entry.filename().string().rfind(".steno-done", 0) != 0) continue;
    std::ifstream in(entry, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json said = nlohmann::json::parse(line, nullptr, false);
      if (!said.is_object() || !said.contains("name") || !said["name"].is_string()) continue;
      lines_[said["name"].get<std::string>()] = line;
    }
  }
}

// All that makes the results what they are: another model or other formats are other results.
std::string done_list::line_of(const input& in) const {
  struct stat facts {};
  nlohmann::ordered_json line = {{"name", path_of(in)}, {"audio", in.audio}};
  if (::stat(in.audio.c_str(), &facts) == 0) {
    line["bytes"] = static_cast<std::int64_t>(facts.st_size);
    line["changed"] = static_cast<std::int64_t>(facts.st_mtime);
  }
  line["model"] = model_;
  if (offset_ > 0) line["offset"] = offset_;
  if (duration_ > 0) line["duration"] = duration_;
  line["formats"] = nlohmann::json::array();
  for (const format f : formats_) line["formats"].push_back(steno::app::facts(f).name);
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

bool done_list::files_are_there(const input& in) const {
  std::error_code none;
  for (const format f : formats_)
    if (!fs::is_regular_file((fs::path(folder_) / path_of(in)).string() + std::string(extension(f)), none))
      return false;
  return true;
}

bool done_list::holds(const input& in) const {
  const auto found = lines_.find(path_of(in));
  return found != lines_.end() && found->second == line_of(in) && files_are_there(in);
}

void done_list::add(const input& in) {
  const std::string line = line_of(in) + "\n";
  const int file = ::open(own_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  // A line goes out in one piece; one that is cut by a full disk is no line.
  const bool written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const int why = errno;
  if (file >= 0) ::close(file);
  if (!written) fail({.where = own_, .what = std::string("cannot write: ") + std::strerror(why)});
}

}  // namespace steno::app
