// tools/convert/nemo/checkpoints.cpp - see checkpoints.hpp.
#include "nemo/checkpoints.hpp"

#include <steno/error.hpp>

#include "nemo/parakeet.hpp"
#include "nemo/sortformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

bool is_checkpoint(const std::filesystem::path& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  if (path.extension() == ".nemo") return true;
  return is_tar(weights::mapped_file(path.string()).bytes());
}

imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options) {
  if (options.cmvn)
    fail(
        {.where = path.string(), .what = "--cmvn is for FunASR models", .hint = "NeMo normalises each clip by itself"});
  const auto archive = std::make_shared<nemo_archive>(path);
  return is_sortformer(archive->config) ? import_sortformer(archive) : import_parakeet(archive);
}

imported_model import_published(const std::shared_ptr<gguf_file>& file) {
  return is_published_sortformer(*file) ? import_published_sortformer(file) : import_published_parakeet(file);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
