// steno/models/whisper_generation.hpp - what a Whisper file says of generation where it differs from openai's rules.
//
// Fine-tuned models bring such settings (`generation_config.json` of transformers): tokens that never come, languages
// that are known, what the prompt names when the user says nothing. Absent keys mean openai's rules. Schema:
// docs/formats.md. Tested in tests/models/whisper_generation_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/models/metadata.hpp>
#include <steno/tokenizers/whisper_tokens.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// See the file's comment.
struct whisper_generation {
  std::optional<std::vector<int>> suppressed = {};        ///< instead of symbols and special tokens
  std::optional<std::vector<int>> first_suppressed = {};  ///< instead of a blank and the end at the start
  std::vector<int> languages = {};      ///< numbers of those that it knows (whisper_tokens), in order; empty: all
  int language = -1;                    ///< number of the one that is meant when none is named; -1: detected
  bool translate = false;               ///< into English when the user does not say
  std::optional<int> max_initial = {};  ///< the latest first time, in rows of the encoder; none: openai's second

  /// Whether it knows the language of this number.
  bool knows(int number) const {
    return languages.empty() || std::binary_search(languages.begin(), languages.end(), number);
  }
};

namespace detail {

STENO_ON_CALL STENO_COLD inline int read_language(const gguf_file& file, const tokenizers::whisper_tokens& t,
                                                  std::string_view key, const std::string& code) {
  const int n = t.find_language(code);
  if (n < 0)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(key),
          .expected = "codes of the " + std::to_string(t.languages) + " languages that the vocabulary has",
          .found = steno::weights::quoted(code)});
  return n;
}

}  // namespace detail

/// Of a packaged file whose tokenizer is `t`. Throws steno::error.
STENO_ON_CALL STENO_COLD inline whisper_generation read_whisper_generation(const gguf_file& file,
                                                                           const tokenizers::whisper_tokens& t) {
  whisper_generation g;
  constexpr std::size_t max_count = 1 << 20;
  if (file.has("whisper.suppress_tokens"))
    g.suppressed = models::read_wholes(file, "whisper.suppress_tokens", 0, 1 << 24, max_count);
  if (file.has("whisper.begin_suppress_tokens"))
    g.first_suppressed = models::read_wholes(file, "whisper.begin_suppress_tokens", 0, 1 << 24, max_count);
  if (file.has("whisper.languages")) {
    for (const std::string& code : file.strings("whisper.languages"))
      g.languages.push_back(detail::read_language(file, t, "whisper.languages", code));
    core::sort_stably(g.languages);
  }
  if (const auto code = file.text("whisper.language")) {
    g.language = detail::read_language(file, t, "whisper.language", *code);
    if (!g.knows(g.language))
      fail({.where = file.where(), .what = "key \"whisper.language\"", .expected = "one of \"whisper.languages\""});
  }
  g.translate = models::read_flag(file, "whisper.translate", false);
  if (file.has("whisper.max_initial_timestamp_index"))
    g.max_initial = models::read_whole(file, "whisper.max_initial_timestamp_index", 1, 1500, 50);
  return g;
}

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
