// steno/models/parakeet_sentences.hpp - sentences of a transcript as soon as they are complete.
//
// Tokens come one after another and never change; a sentence is emitted when the word behind it has begun: the word
// ends in ".", "!" or "?" (NeMo `get_segment_offsets`), or a pause follows it. Speech that does neither is cut at the
// widest gap of its second half when it becomes too long. Words are nemo_words'. Tested in
// tests/models/parakeet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/tokenizers/nemo_words.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Sentences of one transcript that grows. A value that can be copied; one for each stream.
class parakeet_sentences {
 public:
  /// Seconds. A longer `pause` ends a sentence as well; none is longer than `max_seconds` (0: however long), but for
  /// a word that begins in the first half of that.
  explicit parakeet_sentences(double pause = 1, double max_seconds = 0) : pause_(pause), max_seconds_(max_seconds) {}
  /// All is one sentence, whatever its words, pauses and labels are, but for its length.
  static parakeet_sentences of_length(double max_seconds) {
    return parakeet_sentences(std::numeric_limits<double>::infinity(), max_seconds);
  }

  /// `tokens` and `log_probabilities` of all so far; `last` when no more will come. Calls
  /// sink(segment&&).
  template <class Model, class Sink>
  STENO_COLD void advance(const Model& m, std::span<const tokenizers::placed_token> tokens,
                          std::span<const float> log_probabilities, bool last, Sink&& sink) {
    if (whole()) return advance_whole(m, tokens.subspan(emitted_), log_probabilities.subspan(emitted_), last, sink);
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
  /// The beginning of the open sentence, which is in no other one whatever comes: its tokens. Behind half of
  /// `max_seconds` a cut may come.
  template <class Model>
  STENO_COLD std::vector<tokenizers::placed_token> settled(const Model& m,
                                                           std::span<const tokenizers::placed_token> tokens) const {
    std::vector<tokenizers::placed_token> open;
    for (const tokenizers::placed_token& t : tokens.subspan(emitted_))
      if (!m.ends_turn(t.id)) open.push_back(t);
    if (max_seconds_ <= 0 || open.empty()) return open;
    const std::vector<tokenizers::placed_text> words = m.words.words(m.tokenizer, open);
    const auto behind = [&](const tokenizers::placed_text& w) { return in_second_half(m, words[0], w); };
    const auto first = std::find_if(words.begin(), words.end(), behind);  // it stays, too
    if (first != words.end()) open.resize(first->last);
    return open;
  }
  /// The first `count` of them will not be given any more.
  void forgot(std::size_t count) noexcept { emitted_ -= std::min(count, emitted_); }

 private:
  bool whole() const noexcept { return pause_ > std::numeric_limits<double>::max(); }
  template <class Model>
  bool in_second_half(const Model& m, const tokenizers::placed_text& first, const tokenizers::placed_text& word) const {
    return static_cast<double>(word.end - first.start) * m.frame_seconds() >= max_seconds_ / 2;
  }
  // Labels that end turns are no text, and end nothing.
  template <class Model, class Sink>
  STENO_COLD void advance_whole(const Model& m, std::span<const tokenizers::placed_token> open,
                                std::span<const float> log_probabilities, bool last, Sink& sink) {
    std::vector<tokenizers::placed_token> kept;
    std::vector<float> kept_log_probabilities;
    std::vector<std::size_t> at;  // where they stand
    for (std::size_t i = 0; i < open.size(); ++i)
      if (!m.ends_turn(open[i].id)) {
        kept.push_back(open[i]);
        kept_log_probabilities.push_back(log_probabilities[i]);
        at.push_back(i);
      }
    const std::size_t gone = part(m, kept, kept_log_probabilities, last, sink);
    emitted_ += gone < kept.size() ? at[gone] : last ? open.size() : 0;
  }
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
      if (whole() || (!ends(words[i].text) && seconds(gap(i)) < pause_)) {
        if (max_seconds_ <= 0 || seconds(words[i].end - words[first].start) <= max_seconds_ || i == first ||
            !in_second_half(m, words[first], words[i - 1]))
          continue;
        end = i - 1;  // the widest gap before this word; of equal ones the last
        for (std::size_t k = end; k-- > first && in_second_half(m, words[first], words[k]);)
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
