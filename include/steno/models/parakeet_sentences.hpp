// steno/models/parakeet_sentences.hpp - sentences of a transcript as soon as they are complete.
//
// Tokens come one after another and never change; a sentence is told when the word behind it has begun: the word ends
// in ".", "!" or "?" (NeMo `get_segment_offsets`), or a pause follows it. Words are nemo_words'. Tested in
// tests/models/parakeet_test.cpp.
#pragma once
#include <steno/core/result.hpp>
#include <steno/tokenizers/nemo_words.hpp>

#include <span>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI {

class parakeet_sentences {
 public:
  /// `pause` in seconds; a longer one ends a sentence as well.
  explicit parakeet_sentences(double pause = 1) : pause_(pause) {}

  /// `tokens` and `log_probabilities` of all that was said so far; `last` when no more will come. Calls
  /// sink(segment&&).
  template <class Model, class Sink>
  STENO_COLD void advance(const Model& m, std::span<const placed_token> tokens,
                          std::span<const float> log_probabilities, bool last, Sink&& sink) {
    const auto open = tokens.subspan(told_);
    if (open.empty()) return;
    const std::vector<placed_text> words = m.words.words(m.tokenizer, open);
    std::size_t from = 0;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (!ends(words[i].text) && static_cast<double>(words[i + 1].start - words[i].end) * m.frame_seconds() < pause_)
        continue;
      tell(m, open.subspan(from, words[i].last - from), log_probabilities.subspan(told_ + from), sink);
      from = words[i].last;
    }
    if (last && from < open.size()) {
      tell(m, open.subspan(from), log_probabilities.subspan(told_ + from), sink);
      from = open.size();
    }
    told_ += from;
  }
  /// Tokens that belong to sentences that were told.
  std::size_t told() const noexcept { return told_; }

 private:
  static bool ends(const std::string& word) noexcept {
    return !word.empty() && (word.back() == '.' || word.back() == '!' || word.back() == '?');
  }
  template <class Model, class Sink>
  void tell(const Model& m, std::span<const placed_token> tokens, std::span<const float> log_probabilities,
            Sink& sink) const {
    segment s;
    for (const placed_token& t : tokens) s.token_ids.push_back(t.id);
    m.write_text(m.words, tokens, log_probabilities.first(tokens.size()), s);
    s.start = static_cast<double>(tokens.front().start) * m.frame_seconds();
    s.end = static_cast<double>(tokens.back().end) * m.frame_seconds();
    sink(std::move(s));
  }

  double pause_;
  std::size_t told_ = 0;
};

}  // namespace steno::inline STENO_ABI
