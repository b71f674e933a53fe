// steno/models/guides.hpp - hotwords and a language model in the units of a model's tokenizer.
//
// Tested in tests/pipelines/recording_test.cpp and tests/models/language_model_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/hotword.hpp>
#include <steno/error.hpp>
#include <steno/search/guide.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace models {

/// Phrases as an automaton of the tokenizer's units, each of which earns `score` times the phrase's weight. Throws
/// steno::error for phrases that the tokenizer cannot write.
template <class Tokenizer>
STENO_COLD search::hotword_automaton hotword_graph(const Tokenizer& tokenizer, std::span<const core::hotword> all,
                                                   float score) {
  std::vector<std::vector<int>> phrases, openings;
  std::vector<float> weights;
  if (all.empty()) return search::hotword_automaton(phrases, {.score = score});
  const auto units_of = [](const core::hotword& h, std::optional<std::vector<int>> units) {
    if (!units)
      fail({.what = "hotword " + steno::weights::quoted(h.phrase),
            .expected = "characters that are among the model's units"});
    return std::move(*units);
  };
  const auto add = [&](const core::hotword& h, std::optional<std::vector<int>> units) {
    phrases.push_back(units_of(h, std::move(units)));
    weights.push_back(h.weight);
  };
  if constexpr (requires { tokenizer.splitter(); }) {  // what is prepared once for all phrases
    const auto split = tokenizer.splitter();
    for (const core::hotword& h : all) {
      // Scripts that are written without spaces have one at the beginning of a text alone, if at all.
      const bool spaceless = search::word_scorer::spaceless_start(h.phrase);
      const auto spaced = split.within(h.phrase, true);
      if (spaceless) add(h, split.within(h.phrase, false));
      if (!spaceless || spaced) add(h, spaced);
    }
  } else {
    for (const core::hotword& h : all) add(h, tokenizer.split(h.phrase));
  }
  if constexpr (requires { tokenizer.split_opening(""); }) {
    for (const core::hotword& h : all) {
      openings.push_back(units_of(h, tokenizer.split_opening(h.phrase)));
      weights.push_back(h.weight);
    }
  }
  bool plain = true;
  for (const float w : weights) plain = plain && w == 1;
  return search::hotword_automaton(phrases, {.score = score}, plain ? std::span<const float>() : weights, openings);
}

/// A language model over the pieces of a tokenizer; `ends` says which end a turn.
template <class Tokenizer, class Ends>
STENO_COLD search::word_scorer word_scorer_of(const Tokenizer& tokenizer, const search::ngram& model,
                                              const search::word_scorer_options& o, Ends&& ends) {
  return search::word_scorer(
      model, o, static_cast<int>(tokenizer.size()), [&](int id) { return std::string_view(tokenizer.piece(id)); },
      ends);
}

}  // namespace models
}  // namespace STENO_ABI
}  // namespace steno
