#include "inputs.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace steno::app {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 18> sound_extensions = {".aif",  ".aifc", ".aiff", ".au",  ".caf",  ".flac",
                                                               ".m4a",  ".mp2",  ".mp3",  ".oga", ".ogg",  ".opus",
                                                               ".rf64", ".snd",  ".w64",  ".wav", ".wave", ".wma"};

// Hidden files are left out: some systems leave "._talk.wav" beside each file.
bool sound_file_name(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return !path.filename().string().starts_with('.') &&
         std::find(sound_extensions.begin(), sound_extensions.end(), ending) != sound_extensions.end();
}

void add_audio(std::vector<std::string>& list, const std::string& path) {
  std::error_code failed;
  std::vector<std::string> found;
  if (path != "-" && fs::is_directory(path, failed))
    for (fs::directory_iterator entry(path, failed), end; !failed && entry != end; entry.increment(failed)) {
      std::error_code unknown;
      if (sound_file_name(entry->path()) && !entry->is_directory(unknown)) found.push_back(entry->path().string());
    }
  if (found.empty()) found.push_back(path);
  std::sort(found.begin(), found.end());
  list.insert(list.end(), found.begin(), found.end());
}

// "talk" for rec/talk.wav; "talk.wav" where talk.flac is there too; "talk.wav-2" for the second file of one name.
std::vector<input> with_names(std::vector<std::string> list) {
  const auto stem = [](const std::string& audio) {
    return audio == "-" ? std::string("stdin") : fs::path(audio).stem().string();
  };
  std::map<std::string, int> stems;
  for (const std::string& audio : list) ++stems[stem(audio)];
  std::set<std::string> taken;
  std::vector<input> inputs;
  for (std::string& audio : list) {
    const std::string plain = stem(audio), base = stems[plain] == 1 ? plain : fs::path(audio).filename().string();
    std::string name = base;
    for (int n = 2; !taken.insert(name).second; ++n) name = base + "-" + std::to_string(n);
    inputs.push_back({std::move(audio), std::move(name)});
  }
  return inputs;
}

}  // namespace

std::vector<std::string> read_manifest(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail({.where = path, .what = std::string("cannot read the manifest: ") + std::strerror(errno)});
  const fs::path folder = fs::path(path).parent_path();
  std::vector<std::string> list;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const nlohmann::json entry = nlohmann::json::parse(line, nullptr, false);
    const bool good = entry.is_object() && entry.contains("audio") && entry["audio"].is_string() &&
                      !entry["audio"].get_ref<const std::string&>().empty();
    if (!good)
      fail({.where = path + ":" + std::to_string(number),
            .what = "not a manifest entry",
            .expected = "a JSON object with \"audio\": PATH"});
    list.push_back((folder / entry["audio"].get<std::string>()).string());
  }
  if (file.bad()) fail({.where = path, .what = std::string("cannot read the manifest: ") + std::strerror(errno)});
  if (list.empty()) fail({.where = path, .what = "the manifest names no audio"});
  return list;
}

std::vector<input> gather_inputs(const options& o) {
  std::vector<std::string> list;
  for (const std::string& path : o.audio) add_audio(list, path);
  if (!o.manifest.empty())
    for (const std::string& path : read_manifest(o.manifest)) add_audio(list, path);
  std::vector<input> all = with_names(std::move(list)), mine;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (o.part.takes(i)) mine.push_back(std::move(all[i]));
  return mine;
}

std::vector<std::string> read_phrases(const std::string& path) {
  std::vector<std::string> phrases;
  if (path.empty()) return phrases;
  std::ifstream in(path);
  if (!in) fail({.where = path, .what = "not readable"});
  for (std::string line; std::getline(in, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) phrases.push_back(line);
  }
  return phrases;
}

}  // namespace steno::app
