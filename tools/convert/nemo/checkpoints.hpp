// tools/convert/nemo/checkpoints.hpp - files of NeMo models, whichever they hold: Parakeet, Canary or Sortformer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <memory>

#include "families.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

/// A .nemo file, a tar with the same content, or a folder that holds one .nemo file.
bool is_checkpoint(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

/// A GGUF file of qvac-parakeet.cpp. Throws steno::error.
imported_model import_published(const std::shared_ptr<gguf_file>& file);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
