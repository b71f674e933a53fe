// tools/convert/gguf_import.cpp - see gguf_import.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "gguf_import.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <utility>

#include "families.hpp"
#include "funasr/am_mvn.hpp"
#include "model_tensors.hpp"
#include "qwen/qwen3_asr.hpp"

namespace steno {
inline namespace STENO_ABI {

std::uint32_t whole_number(const gguf_file& file, const char* key, std::uint32_t min, std::uint32_t max) {
  const auto v = file.number(key);
  if (!v || *v != static_cast<double>(static_cast<std::uint32_t>(std::clamp(*v, 0.0, 1e9))) || *v < min || *v > max)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = "a number from " + std::to_string(min) + " to " + std::to_string(max),
          .found = v ? std::to_string(*v) : "nothing"});
  return static_cast<std::uint32_t>(*v);
}

namespace {

imported_model repackage(const std::shared_ptr<gguf_file>& file, const packaged_family& family,
                         const import_options& options) {
  imported_model model;
  model.where = file->where();
  model.source = file;
  for (const weights::gguf_value& v : file->values())
    if (v.key != "general.file_type" && !(options.longest_clip && v.key == qwen_files::longest_clip_key))
      model.file.copy(v);
  if (options.longest_clip && family.architecture == qwen_files::asr_architecture)
    model.file.set(qwen_files::longest_clip_key, static_cast<float>(*options.longest_clip));
  checkpoint_tensors from = all_tensors(*file);
  from.compared = checkpoint_tensors::shapes::kept;
  take_tensors(model, *file, std::move(from));
  return model;
}

}  // namespace

// FunASR's own Paraformer files have the architecture that ours have, so the version tells them apart.
bool is_packaged(const gguf_file& file) {
  return file.has("steno.version") && find_packaged(file.text("general.architecture").value_or("")) != nullptr;
}

imported_model import_gguf(gguf_file opened, const import_options& options) {
  const auto file = std::make_shared<gguf_file>(std::move(opened));
  const std::string architecture = file->text("general.architecture").value_or("");
  imported_model model;
  const packaged_family* family = is_packaged(*file) ? find_packaged(architecture) : nullptr;
  std::string known = packaged_names();
  if (family != nullptr) {
    model = repackage(file, *family, options);
  } else {
    for (const published_family& p : published_families()) {
      known.append(", ").append(p.architecture);
      if (p.architecture != architecture) continue;
      model = p.import(file);
      family = find_packaged(p.family);
      if (!options.cmvn && family != nullptr && family->supports_am_mvn && !funasr_files::has_cmvn(model))
        model.notes.push_back(file->where() +
                              ": the file holds no usable feature normalisation; the original applies am.mvn (--cmvn)");
      break;
    }
  }
  if (family == nullptr)
    fail({.where = file->where(),
          .what = "GGUF architecture " + steno::weights::quoted(architecture) + " is not supported yet",
          .expected = "one of " + known});
  if (options.cmvn) {
    if (!family->supports_am_mvn)
      fail({.where = file->where(),
            .what = "a model of architecture " + steno::weights::quoted(architecture) + " has no am.mvn"});
    funasr_files::set_cmvn(model, *options.cmvn);
  }
  return model;
}

}  // namespace STENO_ABI
}  // namespace steno
