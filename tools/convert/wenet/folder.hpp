// tools/convert/wenet/folder.hpp - the folder WeNet publishes: train.yaml, final.pt, units.txt, global_cmvn, *.model.
//
// The vocabulary is the file that tokenizer_conf.symbol_table_path names (its last part), as `load_tokenizer` of
// wenet/cli/model.py looks for it, else units.txt, words.txt or lang_char.txt. Older folders have cmvn_file and
// is_json_cmvn at the top of train.yaml. Tested in tests/convert/wenet_test.cpp.
#pragma once
#include <steno/config.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace steno::inline STENO_ABI::wenet {

struct folder {
  std::filesystem::path config, weights, units;
  std::optional<std::filesystem::path> cmvn;    ///< global_cmvn, when the model normalises
  std::optional<std::filesystem::path> pieces;  ///< SentencePiece model of a BPE tokenizer
  bool json_cmvn = true;
  /// Scalars of train.yaml by their path ("encoder_conf.output_size"); nulls are left out.
  std::map<std::string, std::string> settings;

  /// A natural number between `least` and `most`, or `otherwise` when it is not set. Throws steno::error.
  std::uint32_t number(const std::string& key, std::uint32_t otherwise, std::uint32_t least, std::uint32_t most) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;
  /// Throws unless the setting is absent or has this value: what steno computes differently is not silently accepted.
  void require(const std::string& key, const std::string& value) const;
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

}  // namespace steno::inline STENO_ABI::wenet
