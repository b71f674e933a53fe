// SPDX-License-Identifier: Apache-2.0
#include "manifest.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "text_width.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view manifest_blanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const std::size_t from = text.find_first_not_of(manifest_blanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(manifest_blanks) - from + 1);
}

// What other programs would do something about.
constexpr const char* unheeded[] = {"lang",     "language", "source_lang",      "target_lang", "text_language",
                                    "taskname", "pnc",      "with_or_wo_itn",   "prompt",      "hotword",
                                    "channel",  "channels", "channel_selector", "num_speakers"};

// One line after the other of one kind.
class manifest_reader {
 public:
  explicit manifest_reader(const std::string& path) : path_(path) {}

  manifest read() {
    std::ifstream file(utf8_path(path_));
    if (!file) cannot_read();
    std::string line;
    while (std::getline(file, line)) {
      if (++number_ == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
      const std::string_view text = without_blanks(line);
      if (text.empty()) continue;
      if (read_.entries.empty()) kind_ = kind_of(text);
      if (kind_ == kind::objects)
        json_entry(text);
      else if (kind_ == kind::scp)
        scp_entry(text);
      else
        add({.audio = std::string(text)});
    }
    if (file.bad()) cannot_read();
    if (read_.entries.empty()) fail({.where = path_, .what = "the manifest names no audio"});
    for (const auto& [key, entries] : unheeded_)
      read_.notes.push_back(path_ + ": \"" + key + "\" of " + std::to_string(entries) +
                            " entries is not heeded: options hold for all");
    return std::move(read_);
  }

 private:
  enum class kind { objects, scp, list };

  kind kind_of(std::string_view first_line) const {
    const std::string ending = utf8_path(path_).extension().string();
    if (ending == ".scp") return kind::scp;
    return ending == ".json" || ending == ".jsonl" || first_line.front() == '{' ? kind::objects : kind::list;
  }

  [[noreturn]] void cannot_read() const {
    fail({.where = path_, .what = std::string("cannot read the manifest: ") + std::strerror(errno)});
  }
  [[noreturn]] void refuse(core::fault parts) const {
    parts.where = path_ + ":" + std::to_string(number_);
    fail(std::move(parts));
  }

  void json_entry(std::string_view text) {
    const nlohmann::json entry = nlohmann::json::parse(text, nullptr, false);
    std::string_view named;
    for (const std::string_view key : {"audio", "audio_filepath", "audio_filename", "source"})
      if (named.empty() && entry.contains(key)) named = key;
    const auto audio = entry.find(named);
    if (named.empty() || !audio->is_string() || audio->get_ref<const std::string&>().empty())
      refuse({.what = "not a manifest entry",
              .expected = "a JSON object with \"audio\", \"audio_filepath\" or \"source\": PATH"});
    manifest_entry e{.audio = audio->get<std::string>(), .beside_manifest = named == "audio"};
    for (const char* key : {"key", "uniq_id"})
      if (const auto id = entry.find(key); id != entry.end() && !id->is_null()) {
        if (!id->is_string()) refuse({.what = std::string("\"") + key + "\"", .expected = "text"});
        e.name = checked_id(id->get<std::string>());
        break;
      }
    const auto offset = seconds(entry, "offset"), duration = seconds(entry, "duration");
    e.part.offset = offset.value_or(0);
    if (duration.value_or(0) > 0) e.part.duration = duration;  // none at all is the whole recording in NeMo, too
    if (e.name.empty()) e.name = name_of_part(e, offset.has_value());
    if (e.part.duration)
      e.seconds = *e.part.duration;
    else if (const auto frames = seconds(entry, "source_len"))
      e.seconds = *frames / 100;
    for (const char* key : unheeded)
      if (entry.contains(key)) ++unheeded_[key];
    add(std::move(e));
  }

  // As NeMo names a part: in milliseconds.
  static std::string name_of_part(const manifest_entry& e, bool has_offset) {
    if (!has_offset || (e.part.offset <= 0 && !e.part.duration)) return {};
    const auto milliseconds = [](double x) { return "_" + std::to_string(std::llround(x * 1000)); };
    return utf8_path(e.audio).stem().string() + milliseconds(e.part.offset) +
           (e.part.duration ? milliseconds(e.part.offset + *e.part.duration) : "");
  }

  std::optional<double> seconds(const nlohmann::json& entry, const char* key) const {
    constexpr double longest = 1e9;
    const auto found = entry.find(key);
    if (found == entry.end() || found->is_null()) return std::nullopt;
    const double x = found->is_number() ? found->get<double>() : -1;
    if (!(x >= 0 && x <= longest))
      refuse({.what = std::string("\"") + key + "\"", .expected = "a number from 0 on", .found = found->dump()});
    return x;
  }

  void scp_entry(std::string_view text) {
    const std::size_t end = text.find_first_of(manifest_blanks);
    const std::string id(text.substr(0, end));
    const std::string_view audio = end == std::string_view::npos ? "" : without_blanks(text.substr(end));
    if (audio.empty()) refuse({.what = "not an entry of a wav.scp", .expected = "an id, a space and a path"});
    if (audio.back() == '|' || audio.front() == '|')
      refuse({.what = id + " is a command, and none is run",
              .expected = "a path",
              .found = std::string(audio),
              .hint =
                  "name the recording that it reads (SPHERE, FLAC, MP3 and what ffmpeg knows are read as they are), "
                  "or run the commands first and name what they write"});
    const std::size_t colon = audio.find_last_of(':');
    const std::string_view behind = colon == std::string_view::npos ? "" : audio.substr(colon + 1);
    if (!behind.empty() && behind.find_first_not_of("0123456789") == std::string_view::npos)
      refuse({.what = id + " stands inside of an archive",
              .expected = "a path of a recording",
              .found = std::string(audio),
              .hint = "Kaldi's wav-copy writes files of their own"});
    add({.audio = std::string(audio), .name = checked_id(id)});
  }

  void add(manifest_entry e) {
    if (e.audio == "-") refuse({.what = "standard input is no entry of a manifest", .expected = "a path"});
    read_.entries.push_back(std::move(e));
  }

  // It becomes the name of a file.
  std::string checked_id(std::string id) {
    constexpr std::size_t longest = 200;
    if (id.empty() || id.size() > longest || id.front() == '.' || id.find('/') != std::string::npos ||
        one_line(id) != id)
      refuse({.what = "an id that names no file",
              .expected = "1 to 200 bytes of UTF-8 without /, control characters and outer spaces, no . in front",
              .found = id});
    if (const auto [at, is_new] = lines_of_ids_.emplace(id, number_); !is_new)
      refuse({.what = "the id " + id + " comes twice", .hint = "first in line " + std::to_string(at->second)});
    return id;
  }

  const std::string& path_;
  manifest read_;
  kind kind_ = kind::list;
  std::size_t number_ = 0;
  std::unordered_map<std::string, std::size_t> lines_of_ids_;
  std::map<std::string, std::size_t> unheeded_;
};

}  // namespace

manifest read_manifest(const std::string& path) { return manifest_reader(path).read(); }

std::string path_of(const manifest_entry& entry, const std::string& manifest_path) {
  std::error_code none;
  const fs::path audio = utf8_path(entry.audio);
  if (audio.is_absolute() || (!entry.beside_manifest && fs::is_regular_file(audio, none))) return entry.audio;
  return (utf8_path(manifest_path).parent_path() / audio).string();
}

}  // namespace steno::app
