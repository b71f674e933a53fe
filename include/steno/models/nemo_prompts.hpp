// steno/models/nemo_prompts.hpp - languages that a model of NeMo takes as prompts, and their numbers.
//
// `prompt_dictionary` of model_defaults (rnnt_bpe_models_prompt.py, hybrid_rnnt_ctc_bpe_models_prompt.py): many names
// share a number (en, en-US), and numbers have gaps. Tested in tests/models/nemo_prompts_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/metadata.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// "en-US" of a label "<en-US>" with which a model says what it recognised; empty for any other label.
constexpr std::string_view language_of_tag(std::string_view piece) noexcept {
  if (piece.size() < 7 || piece.size() > 8 || piece.front() != '<' || piece.back() != '>') return {};
  const std::string_view name = piece.substr(1, piece.size() - 2);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool dash = i + 3 == name.size(), lower = name[i] >= 'a' && name[i] <= 'z';
    const bool capital = name[i] >= 'A' && name[i] <= 'Z' && i + 3 > name.size();
    if (dash ? name[i] != '-' : !lower && !capital) return {};
  }
  return name;
}

/// Languages by name, as the model's file lists them.
struct nemo_prompts {
  std::vector<std::string> names = {};  ///< in the file's order; empty: the model takes no prompt
  std::vector<int> numbers = {};        ///< of their prompts
  int usual = -1;                       ///< of the prompt where no language is given; -1: one has to be

  bool empty() const noexcept { return names.empty(); }  ///< the model takes no prompt
  /// The number of a name's prompt; nothing for a name that is not known.
  STENO_ON_CALL std::optional<int> find(std::string_view name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return numbers[static_cast<std::size_t>(found - names.begin())];
  }
  /// Names of languages: all but "auto", which is none.
  STENO_ON_CALL std::vector<std::string> languages() const {
    std::vector<std::string> all;
    for (const std::string& name : names)
      if (name != "auto") all.push_back(name);
    return all;
  }
  /// The number of a language's prompt; of "auto" the usual one, and -1 where the model takes none. Throws steno::error
  /// for a language that it does not know, and for "auto" where nothing is usual.
  STENO_ON_CALL STENO_COLD int prompt_of(std::string_view language) const {
    if (language == "auto" && (usual >= 0 || empty())) return usual;
    if (const auto known = find(language)) return *known;
    std::string known;
    for (const std::string& name : languages()) known.append(known.empty() ? "" : ", ").append(name);
    fail({.what = "language " + steno::weights::quoted(std::string(language)),
          .expected = empty() ? "auto: the model takes none" : "one of " + known});
  }
};

/// The prompts under `prefix`.prompt.*; none where the file has no such keys. Throws steno::error.
STENO_ON_CALL STENO_COLD inline nemo_prompts read_nemo_prompts(const gguf_file& file, std::string_view prefix) {
  constexpr int max_prompts = 1 << 16;
  constexpr std::size_t max_names = 4096;
  const std::string at = std::string(prefix) + ".prompt.";
  nemo_prompts p;
  if (!file.has(at + "names")) return p;
  p.numbers = models::read_wholes(file, at + "numbers", 0, max_prompts - 1, max_names);
  p.names = file.strings(at + "names");
  if (p.names.size() != p.numbers.size() || p.names.empty())
    fail({.where = file.where(),
          .what = "keys " + steno::weights::quoted(at + "names") + " and numbers",
          .expected = "as many of each, one at least",
          .found = std::to_string(p.names.size()) + " and " + std::to_string(p.numbers.size())});
  p.usual = static_cast<int>(models::read_whole(file, at + "usual", -1, max_prompts - 1, -1));
  return p;
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
