// tools/convert/whisper/generation.hpp - what the JSON files of a Whisper folder say beside its sizes.
//
// transformers takes what it generates with from generation_config.json, or from config.json where that is missing;
// preprocessor_config.json describes the features. What is read is honoured or refused by name; every other key is on a
// list with the reason, an error or a note. Tested in tests/convert/whisper_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint_settings.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

/// Token ids under `key` of `j`, in order; none for null; nothing when it is not there. Throws steno::error.
std::optional<std::vector<std::uint32_t>> read_token_ids(const checkpoint_settings& f, const nlohmann::json& j,
                                                         const char* key, std::uint32_t vocabulary);
/// Pairs of layer and head under "alignment_heads". Throws steno::error.
std::vector<std::pair<std::uint32_t, std::uint32_t>> read_alignment_heads(const checkpoint_settings& f,
                                                                          const nlohmann::json& j);
/// Compares what `file` says of the features with what steno computes; nothing without the file. Throws steno::error.
void read_features(const std::filesystem::path& file, const settings& s, std::vector<std::string>& notes);

/// Sizes of config.json; their values are checked by package(). Throws steno::error.
settings read_sizes(const checkpoint_settings& config);

/// What `folder` says of generation and features, into `s`, whose sizes are known; `s.text` too where the vocabulary is
/// not a published one. Throws steno::error, also for keys of config.json that nobody read.
void read_folder_settings(const std::filesystem::path& folder, const checkpoint_settings& config, settings& s,
                          std::vector<std::string>& notes);

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
