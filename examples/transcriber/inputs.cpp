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

#include "folder_entries.hpp"
#include "model_path.hpp"
#include "progress.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 16> readable = {".aif", ".aifc", ".aiff", ".au",  ".caf",  ".flac",
                                                       ".mp2", ".mp3",  ".oga",  ".ogg", ".opus", ".rf64",
                                                       ".snd", ".w64",  ".wav",  ".wave"};
constexpr std::array<std::string_view, 6> unreadable = {".aac", ".amr", ".m4a", ".mka", ".webm", ".wma"};

// Hidden files are left out: some systems leave "._talk.wav" beside each file.
template <std::size_t N>
bool sound_file_name(const fs::path& path, const std::array<std::string_view, N>& endings) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return !path.filename().string().starts_with('.') &&
         std::find(endings.begin(), endings.end(), ending) != endings.end();
}

void add_audio(std::vector<std::string>& list, const std::string& path, std::vector<std::string>* left_out) {
  std::error_code failed;
  std::vector<std::string> found;
  if (path != "-" && fs::is_directory(path, failed))
    for (const fs::path& entry : folder_entries(path)) {
      std::error_code unknown;
      if (fs::is_directory(entry, unknown)) continue;
      if (sound_file_name(entry, readable)) found.push_back(entry.string());
      if (left_out != nullptr && sound_file_name(entry, unreadable)) left_out->push_back(entry.string());
    }
  if (found.empty()) found.push_back(path);
  std::sort(found.begin(), found.end());
  list.insert(list.end(), found.begin(), found.end());
}

// "talk" for rec/talk.wav.
std::string name_of(const std::string& audio) { return audio == "-" ? "stdin" : fs::path(audio).stem().string(); }

// Every shard looks at the whole list, so that all of them refuse it, or none.
void refuse_equal_names(const std::vector<input>& all, const std::string& where) {
  std::map<std::string, std::string> taken;
  for (const input& in : all)
    if (const auto [at, is_new] = taken.emplace(in.name, in.audio); !is_new)
      wrong_usage(at->second + " and " + in.audio + " have one name, " + in.name + ", " + where +
                  "; give them other names, or run them one after the other");
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

std::vector<input> gather_inputs(const options& o, std::vector<std::string>* left_out) {
  std::vector<std::string> list;
  for (const std::string& path : o.audio) add_audio(list, path, left_out);
  if (!o.manifest.empty())
    for (const std::string& path : read_manifest(o.manifest)) add_audio(list, path, left_out);
  std::vector<input> all, mine;
  for (std::string& audio : list) {
    std::string name = name_of(audio);
    all.push_back({std::move(audio), std::move(name)});
  }
  std::error_code none;
  if (!o.output.empty() && (o.output.back() == '/' || fs::is_directory(o.output, none)))
    refuse_equal_names(all, "in the directory " + o.output);
  else if (o.speech.output_format == speech_format::rttm || writes(o, format::rttm))
    refuse_equal_names(all, "in RTTM");
  else if (writes(o, format::ctm) || writes(o, format::stm))
    refuse_equal_names(all, writes(o, format::ctm) ? "in CTM" : "in STM");
  for (std::size_t i = 0; i < all.size(); ++i)
    if (o.part.takes(i)) mine.push_back(std::move(all[i]));
  return mine;
}

std::vector<input> listed_inputs(const options& o, reporter& report) {
  std::vector<std::string> left_out;
  std::vector<input> inputs = gather_inputs(o, &left_out);
  for (const std::string& path : left_out)
    report.note(path +
                ": left out, because this format is not read (convert it: ffmpeg -i FILE -ac 1 -ar 16000 out.wav)");
  return inputs;
}

void tell_toy(const std::string& model, const std::vector<input>& inputs, reporter& report) {
  if (!is_demo_model(model) ||
      std::all_of(inputs.begin(), inputs.end(), [](const input& in) { return is_demo_recording(in.audio); }))
    return;
  report.note(
      "the bundled demo model is a toy: it knows a few hundred words of synthetic speech; for other recordings "
      "pass -m MODEL");
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

std::vector<std::string> read_speaker_names(const std::string& path) {
  constexpr std::size_t most_names = 64, longest = 200;
  std::vector<std::string> names;
  if (path.empty()) return names;
  std::ifstream in(path, std::ios::binary);
  if (!in) fail({.where = path, .what = "not readable"});
  for (std::string line; std::getline(in, line);) {
    if (names.empty() && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    const std::string where = path + ", line " + std::to_string(names.size() + 1);
    const auto refuse = [&](const char* what, const char* expected) {
      fail({.where = where, .what = what, .expected = expected});
    };
    if (line.size() > longest) refuse("a speaker's name is too long", "at most 200 bytes");
    const std::string clean = one_line(line);
    if (clean.empty()) refuse("no name", "the name of a speaker on each line");
    if (clean != line) refuse("no name", "a name in UTF-8 without control characters and outer spaces");
    if (std::find(names.begin(), names.end(), line) != names.end())
      refuse("a speaker has this name already", "a name for each");
    if (names.size() == most_names) refuse("too many names", "at most 64");
    names.push_back(std::move(line));
  }
  if (in.bad()) fail({.where = path, .what = "not readable"});
  if (names.empty()) fail({.where = path, .what = "no names", .expected = "the name of a speaker on each line"});
  return names;
}

}  // namespace steno::app
