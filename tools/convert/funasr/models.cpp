// tools/convert/funasr/models.cpp - see models.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/models.hpp"

#include <steno/error.hpp>

#include <string_view>

#include "content.hpp"
#include "folder_entries.hpp"
#include "funasr/folder.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace fs = std::filesystem;

namespace {

struct importer {
  std::string_view model;  // of config.yaml
  imported_model (*import)(const folder& f, const std::optional<fs::path>& cmvn);
};
constexpr importer importers[] = {
    {"SenseVoiceSmall", import_sense_voice},     {"Paraformer", import_paraformer},
    {"FsmnVADStreaming", import_fsmn_vad},       {"ParaformerStreaming", import_paraformer},
    {"CTTransformer", import_ct_punc},           {"FunASRNano", import_nano},
    {"SeacoParaformer", import_paraformer},      {"BiCifParaformer", import_paraformer},
    {"ContextualParaformer", import_paraformer}, {"CTTransformerStreaming", import_ct_punc},
};

bool describes(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".yaml" || extension == ".json";
}
}  // namespace

bool is_checkpoint(const fs::path& path) {
  if (fs::is_directory(path)) return is_folder(path);
  return (describes(path) || is_torch_file(path)) && is_folder(folder_of(path));
}

imported_model import_checkpoint(const fs::path& path, const import_options& options) {
  const bool whole = fs::is_directory(path);
  std::optional<fs::path> weights;
  if (!whole && !describes(path)) weights = path;
  folder f = open_folder(whole ? path : folder_of(path), weights);
  f.common_words = options.jieba_dict;
  const std::string model = f.text("model", "");
  std::string known;
  for (const importer& i : importers) {
    if (i.model == model) return i.import(f, options.cmvn);
    known.append(known.empty() ? "" : ", ").append(i.model);
  }
  fail({.where = f.config.string(),
        .what = model.empty() ? "names no model" : "model " + steno::weights::quoted(model) + " is not supported yet",
        .expected = known});
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
