// steno/search/search_options.hpp - what the searches over several hypotheses have in common.
//
// Each search holds them in options of its own and says there what it takes from them; what it has no use for it
// refuses. Tested with the searches in tests/search.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/extents.hpp>
#include <steno/error.hpp>
#include <steno/search/guide.hpp>

#include <optional>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// Of ctc_prefix_beam, attention_beam, transducer_beam, token_beam and token_sampler.
struct search_options {
  extent beam = 0;  ///< hypotheses that live on; not positive: the search's own default
  /// Power of the length that divides scores where hypotheses are compared in the end; nothing: the search's own way.
  std::optional<double> length_penalty = {};
  const hotword_automaton* hotwords = nullptr;  ///< phrases to favour, which must outlive the search; null: none
  const word_scorer* words = nullptr;           ///< a language model, which must outlive the search; null: none

  /// The beam where it is set, else `usual`.
  extent beam_or(extent usual) const noexcept { return beam > 0 ? beam : usual; }
  /// What is favoured, of both.
  guide favoured_all() const noexcept { return guide(hotwords, words); }
  /// Null where there is nothing to favour.
  const hotword_automaton* favoured() const noexcept {
    return hotwords != nullptr && !hotwords->empty() ? hotwords : nullptr;
  }
  /// Throws steno::error for a search that compares its hypotheses in one way alone.
  void refuse_length_penalty() const {
    if (length_penalty) fail({.what = "length penalty", .hint = "this search has none"});
  }
  /// Throws steno::error for a search that takes no language model.
  void refuse_words() const {
    if (words != nullptr) fail({.what = "language model", .hint = "this search takes none"});
  }
  /// Throws steno::error for a search that favours nothing.
  void refuse_hotwords() const {
    if (favoured() != nullptr) fail({.what = "hotwords", .hint = "this search has none"});
    refuse_words();
  }
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
