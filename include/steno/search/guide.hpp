// steno/search/guide.hpp - what a search favours beside the model's own scores: hotwords and a language model.
//
// Both score a hypothesis label by label and settle at its end; their states and the sum of what they gave are one
// small value that hypotheses copy. Where a search compares hypotheses it adds the sum; the model's own score stays
// apart. Tested in tests/search/ngram_test.cpp and with the searches.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/search/hotword_automaton.hpp>
#include <steno/search/word_scorer.hpp>

#include <optional>
#include <span>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// What one recogniser's searches favour, in its own units.
struct guides {
  hotword_automaton hotwords;                       ///< phrases; none: empty
  std::optional<word_scorer> words = std::nullopt;  ///< a language model
  /// Tokens of a text that comes again, perhaps: they are guessed (token_draft), not favoured.
  std::span<const int> earlier = {};

  /// Nothing is favoured.
  bool empty() const noexcept { return hotwords.empty() && !words; }
  /// Null where there is none.
  const word_scorer* lm() const noexcept { return words ? &*words : nullptr; }
};

/// Where a hypothesis is in both, and what they gave.
struct guided {
  double bonus = 0;       ///< sum
  int hotword_state = 0;  ///< in the automaton
  word_state words = {};  ///< in the language model
};

/// Both, as a search uses them. What it is made of must outlive it.
class guide {
 public:
  /// Null: none.
  guide(const hotword_automaton* hotwords, const word_scorer* words)
      : hotwords_(hotwords != nullptr && !hotwords->empty() ? hotwords : nullptr), words_(words) {}

  /// Nothing is favoured.
  bool empty() const noexcept { return hotwords_ == nullptr && words_ == nullptr; }
  /// Null where there are none.
  const hotword_automaton* hotwords() const noexcept { return hotwords_; }

  /// In front of a text.
  guided start() const noexcept {
    guided g;
    if (words_ != nullptr) g.words = words_->start();
    return g;
  }
  /// Goes on with a label.
  STENO_ON_CALL void follow(guided& g, int label) const {
    if (hotwords_ != nullptr) {
      const auto [state, earned] = hotwords_->next(g.hotword_state, label);
      g.hotword_state = state;
      g.bonus += static_cast<double>(earned);
    }
    if (words_ != nullptr) g.bonus += static_cast<double>(words_->next(g.words, label));
  }
  /// What follow() would add.
  STENO_ON_CALL double earned(const guided& g, int label) const {
    double sum = 0;
    if (hotwords_ != nullptr) sum += static_cast<double>(hotwords_->next(g.hotword_state, label).second);
    if (words_ != nullptr) {
      word_state s = g.words;
      sum += static_cast<double>(words_->next(s, label));
    }
    return sum;
  }
  /// Settles phrases and words that stay unfinished. follow() must not come behind it.
  STENO_ON_CALL void finish(guided& g) const {
    if (hotwords_ != nullptr)
      g.bonus = static_cast<double>(hotwords_->finish(g.hotword_state, static_cast<float>(g.bonus)));
    if (words_ != nullptr) g.bonus += static_cast<double>(words_->finish(g.words));
  }
  /// Whether finish() may change the order of hypotheses that a search has to restore. WeNet's training rules do not.
  bool sorts() const noexcept {
    return words_ != nullptr || (hotwords_ != nullptr && hotwords_->rules() == hotword_rules::runtime);
  }

 private:
  const hotword_automaton* hotwords_;
  const word_scorer* words_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
