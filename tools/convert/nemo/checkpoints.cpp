// tools/convert/nemo/checkpoints.cpp - see checkpoints.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/checkpoints.hpp"

#include <steno/error.hpp>

#include "folder_entries.hpp"
#include "foreign_files.hpp"
#include "nemo/canary.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/parakeet_folder.hpp"
#include "nemo/sortformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

namespace {

// The one archive of a folder; empty when there are none or several. One that has not been downloaded is none.
std::filesystem::path archive_in(const std::filesystem::path& folder) {
  std::filesystem::path found;
  for (const std::filesystem::path& file : folder_entries(folder)) {
    std::error_code none;
    if (file.extension() != ".nemo" || !std::filesystem::is_regular_file(file, none) || foreign_file(file)) continue;
    if (!found.empty()) return {};
    found = file;
  }
  return found;
}

}  // namespace

bool is_checkpoint(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return !archive_in(path).empty();
  if (!std::filesystem::is_regular_file(path)) return false;
  if (path.extension() == ".nemo") return true;
  return is_tar(weights::mapped_file(path.string()).bytes());
}

imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options) {
  if (options.cmvn)
    fail(
        {.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "NeMo normalises each clip by itself"});
  const bool folder = std::filesystem::is_directory(path);
  const auto archive = std::make_shared<nemo_archive>(folder ? archive_in(path) : path);
  imported_model model = is_sortformer(archive->config) ? import_sortformer(archive)
                         : is_canary(archive->config)   ? import_canary(archive)
                                                        : import_parakeet(archive);
  if (folder && is_parakeet_folder(path))
    model.notes.push_back(archive->where + " is taken; the folder holds the model in transformers' form, too");
  return model;
}

imported_model import_published(const std::shared_ptr<gguf_file>& file) {
  return is_published_sortformer(*file) ? import_published_sortformer(file) : import_published_parakeet(file);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
