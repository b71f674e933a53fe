// A file that names recordings: JSON lines (ours, NeMo's, FunASR's), Kaldi's wav.scp, or a path on each line.
//
// Which it is: a name that ends in .scp is Kaldi's; one that ends in .json or .jsonl, or a first line that begins with
// an opening brace, is JSON lines; anything else is a list of paths. Nothing in it is ever run or fetched.
//
//   {"audio": "a.wav"}                                             ours: relative to the manifest
//   {"audio_filepath": "a.wav", "offset": 1.5, "duration": 2.0}    NeMo's (audio_filename in its older ones)
//   {"key": "utt1", "source": "a.wav", "source_len": 200}          FunASR's
//   utt1 a.wav                                                     wav.scp
// Originals: nemo/collections/common/parts/preprocessing/manifest.py, funasr/auto/auto_model.py
// (prepare_data_iterator), Kaldi's "rxfilenames" (util/kaldi-io.h). Tested in tests/transcriber/manifest_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "channels.hpp"

namespace steno::app {

struct manifest_entry {
  std::string audio;          ///< the path, as it is written
  std::string name = {};      ///< of results: the entry's id, or nothing
  recording_part part = {};   ///< what is listened to
  double seconds = -1;        ///< of audio, as it is told; negative: it is not
  bool beside_manifest = {};  ///< a relative path is never looked for in the working directory
};

struct manifest {
  std::vector<manifest_entry> entries;
  std::vector<std::string> notes;  ///< what entries say and nobody heeds
};

/// Throws steno::error, with the number of the line: what is no entry, a command in a wav.scp, an id that no file can
/// be named by, an id that comes twice.
manifest read_manifest(const std::string& path);

/// Where the recording of an entry is: a relative path is that of the working directory when there is such a file, as
/// NeMo, FunASR and Kaldi have it, else relative to the manifest, as NeMo has it.
std::string path_of(const manifest_entry& entry, const std::string& manifest_path);

}  // namespace steno::app
