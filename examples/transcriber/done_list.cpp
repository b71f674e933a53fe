// SPDX-License-Identifier: Apache-2.0
#include "done_list.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "folder_entries.hpp"
#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;

namespace {

std::string lists_in(const std::string& folder) { return utf8_path(folder, ".steno-done").string(); }

std::string of_shard(const char* kind, const shard& part) {
  if (part.count == 1) return kind;
  return std::string(kind) + "-" + std::to_string(part.index) + "-of-" + std::to_string(part.count);
}

std::string list_line(const nlohmann::ordered_json& line) {
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// What a line says, read again: bytes that are no UTF-8 are U+FFFD there.
std::string as_in_json(const std::string& text) { return nlohmann::json::parse(list_line(text)).get<std::string>(); }

// The bytes of a name that is no UTF-8, so that others which look like it in JSON are not taken for it; else empty.
std::string odd_bytes(const std::string& name) {
  std::string digits;
  if (as_in_json(name) == name) return digits;
  for (const char c : name)
    for (const int shift : {4, 0}) digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  return digits;
}

nlohmann::ordered_json line_about(const input& in) {
  const std::string name = place_of(in), bytes = odd_bytes(name);
  nlohmann::ordered_json line = {{"name", name}, {"audio", in.audio}};
  if (!bytes.empty()) line["name_bytes"] = bytes;
  return line;
}

}  // namespace

void line_file::make() {
  std::error_code failed;
  fs::create_directories(utf8_path(folder_), failed);
  if (failed) fail({.where = folder_, .what = "cannot make the directory: " + failed.message()});
  for (std::size_t number = 1;; ++number) {
    const std::string file = name_ + (number == 1 ? "" : "." + std::to_string(number)) + ".jsonl";
    path_ = utf8_path(folder_, file).string();
    const int made = system::open_new(path_);
    if (made >= 0) {
      ::close(made);
      return;
    }
    if (errno != EEXIST) fail({.where = path_, .what = std::string("cannot write: ") + std::strerror(errno)});
  }
}

void line_file::append(const std::string& line) {
  if (path_.empty()) make();
  const std::string whole = line + "\n";
  const int file = system::open_to_append(path_);
  // A line goes out in one piece; one that is cut by a full disk is no line. A network's file system may say that it is
  // full at the end alone.
  std::string_view rest = whole;
  while (file >= 0 && !rest.empty()) {
    const auto n = ::write(file, rest.data(), static_cast<unsigned>(rest.size()));  // a line
    if (n < 0 && errno != EINTR) break;
    if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
  }
  int why = errno;
  bool written = file >= 0 && rest.empty();
  if (file >= 0 && ::close(file) != 0 && written) {
    written = false;
    why = errno;
  }
  if (!written) fail({.where = path_, .what = std::string("cannot write: ") + std::strerror(why)});
}

done_list::done_list(const std::string& folder, const options& o)
    : folder_(folder),
      model_(o.model),
      formats_(o.output_formats),
      settings_(o.settings),
      done_(lists_in(folder), of_shard("done", o.part)),
      failed_(lists_in(folder), of_shard("failed", o.part)),
      damaged_(lists_in(folder), of_shard("damaged", o.part)) {}

// All that makes the results what they are: another model, other formats or options are other results.
std::string done_list::line_of(const input& in) const {
  nlohmann::ordered_json line = line_about(in);
  if (const auto file = system::facts_of(in.audio)) {
    line["bytes"] = static_cast<std::int64_t>(file->bytes);
    line["changed"] = file->changed;
  }
  line["model"] = model_;
  if (in.part.offset > 0) line["offset"] = in.part.offset;
  if (in.part.duration) line["duration"] = *in.part.duration;
  line["formats"] = nlohmann::json::array();
  for (const format f : formats_) line["formats"].push_back(steno::app::facts(f).name);
  if (!settings_.empty()) line["options"] = settings_;
  return list_line(line);
}

bool done_list::files_are_there(const input& in) const {
  std::error_code none;
  for (const format f : formats_)
    if (!fs::is_regular_file(utf8_path(folder_, place_of(in) + std::string(extension(f))), none)) return false;
  return true;
}

done_list::state done_list::look_up(const std::vector<input>& inputs) const {
  state known{.done = std::vector<std::size_t>(inputs.size())};
  std::unordered_multimap<std::string, std::size_t> numbers;  // several: names that are no UTF-8
  for (std::size_t i = 0; i < inputs.size(); ++i) numbers.emplace(as_in_json(place_of(inputs[i])), i);
  for (const fs::path& list : folder_entries(utf8_path(lists_in(folder_)))) {
    const bool failures = list.filename().string().starts_with("failed");
    std::ifstream in(list, std::ios::binary);
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json said = nlohmann::json::parse(line, nullptr, false);
      const auto text = [&](const char* key) {
        const auto found = said.find(key);
        return found != said.end() && found->is_string() ? found->get<std::string>() : std::string();
      };
      const auto [first, last] = numbers.equal_range(text("name"));  // none: it is another shard's
      for (auto at = first; at != last; ++at) {
        const std::size_t i = at->second;
        if (failures && text("name_bytes") == odd_bytes(place_of(inputs[i])))
          known.reasons[i] = text("failed");
        else if (line == line_of(inputs[i]) && files_are_there(inputs[i]))
          ++known.done[i];
      }
    }
  }
  std::erase_if(known.reasons, [&](const auto& reason) { return known.done[reason.first] > 0; });
  return known;
}

void done_list::add(const input& in) { done_.append(line_of(in)); }

void done_list::add_failure(const input& in, const std::string& reason) {
  nlohmann::ordered_json line = line_about(in);
  line["failed"] = reason;
  failed_.append(list_line(line));
}

void done_list::add_damage(const input& in, const std::string& what) {
  nlohmann::ordered_json line = line_about(in);
  line["damaged"] = what;
  damaged_.append(list_line(line));
}

}  // namespace steno::app
