// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "ffmpeg.hpp"
#include "folder_entries.hpp"
#include "manifest.hpp"
#include "media_kinds.hpp"
#include "model_path.hpp"
#include "progress.hpp"
#include "shards.hpp"
#include "system.hpp"
#include "text_width.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;
namespace {

// "talk" for rec/talk.wav.
std::string name_of(const std::string& audio) { return audio == "-" ? "stdin" : utf8_path(audio).stem().string(); }

// The recordings of a folder, sorted by name; `below`: where it lies in the one that was named.
class folder_walk {
 public:
  folder_walk(const options& o, std::vector<left_out>* others)
      : recursive_(o.recursive), ffmpeg_(o.reading.ffmpeg), media_(has_ffmpeg(ffmpeg_)), others_(others) {}

  void walk(const fs::path& folder, const std::string& below, std::vector<input>& found) const {
    for (const fs::path& entry : folder_entries(folder)) {
      std::error_code unknown;
      const std::string name = entry.filename().string();
      if (fs::is_directory(entry, unknown)) {
        if (!recursive_ || name.starts_with('.')) continue;
        if (fs::is_symlink(entry, unknown))
          leave(entry, "links to folders are not followed; name it to read it");
        else if (!system::may_look_into(entry.string()))
          leave(entry, std::strerror(errno));
        else
          walk(entry, below.empty() ? name : below + "/" + name, found);
        continue;
      }
      const bool media = named_as_media(entry);
      if (named_as_sound(entry) || (media && media_))
        found.push_back({entry.string(), name_of(entry.string()), below});
      else if (media)
        leave(entry, "it is read with ffmpeg: " + ffmpeg_is_missing("", "such a file", ffmpeg_).hint);
    }
  }

 private:
  void leave(const fs::path& entry, std::string why) const {
    if (others_ != nullptr) others_->push_back({entry.string(), std::move(why)});
  }

  bool recursive_;
  std::string ffmpeg_;
  bool media_;
  std::vector<left_out>* others_;
};

void add_audio(std::vector<input>& list, const std::string& path, const folder_walk& folders) {
  std::error_code failed;
  std::vector<input> found;
  if (path != "-" && fs::is_directory(utf8_path(path), failed)) folders.walk(utf8_path(path), "", found);
  if (found.empty()) found.push_back({path, name_of(path)});
  list.insert(list.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
}

// Every shard looks at the whole list, so that all of them refuse it, or none.
void refuse_equal_names(const std::vector<input>& all, const std::string& where, bool in_folders) {
  std::unordered_map<std::string, const input*> taken;
  for (const input& in : all) {
    const std::string name = in_folders ? place_of(in) : in.name;
    if (const auto [at, is_new] = taken.emplace(name, &in); !is_new)
      wrong_usage(at->second->audio + " and " + in.audio + " have one name, " + name + ", " + where +
                  "; give them other names, in a manifest by \"key\", or run them one after the other");
  }
}

input listed_input(const options& o, const manifest_entry& e) {
  const bool has_part = e.part.offset > 0 || e.part.duration;
  if (has_part && (o.reading.part.offset > 0 || o.reading.part.duration))
    wrong_usage("--offset and --duration: " + o.manifest + " says what is listened to of " + e.audio);
  if (has_part && o.decoding.clip_timestamps)
    wrong_usage("--clip-timestamps: " + o.manifest + " says what is listened to of " + e.audio);
  return {
      .audio = e.audio, .name = e.name.empty() ? name_of(e.audio) : e.name, .part = has_part ? e.part : o.reading.part};
}

}  // namespace

std::vector<input> gather_inputs(const options& o, std::vector<left_out>* others, std::vector<std::string>* notes) {
  std::vector<input> all, mine;
  const folder_walk folders(o, others);
  for (const std::string& path : o.audio) add_audio(all, path, folders);
  for (input& in : all) in.part = o.reading.part;
  const std::size_t arguments = all.size();
  manifest listed;
  if (!o.manifest.empty()) listed = read_manifest(o.manifest);
  for (const manifest_entry& e : listed.entries) all.push_back(listed_input(o, e));
  if (notes != nullptr) *notes = std::move(listed.notes);
  std::error_code none;
  if (system::ends_as_folder(o.output) || fs::is_directory(utf8_path(o.output), none))
    refuse_equal_names(all, "in the directory " + o.output, true);
  else if (o.speech.output_format == speech_format::rttm || writes(o, format::rttm))
    refuse_equal_names(all, "in RTTM", false);
  else if (writes(o, format::ctm) || writes(o, format::stm))
    refuse_equal_names(all, writes(o, format::ctm) ? "in CTM" : "in STM", false);

  // Where lengths are told, only what is one's own is looked for in the file system: there may be millions of others.
  const auto find = [&](std::size_t i) {
    if (i >= arguments) all[i].audio = path_of(listed.entries[i - arguments], o.manifest);
  };
  std::vector<std::size_t> shards(all.size(), o.part.number());
  if (o.part.count > 1) {
    std::vector<double> seconds(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double told = i < arguments ? -1 : listed.entries[i - arguments].seconds;
      if (told < 0) find(i);
      seconds[i] = told < 0 ? seconds_by_size(all[i].audio) : told;
    }
    shards = balanced_shards(seconds, o.part.count);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (shards[i] != o.part.number()) continue;
    find(i);
    mine.push_back(std::move(all[i]));
  }
  return mine;
}

audio_options reading_of(const options& o, const input& in) {
  audio_options reading = o.reading;
  reading.part = in.part;
  return reading;
}

std::vector<input> listed_inputs(const options& o, reporter& report) {
  std::vector<left_out> others;
  std::vector<std::string> notes;
  std::vector<input> inputs = gather_inputs(o, &others, &notes);
  for (const left_out& other : others) report.note(other.path + ": left out, because " + other.why);
  for (const std::string& note : notes) report.note(note);
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

std::vector<core::hotword> read_phrases(const std::string& path) {
  constexpr std::size_t longest_list = 100000;
  std::vector<core::hotword> phrases;
  if (path.empty()) return phrases;
  std::ifstream in(utf8_path(path));
  if (!in) fail({.where = path, .what = "not readable"});
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    if (++number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    try {
      if (auto phrase = core::parse_hotword(line)) phrases.push_back(std::move(*phrase));
    } catch (const error& e) {
      core::fault named = e.parts();
      named.where = path + ", line " + std::to_string(number);
      fail(std::move(named));
    }
    if (phrases.size() > longest_list)
      fail({.where = path, .what = "list of hotwords", .expected = std::to_string(longest_list) + " phrases or fewer"});
  }
  return phrases;
}

std::vector<std::string> read_speaker_names(const std::string& path) {
  constexpr std::size_t most_names = 64, longest = 200;
  std::vector<std::string> names;
  if (path.empty()) return names;
  std::ifstream in(utf8_path(path), std::ios::binary);
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
