// The models on this machine, and their names.
//
// Looked for in --models DIR and in the folders of STENO_MODELS (with ':' between), then in steno/models of the data
// directory (XDG_DATA_HOME, else ~/.local/share), then where others keep what they fetched: Hugging Face's cache
// (HF_HUB_CACHE, HF_HOME), ModelScope's (MODELSCOPE_CACHE) and openai-whisper's (XDG_CACHE_HOME). Nothing is fetched.
// Tested in tests/programs/steno_models_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace steno::app {

/// A model that is there.
struct model_here {
  std::string name;            ///< "sense_voice", "openai/whisper-base"
  std::string place;           ///< whose folder: "STENO_MODELS", "Hugging Face's cache", ...
  std::filesystem::path path;  ///< what -m takes
};

/// All of them, place by place in the order above, by name. `more` is searched first; empty: nowhere else.
std::vector<model_here> models_here(const std::string& more);

/// Folders of STENO_MODELS that are none: what `steno models` tells.
std::vector<std::string> missing_folders();

/// What a model is, from how its file or folder begins.
struct model_kind {
  std::string family;  ///< "sense_voice", or of a checkpoint "a FunASR folder"; empty: not known
  std::string format;  ///< of most of a GGUF file's bytes: "q8_0"; of others empty
  std::uint64_t bytes = 0;
};
/// Throws nothing: what cannot be read has no family.
model_kind kind_of(const std::filesystem::path& path);

/// A path that exists stays as it is; a name becomes the path of the first model that has it: the whole name, its last
/// part ("whisper-base"), or what its makers call it ("base", "paraformer-zh"). Else the name. `note` says what was
/// chosen. Throws stop where one place has several.
std::string path_of_model(const std::string& named, const std::string& more, std::vector<std::string>& notes);

/// Where a name that nobody has is published: hints for a message; empty when that is not known.
std::string publication_hint(const std::string& name);

/// `steno models --how NAME`: where it is published, and the two commands that fetch and convert it. Throws stop when
/// it is not known.
std::string how_to_get(const std::string& name);

}  // namespace steno::app
