// tools/convert/nemo/parakeet_folder.hpp - Parakeet and Nemotron as transformers has them: a folder of config.json,
// tokenizer.json, the extractor's settings and safetensors (ParakeetForCTC, ParakeetForTDT, ParakeetForRNNT,
// Nemotron3_5AsrForRNNT, NemotronAsrStreamingForRNNT).
//
// It becomes what the .nemo archive of the same model becomes. Which keys are read and which have no effect is listed
// in parakeet_folder_settings.cpp. Tested in tests/convert/parakeet_folder_test.cpp and
// tests/parity/parakeet_folder_test.cpp, fuzzed by tests/fuzz/parakeet_folder_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "families.hpp"
#include "nemo/parakeet.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

/// What config.json and its neighbours say.
struct parakeet_folder_settings : parakeet_settings {
  std::string kind;              ///< ctc, tdt or rnnt
  bool streaming = false;        ///< of Nemotron's classes, which say less: everything is causal, norms are of layers
  bool convolution_bias = true;  ///< of the convolutions; `bias` is of attention and feed-forward parts
};
/// Reads all JSON files of a folder but tokenizer.json. Throws steno::error for what steno computes differently.
parakeet_folder_settings read_parakeet_folder(const std::filesystem::path& folder);

/// The labels of tokenizer.json: tokens 0 to `count` - 1. Throws steno::error.
tokenizers::sentencepiece_vocabulary read_tokenizer_json(const std::filesystem::path& file, std::uint32_t count,
                                                         std::vector<std::string>& notes);

/// What transformers calls a tensor of the model; Nemotron's classes name the subsampling otherwise.
std::string transformers_name(std::string name);
std::string nemotron_name(std::string name);

/// A folder whose config.json has a model_type of Parakeet or Nemotron, or a file of weights in one.
bool is_parakeet_folder(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_parakeet_folder(const std::filesystem::path& path, const import_options& options);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
