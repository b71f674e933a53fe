// tools/convert/funasr/fsmn_vad.hpp - FSMN-VAD: settings, tensors and keys of its packaged file.
//
// Follows FSMN and FsmnVADStreaming of funasr/models/fsmn_vad_streaming; defaults are theirs. Schema: docs/formats.md.
// Tested in tests/convert/fsmn_vad_test.cpp and tests/parity/fsmn_vad_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
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

struct fsmn_vad_settings {
  std::uint32_t input_affine_dim = 140, linear_dim = 250, proj_dim = 128, fsmn_layers = 4, lorder = 20,
                output_affine_dim = 140, output_dim = 248;
  frontend_settings frontend = {.lfr_m = 5, .lfr_n = 1};
  std::map<std::string, double> post;  ///< settings of the segmentation by the original's names; absent: its defaults
};

/// The settings of a folder. Throws steno::error for those that compute something else, and for unknown ones that may.
fsmn_vad_settings read_fsmn_vad_settings(const folder& f, std::vector<std::string>& notes);

/// Walks the model of a packaged file's keys.
void walk_fsmn_vad(const gguf_file& keys, tensor_taker& taker);

/// Imports a GGUF file that FunASR publishes. Throws steno::error.
imported_model import_published_fsmn_vad(const std::shared_ptr<gguf_file>& file);

/// Imports the folder; `cmvn` replaces the folder's own am.mvn. Throws steno::error.
imported_model import_fsmn_vad(const folder& f, const std::optional<std::filesystem::path>& cmvn);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
