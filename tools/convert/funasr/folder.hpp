// tools/convert/funasr/folder.hpp - the folder FunASR publishes: which files it has and what config.yaml says.
//
// configuration.json names the files under "file_path_metas" (init_param, config, tokenizer_conf.bpemodel,
// frontend_conf.cmvn_file), and those names win over config.yaml, as in AutoModel of funasr/auto/auto_model.py and
// funasr/download/download_model_from_hub.py. Without it, model.pt, am.mvn, tokens.json and *.bpe.model beside
// config.yaml are taken. Tested in tests/convert/funasr_test.cpp and funasr_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "yaml_settings.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// With the scalars and lists of config.yaml.
struct folder : checkpoint_settings {
  std::filesystem::path root;
  checkpoint_settings names;  ///< of configuration.json

  std::filesystem::path config;                 ///< config.yaml
  std::filesystem::path weights;                ///< model.pt
  std::optional<std::filesystem::path> cmvn;    ///< am.mvn, when the checkpoint applies one
  std::optional<std::filesystem::path> pieces;  ///< *.bpe.model
  std::optional<std::filesystem::path> tokens;  ///< tokens.json or tokens.txt

  std::optional<std::filesystem::path> common_words = {};  ///< jieba's dictionary, where the user names it

  /// The file that configuration.json names under `key` ("tokenizer_conf.token_list", "jieba_usr_dict"), else the one
  /// of the folder that config.yaml names there. Throws steno::error for a name of no file in the folder.
  std::optional<std::filesystem::path> named_file(const std::string& key) const;
  /// The same of a file that FunASR does without: nothing when it is not in the folder.
  std::optional<std::filesystem::path> file_if_there(const std::string& key) const;

  /// What tokens.json, or a tokens.txt, holds. Throws steno::error.
  std::vector<std::string> read_tokens() const;
};

/// Lines of a text file without the white space behind them. Throws steno::error.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Whether `path` is a folder that looks like FunASR's.
bool is_folder(const std::filesystem::path& path);

/// Opens a folder; `weights` (a file in it) replaces the name of the weights. Throws steno::error.
folder open_folder(const std::filesystem::path& path, const std::optional<std::filesystem::path>& weights = {});

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
