// tools/convert/funasr/sense_voice.hpp - SenseVoiceSmall: settings, tensors and keys of its packaged file.
//
// Follows SenseVoiceSmall and SenseVoiceEncoderSmall of funasr/models/sense_voice/model.py; defaults are theirs and
// those of WavFrontend. Tensor names are the checkpoint's own. Schema: docs/formats.md.
// Tested in tests/convert/funasr_test.cpp and convert_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/tokenizers/vocabulary.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "funasr/settings.hpp"
#include "funasr/tensors.hpp"
#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

struct folder;

struct sense_voice_settings {
  std::uint32_t attention_heads = 4, kernel_size = 11, num_blocks = 6, tp_blocks = 0, output_size = 256,
                linear_units = 2048, blank_id = 0;
  frontend_settings frontend = {};
  std::string language = "auto";  ///< of the query, where nobody asks for one
  bool use_itn = false;           ///< the same of inverse text normalisation
};

/// The settings of a folder. Throws steno::error for those that compute something else, and for unknown ones that may.
sense_voice_settings read_sense_voice_settings(const folder& f, std::vector<std::string>& notes);

/// What the settings say of the tensors.
void promise_sense_voice(checkpoint_tensors& from, const sense_voice_settings& s, std::size_t vocabulary);

/// Walks the model of a packaged file's keys.
void walk_sense_voice(const gguf_file& keys, tensor_taker& taker);

/// Sets all keys but general.file_type.
void set_sense_voice_keys(weights::gguf_writer& file, const sense_voice_settings& s,
                          const tokenizers::sentencepiece_vocabulary& v);

/// Imports a GGUF file that FunASR publishes. Throws steno::error.
imported_model import_published_sense_voice(const std::shared_ptr<gguf_file>& file);

/// Imports the folder; `cmvn` replaces the folder's own am.mvn. Throws steno::error.
imported_model import_sense_voice(const folder& f, const std::optional<std::filesystem::path>& cmvn);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
