// tools/convert/funasr/folder.hpp - the folder FunASR publishes: which files it has and what config.yaml says.
//
// configuration.json names the files under "file_path_metas" (init_param, config, tokenizer_conf.bpemodel,
// frontend_conf.cmvn_file), and those names win over config.yaml, as in AutoModel of funasr/auto/auto_model.py and
// funasr/download/download_model_from_hub.py. Without it, model.pt, am.mvn and *.bpe.model beside config.yaml are
// taken. Tested in tests/convert/funasr_test.cpp.
#pragma once
#include <steno/config.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace steno::inline STENO_ABI::funasr {

struct folder {
  std::filesystem::path config;                 ///< config.yaml
  std::filesystem::path weights;                ///< model.pt
  std::optional<std::filesystem::path> cmvn;    ///< am.mvn, when the checkpoint applies one
  std::optional<std::filesystem::path> pieces;  ///< *.bpe.model
  std::optional<std::filesystem::path> tokens;  ///< tokens.json
  /// Scalars of config.yaml by their path ("encoder_conf.output_size"); nulls are left out.
  std::map<std::string, std::string> settings;
  /// Lists of scalars, by their path.
  std::map<std::string, std::vector<std::string>> lists;

  /// A natural number between `least` and `most`, or `otherwise` when it is not set. Throws steno::error.
  std::uint32_t number(const std::string& key, std::uint32_t otherwise, std::uint32_t least, std::uint32_t most) const;
  /// Any number in [low, high], or `otherwise`. Throws steno::error.
  double real(const std::string& key, double otherwise, double low, double high) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  /// Throws unless the setting is absent or has this value: what steno computes differently is not silently accepted.
  void require(const std::string& key, const std::string& value) const;
  /// What tokens.json holds. Throws steno::error.
  std::vector<std::string> read_tokens() const;
};

/// Whether `path` is a folder that looks like FunASR's.
bool is_folder(const std::filesystem::path& path);

/// Opens a folder; `weights` (a file in it) replaces the name of the weights. Throws steno::error.
folder open_folder(const std::filesystem::path& path, const std::optional<std::filesystem::path>& weights = {});

}  // namespace steno::inline STENO_ABI::funasr
