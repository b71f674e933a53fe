// tools/convert/wenet/folder.hpp - the folder WeNet publishes: train.yaml, final.pt, units.txt, global_cmvn, *.model.
//
// The vocabulary is the file that tokenizer_conf.symbol_table_path names (its last part), as `load_tokenizer` of
// wenet/cli/model.py looks for it, else units.txt, words.txt or lang_char.txt. Older folders have cmvn_file and
// is_json_cmvn at the top of train.yaml. Tested in tests/convert/wenet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml_settings.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace wenet_files {

/// With the scalars of train.yaml.
struct folder : checkpoint_settings {
  std::filesystem::path config, weights, units;
  std::optional<std::filesystem::path> cmvn;    ///< global_cmvn, when the model normalises
  std::optional<std::filesystem::path> pieces;  ///< SentencePiece model of a BPE tokenizer
  bool json_cmvn = true;
};

/// Whether `path` is a folder with train.yaml.
bool is_folder(const std::filesystem::path& path);

/// Opens a folder; `weights` (a file in it) replaces final.pt. Throws steno::error.
folder open_folder(const std::filesystem::path& path, const std::optional<std::filesystem::path>& weights = {});

/// units.txt: lines "TOKEN ID"; ids 0 .. n - 1 in any order. Throws steno::error.
std::vector<std::string> read_units(const std::filesystem::path& path);

/// Means and reciprocal deviations of a global_cmvn file (JSON sums, or Kaldi's text).
struct cmvn_statistics {
  std::vector<float> mean, istd;
};
cmvn_statistics read_cmvn(const std::filesystem::path& path, bool json);

/// The same from a file's text; `where` names it in errors.
std::vector<std::string> parse_units(std::string_view text, const std::string& where);
cmvn_statistics parse_cmvn(std::string_view text, const std::string& where, bool json);

}  // namespace wenet_files
}  // namespace STENO_ABI
}  // namespace steno
