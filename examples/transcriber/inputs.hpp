// Which audio to transcribe: files, directories and a manifest become one list, of which a shard may be taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/hotword.hpp>

#include <string>
#include <vector>

#include "options.hpp"

namespace steno::app {

struct input {
  std::string audio;  ///< path, or "-"
  std::string name;   ///< for output files: its id in a manifest, or the file's name without extension, whatever else
                      ///< is in the list
  std::string folder = {};   ///< of output files in a directory: where it lies below the folder that was named, "a/b"
  recording_part part = {};  ///< what is listened to
};

/// Of its output in a directory, without an ending: "a/b/name".
inline std::string place_of(const input& in) { return in.folder.empty() ? in.name : in.folder + "/" + in.name; }

/// What a folder holds that may be expected in the list and is not.
struct left_out {
  std::string path, why;
};

/// The inputs in order: AUDIO arguments (directories replaced by the recordings in them, sorted by name; with
/// o.recursive by those in folders below, too, but not behind links to folders), then the manifest's entries; then the
/// shard of that, by length. Which names are those of recordings depends on whether there is an ffmpeg. Throws
/// steno::error when the manifest is bad, stop when two inputs of the list would go to one file of a directory, or have
/// one name in RTTM, and when options and manifest both say what part is listened to. A directory without sound files
/// stays in the list and fails when it is opened; `others` is told what else there was, `notes` what the manifest says
/// and nobody heeds.
std::vector<input> gather_inputs(const options& o, std::vector<left_out>* others = nullptr,
                                 std::vector<std::string>* notes = nullptr);
/// How this input is opened.
audio_options reading_of(const options& o, const input& in);

class reporter;

/// The same; what was left out or is not heeded is noted.
std::vector<input> listed_inputs(const options& o, reporter& report);
/// Notes that a bundled demonstration model is a toy, unless it hears the bundled recordings.
void tell_toy(const std::string& model, const std::vector<input>& inputs, reporter& report);

/// The lines of a file of phrases, without empty ones; none for an empty path. Throws steno::error.
std::vector<core::hotword> read_phrases(const std::string& path);

/// The lines of a file of speakers' names; none for an empty path. Throws steno::error, with the number of the line.
std::vector<std::string> read_speaker_names(const std::string& path);

}  // namespace steno::app
