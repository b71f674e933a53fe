// steno/models/hotword_phrases.hpp - hotwords as FunASR's models take them: from a packaged file's dictionary to lists
// of ids.
//
// Tested in tests/models/seaco_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/metadata.hpp>
#include <steno/tokenizers/hotword_pieces.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// The id of <s>, which stands for "none of the hotwords".
inline constexpr int no_hotword = 1;

/// Tokens and dictionary (tokenizer.hotwords.dictionary) of a file. Throws steno::error.
STENO_ON_CALL STENO_COLD inline tokenizers::hotword_pieces read_hotword_pieces(const gguf_file& file) {
  constexpr std::size_t max_count = std::size_t{1} << 22;
  constexpr std::string_view key = "tokenizer.hotwords.dictionary";
  std::optional<std::vector<std::string>> dictionary;
  if (const weights::gguf_value* const v = file.value(key); v != nullptr) {
    if (v->count > max_count)
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(key),
            .expected = "up to " + std::to_string(max_count) + " words",
            .found = std::to_string(v->count)});
    dictionary = file.strings(key);
  }
  return made_of(file, key, [&] { return tokenizers::hotword_pieces(read_tokens(file), std::move(dictionary)); });
}

/// Ids of each phrase, and of <s> behind them. Throws steno::error for a phrase without a word.
STENO_ON_CALL STENO_COLD inline std::vector<std::vector<int>> split_hotwords(const tokenizers::hotword_pieces& pieces,
                                                                             std::span<const std::string> phrases) {
  std::vector<std::vector<int>> all;
  for (const std::string& p : phrases) {
    all.push_back(pieces.split(p));
    if (all.back().empty()) fail({.what = "hotword " + steno::weights::quoted(p), .expected = "one word or more"});
  }
  all.push_back({no_hotword});
  return all;
}

}  // namespace models
}  // namespace STENO_ABI
}  // namespace steno
