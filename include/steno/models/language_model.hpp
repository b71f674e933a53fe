// steno/models/language_model.hpp - an n-gram language model of a packaged file, and what a recogniser's searches
// favour.
//
// steno-convert writes it from an ARPA file (docs/formats.md). Tested in tests/models/language_model_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/hotword.hpp>
#include <steno/models/guides.hpp>
#include <steno/models/metadata.hpp>
#include <steno/search/ngram.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// An n-gram language model of words, for searches with a beam. Const: any number of recognisers and threads may share
/// one, which must outlive them.
class language_model {
 public:
  static constexpr std::string_view architecture = "ngram";  ///< `general.architecture` of its files

  /// From a packaged file. Throws steno::error for what is none.
  STENO_ON_CALL STENO_COLD explicit language_model(const std::string& path) : language_model(gguf_file(path)) {}
  /// The same.
  STENO_ON_CALL STENO_COLD explicit language_model(const gguf_file& file)
      : ngrams_(models::made_of(file, "ngram", [&] { return search::ngram(read(file)); })) {}

  const search::ngram& ngrams() const noexcept { return ngrams_; }  ///< the model

 private:
  STENO_ON_CALL STENO_COLD static search::ngram_tables read(const gguf_file& file) {
    if (file.text("general.architecture").value_or("") != architecture)
      fail({.where = file.where(),
            .what = "not a language model",
            .expected = "general.architecture ngram, as steno-convert writes it from an ARPA file",
            .found = file.text("general.architecture").value_or("none")});
    const auto numbers = [&]<class T>(const char* key, T) {
      const weights::gguf_value* const v = file.value(key);
      auto found = v == nullptr ? std::nullopt : v->array_of<T>();
      if (!found)
        fail({.where = file.where(),
              .what = "key " + steno::weights::quoted(key),
              .expected = "an array of numbers",
              .found = v == nullptr ? "none" : v->type_text()});
      return std::move(*found);
    };
    return {.words = file.strings("ngram.words"),
            .word = numbers("ngram.nodes.word", std::uint32_t{}),
            .log_prob = numbers("ngram.nodes.log_prob", float{}),
            .backoff = numbers("ngram.nodes.backoff", float{}),
            .first_child = numbers("ngram.nodes.first_child", std::uint32_t{})};
  }

  search::ngram ngrams_;
};

/// What a unit of a hotword earns in a model's search unless the options say otherwise.
template <class Model>
constexpr float default_hotword_score() noexcept {
  if constexpr (requires { Model::hotword_score; })
    return Model::hotword_score;
  else
    return search::hotword_options{}.score;
}
/// How much a language model counts in a model's search unless the options say otherwise.
template <class Model>
constexpr search::word_scorer_options default_lm() noexcept {
  if constexpr (requires { Model::lm; })
    return Model::lm;
  else
    return {.weight = 0.3f};
}

/// What the searches of a model favour. A language model of weight 0 is none. Throws steno::error for phrases that the
/// tokenizer cannot write.
template <class Model>
STENO_COLD search::guides guides_of(const Model& m, std::span<const core::hotword> hotwords, std::optional<float> score,
                                    const language_model* lm, std::optional<float> weight) {
  search::guides g{.hotwords = hotword_graph(m.tokenizer, hotwords, score.value_or(default_hotword_score<Model>()))};
  search::word_scorer_options o = default_lm<Model>();
  o.weight = weight.value_or(o.weight);
  if (lm == nullptr || !(o.weight > 0)) return g;
  if constexpr (requires { m.tokenizer.piece(0); })
    g.words.emplace(word_scorer_of(m.tokenizer, lm->ngrams(), o, [&](int id) {
      if constexpr (requires { m.ends_turn(id); })
        return m.ends_turn(id);
      else
        return false;
    }));
  return g;
}

}  // namespace models
}  // namespace STENO_ABI
}  // namespace steno
