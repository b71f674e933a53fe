// steno/models/parakeet_sentences.hpp - sentences of a transcript as soon as they are complete.
//
// Tokens come one after another and never change; a sentence is emitted when the word behind it has begun: the word
// ends in ".", "!" or "?" (NeMo `get_segment_offsets`), or a pause follows it. Speech that does neither is cut at its
// widest gap when it becomes too long. Words are nemo_words'. Tested in tests/models/parakeet_test.cpp.
#pragma once
#include <steno/core/result.hpp>
#include <steno/tokenizers/nemo_words.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Sentences of one transcript that grows. A value that can be copied; one for each stream.
class parakeet_sentences {
 public:
  /// Seconds. A longer `pause` ends a sentence as well; none is longer than `max_seconds` (0: however long).
  explicit parakeet_sentences(double pause = 1, double max_seconds = 0) : pause_(pause), max_seconds_(max_seconds) {}

  /// `tokens` and `log_probabilities` of all so far; `last` when no more will come. Calls
  /// sink(segment&&).
  template <class Model, class Sink>
  STENO_COLD void advance(const Model& m, std::span<const tokenizers::placed_token> tokens,
                          std::span<const float> log_probabilities, bool last, Sink&& sink) {
    // A label that ends a turn ends a sentence, and is no part of it.
    for (auto open = tokens.subspan(emitted_); !open.empty(); open = tokens.subspan(emitted_)) {
      const auto end = std::find_if(open.begin(), open.end(), [&](const auto& t) { return m.ends_turn(t.id); });
      const bool ended = end != open.end();
      const auto count = static_cast<std::size_t>(end - open.begin());
      emitted_ += part(m, open.first(count), log_probabilities.subspan(emitted_, count), last || ended, sink);
      if (!ended) return;
      ++emitted_;
    }
  }
  /// Tokens that belong to sentences that were emitted.
  std::size_t emitted() const noexcept { return emitted_; }
  /// The first `count` of them will not be given any more.
  void forgot(std::size_t count) noexcept { emitted_ -= std::min(count, emitted_); }

 private:
  // Sentences of a turn, `open`, which is over or not; returns how many tokens they have.
  template <class Model, class Sink>
  STENO_COLD std::size_t part(const Model& m, std::span<const tokenizers::placed_token> open,
                              std::span<const float> log_probabilities, bool last, Sink& sink) const {
    if (open.empty()) return 0;
    const std::vector<tokenizers::placed_text> words = m.words.words(m.tokenizer, open);
    const auto seconds = [&](extent rows) { return static_cast<double>(rows) * m.frame_seconds(); };
    const auto gap = [&](std::size_t i) { return words[i + 1].start - words[i].end; };
    std::size_t from = 0, first = 0;  // of the open sentence: its first token and word
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      std::size_t end = i;
      if (!ends(words[i].text) && seconds(gap(i)) < pause_) {
        if (max_seconds_ <= 0 || seconds(words[i].end - words[first].start) <= max_seconds_ || i == first) continue;
        end = i - 1;  // the widest gap before this word; of equal ones the last
        for (std::size_t k = end; k-- > first;)
          if (gap(k) > gap(end)) end = k;
      }
      emit(m, open.subspan(from, words[end].last - from), log_probabilities.subspan(from), sink);
      from = words[end].last;
      first = end + 1;
      i = end;
    }
    if (last && from < open.size()) {
      emit(m, open.subspan(from), log_probabilities.subspan(from), sink);
      from = open.size();
    }
    return from;
  }
  static bool ends(const std::string& word) noexcept {
    return !word.empty() && (word.back() == '.' || word.back() == '!' || word.back() == '?');
  }
  template <class Model, class Sink>
  void emit(const Model& m, std::span<const tokenizers::placed_token> tokens, std::span<const float> log_probabilities,
            Sink& sink) const {
    segment s;
    for (const tokenizers::placed_token& t : tokens) s.token_ids.push_back(t.id);
    m.write_text(m.words, tokens, log_probabilities.first(tokens.size()), s);
    Model::part_words(s.words);
    s.start = static_cast<double>(tokens.front().start) * m.frame_seconds();
    s.end = static_cast<double>(tokens.back().end) * m.frame_seconds();
    sink(std::move(s));
  }

  double pause_, max_seconds_;
  std::size_t emitted_ = 0;
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
