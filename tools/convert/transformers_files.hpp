// tools/convert/transformers_files.hpp - what the JSON files of any folder of transformers may hold beside a model's
// own settings: keys of its classes, of its searches, of its feature extractors and tokenizers.
//
// Keys that have no effect stand in lists, each with its reason; those that change a result are compared with what
// steno does. Tested in tests/convert/whisper_settings_test.cpp and tests/convert/qwen3_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint_settings.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace huggingface {

/// What any class of transformers' may have written into config.json, under `prefix`, and `own`.
std::vector<unused_setting> with_any_class(std::span<const unused_setting> own);

/// Notes settings of transformers' search that differ from its defaults: steno has searches of its own.
void note_searches(const checkpoint_settings& generation, std::vector<std::string>& notes);
/// Its keys, as what generation_config.json decides.
void add_search_keys(std::vector<unused_setting>& unused, std::string_view reason);

/// Compares numbers of preprocessor_config.json (or of the extractor in processor_config.json) with what steno
/// computes. `lengths` say how long clips are made: that is for steno to decide, so another value is noted. Every key
/// that is in neither and not known to have no effect is an error; without the file nothing happens.
void check_features(const std::filesystem::path& file, std::span<const std::pair<const char*, double>> numbers,
                    std::span<const std::pair<const char*, double>> lengths, std::span<const unused_setting> unused,
                    std::vector<std::string>& notes);

/// Options that would change texts must be off in the folder's tokenizer_config.json, special_tokens_map.json and
/// chat_template.json; what is not known there is noted.
void check_tokenizer_options(const std::filesystem::path& folder, std::vector<std::string>& notes);

}  // namespace huggingface
}  // namespace STENO_ABI
}  // namespace steno
