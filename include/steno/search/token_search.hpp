// steno/search/token_search.hpp - choosing tokens one step at a time: the best, samples, or a beam.
//
// Scores of a step are log-probabilities [hypotheses, vocabulary]. advance() appends a token to every hypothesis and
// says in `sources` which one each continues, so that a decoder's state can follow. Follows GreedyDecoder,
// BeamSearchDecoder and MaximumLikelihoodRanker (whisper/decoding.py); sums of log-probabilities are floats, as there.
// Hotwords (a hotword_automaton) are steno's own: hypotheses are compared by log-probability and what they earned, but
// their score stays the model's, so that thresholds on it mean what they mean without. Tested in
// tests/search/token_search_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/core/view.hpp>
#include <steno/search/hotword_automaton.hpp>
#include <steno/search/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// One text of a search.
struct token_hypothesis {
  std::vector<int> tokens;  ///< without the end of text
  float score = 0;          ///< sum of log-probabilities, with the end's
  float bonus = 0;          ///< what hotwords gave
  int hotword_state = 0;    ///< in their graph

  /// What hypotheses are compared by.
  float total() const noexcept { return score + bonus; }
};

/// The index of the best hypothesis: total / length, or Google NMT's ((5 + length) / 6)^penalty; the first of equals.
STENO_ON_CALL inline std::size_t best_hypothesis(std::span<const token_hypothesis> all, std::optional<double> penalty) {
  std::size_t best = 0;
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double length = static_cast<double>(all[i].tokens.size());
    const double by = penalty ? std::pow((5 + length) / 6, *penalty) : std::max(length, 1.0);
    const double score = static_cast<double>(all[i].total()) / by;
    if (score > top) {
      top = score;
      best = i;
    }
  }
  return best;
}

/// What phrases of a graph earn in a search. Tokens below `end` are text; those above it (times, Whisper's other
/// special ones) stand between texts, so they neither go on with a phrase nor leave it. Without a graph nothing is
/// earned. Scores may be logits as well as log-probabilities.
class token_hotwords {
 public:
  /// The graph must outlive it, and so must other tokens than `end` that end a text.
  token_hotwords(const hotword_automaton* graph, int end, std::span<const int> other_ends = {})
      : graph_(graph != nullptr && !graph->empty() ? graph : nullptr), end_(end), other_ends_(other_ends) {}

  /// Nothing is earned.
  bool empty() const noexcept { return graph_ == nullptr; }
  /// A hypothesis is in front of a text.
  void begin(token_hypothesis& h) const { h.hotword_state = graph_ == nullptr ? 0 : graph_->start(); }

  /// The scores [n] of what follows `h`, each with what its token earns. Valid until the next call.
  STENO_ON_CALL const float* favour(const float* p, extent n, const token_hypothesis& h) {
    if (graph_ == nullptr) return p;
    row_.assign(p, p + n);
    const extent text = std::min<extent>(end_, n);
    if (const float left = graph_->next(h.hotword_state, no_unit).second; left != 0)
      for (extent i = 0; i < text; ++i) row_[static_cast<std::size_t>(i)] += left;
    units_.clear();
    graph_->continuations(h.hotword_state, [&](const hotword_automaton::continuation& c) {
      if (c.unit >= 0 && c.unit < text) units_.emplace_back(c.unit, c.bonus);
    });
    for (std::size_t i = units_.size(); i-- > 0;)  // of one that comes twice the first is right
      row_[static_cast<std::size_t>(units_[i].first)] = p[units_[i].first] + units_[i].second;
    const float settled = graph_->finish(h.hotword_state, h.bonus) - h.bonus;
    if (end_ < n) row_[static_cast<std::size_t>(end_)] += settled;
    for (const int id : other_ends_)
      if (id >= end_ && id < n && id != end_) row_[static_cast<std::size_t>(id)] += settled;
    return row_.data();
  }
  /// Goes on with `token`, the end included: an unfinished phrase pays back.
  STENO_ON_CALL void follow(token_hypothesis& h, int token) const {
    if (graph_ == nullptr || token > end_) return;
    if (token == end_) {
      h.bonus = graph_->finish(h.hotword_state, h.bonus);
      h.hotword_state = 0;
      return;
    }
    const auto [state, earned] = graph_->next(h.hotword_state, token);
    h.hotword_state = state;
    h.bonus += earned;
  }

 private:
  static constexpr int no_unit = -1;  // of no phrase

  const hotword_automaton* graph_;
  int end_;
  std::span<const int> other_ends_;
  std::vector<float> row_;
  std::vector<std::pair<int, float>> units_;
};

/// How a token_sampler chooses.
struct token_sampler_options {
  search_options search = {};  ///< a beam of one unless it is set; the length penalty is best_hypothesis()'s
  int end = 0;                 ///< the token that ends a text
  double temperature = 0;      ///< 0: the likeliest token
  std::uint64_t seed = 0;      ///< of what is drawn
};

/// Every hypothesis goes its own way: the likeliest token, or a sample at a temperature. What hotwords earn is
/// added before tokens are compared or drawn.
class token_sampler {
 public:
  /// Empty texts, as many as the beam. The hotwords must outlive this. Throws steno::error for a
  /// language model.
  STENO_ON_CALL explicit token_sampler(const token_sampler_options& o)
      : all_(static_cast<std::size_t>(o.search.beam_or(1))),
        ended_(all_.size(), false),
        hotwords_(o.search.hotwords, o.end),
        end_(o.end),
        temperature_(o.temperature),
        random_(o.seed) {
    o.search.refuse_words();
  }

  /// Tokens of hypothesis i so far.
  std::span<const int> tokens_of(std::size_t i) const { return all_[i].tokens; }
  /// False when all have ended. `next` gets the token of every hypothesis, `sources` its own number.
  STENO_ON_CALL bool advance(const view<const float>& scores, std::vector<int>& next, std::vector<int>& sources) {
    next.resize(all_.size());
    sources.resize(all_.size());
    bool going = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      sources[i] = static_cast<int>(i);
      next[i] = end_;
      if (ended_[i]) continue;
      const auto row = static_cast<extent>(i);
      const float* const p = scores.data() + row * scores.outerStride();
      const float* const favoured = hotwords_.favour(p, scores.cols(), all_[i]);
      next[i] = temperature_ == 0 ? static_cast<int>(std::max_element(favoured, favoured + scores.cols()) - favoured)
                                  : sample(favoured, scores.cols());
      all_[i].score += p[next[i]];
      hotwords_.follow(all_[i], next[i]);
      ended_[i] = next[i] == end_;
      if (ended_[i]) continue;
      all_[i].tokens.push_back(next[i]);
      going = true;
    }
    return going;
  }
  /// All hypotheses, when no step follows: phrases that stay unfinished pay back. Valid as long as this.
  STENO_ON_CALL const std::vector<token_hypothesis>& finish() {
    for (token_hypothesis& h : all_) hotwords_.follow(h, end_);
    return all_;
  }

 private:
  STENO_ON_CALL int sample(const float* p, extent n) {
    const float top = *std::max_element(p, p + n);
    const auto weight = [&](extent i) { return std::exp(static_cast<double>(p[i] - top) / temperature_); };
    double sum = 0;
    for (extent i = 0; i < n; ++i) sum += weight(i);
    random_ += 0x9e3779b97f4a7c15u;  // splitmix64
    std::uint64_t z = random_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    double left = static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53 * sum;
    int last = 0;
    for (extent i = 0; i < n; ++i) {
      const double w = weight(i);
      if (w <= 0) continue;
      last = static_cast<int>(i);
      if ((left -= w) < 0) break;
    }
    return last;
  }

  std::vector<token_hypothesis> all_;
  std::vector<bool> ended_;
  token_hotwords hotwords_;
  int end_;
  double temperature_;
  std::uint64_t random_;
};

/// How a token_beam searches.
struct token_beam_options {
  static constexpr extent default_beam = 5;  ///< of the original's program
  search_options search = {};                ///< the length penalty is best_hypothesis()'s
  int end = 0;                               ///< the token that ends a text
  double patience = 1;                       ///< ended hypotheses for each of the beam, before it stops
};

/// The `beam` best unfinished hypotheses, until round(beam * patience) have ended.
class token_beam {
 public:
  /// Empty texts, as many as the beam. The hotwords must outlive this. Throws steno::error for a
  /// language model.
  STENO_ON_CALL explicit token_beam(const token_beam_options& o)
      : live_(static_cast<std::size_t>(o.search.beam_or(token_beam_options::default_beam))),
        hotwords_(o.search.hotwords, o.end),
        end_(o.end),
        wanted_(static_cast<std::size_t>(std::nearbyint(static_cast<double>(live_.size()) * o.patience))) {
    o.search.refuse_words();
  }

  /// Tokens of unfinished hypothesis i so far.
  std::span<const int> tokens_of(std::size_t i) const { return live_[i].tokens; }
  /// False when enough have ended. `next` and `sources` describe the beams from now on.
  STENO_ON_CALL bool advance(const view<const float>& scores, std::vector<int>& next, std::vector<int>& sources) {
    const std::size_t width = live_.size();
    candidates_.clear();
    // At first all beams are the same one.
    for (std::size_t b = 0; b < (started_ ? width : 1); ++b) best_of(b, scores);
    started_ = true;
    core::sort_stably(candidates_, places_, [](const candidate& a, const candidate& b) { return a.total > b.total; });
    ended_now_.clear();
    next_.clear();
    next.clear();
    sources.clear();
    for (const candidate& c : candidates_) {
      std::vector<token_hypothesis>& to = c.token == end_ ? ended_now_ : next_;
      to.push_back(live_[c.source]);
      to.back().score = c.score;
      hotwords_.follow(to.back(), c.token);
      if (c.token == end_) continue;
      to.back().tokens.push_back(c.token);
      next.push_back(c.token);
      sources.push_back(static_cast<int>(c.source));
      if (next.size() == width) break;
    }
    live_.swap(next_);
    for (token_hypothesis& h : ended_now_)
      if (ended_.size() < wanted_) ended_.push_back(std::move(h));
    return ended_.size() < wanted_;
  }
  /// Those that have ended, filled up with the best of the others.
  STENO_ON_CALL const std::vector<token_hypothesis>& finish() {
    for (token_hypothesis& h : live_) hotwords_.follow(h, end_);
    core::sort_places(places_, live_.size(),
                      [&](std::size_t a, std::size_t b) { return live_[a].total() > live_[b].total(); });
    for (const std::size_t i : places_)
      if (ended_.size() < live_.size()) ended_.push_back(live_[i]);
    return ended_;
  }

 private:
  struct candidate {
    std::size_t source;
    int token;
    float score, total;
  };
  // The width + 1 best tokens after beam b, with what they earn: one of them may be the end.
  STENO_ON_CALL void best_of(std::size_t b, const view<const float>& scores) {
    const float* const row = scores.data() + static_cast<extent>(b) * scores.outerStride();
    const float* const p = hotwords_.favour(row, scores.cols(), live_[b]);
    const std::size_t count = std::min(live_.size() + 1, static_cast<std::size_t>(scores.cols()));
    top_.clear();
    for (extent i = 0; i < scores.cols(); ++i) {
      if (top_.size() == count && !(p[i] > p[top_.back()])) continue;
      auto at = top_.end();
      while (at != top_.begin() && p[i] > p[*(at - 1)]) --at;
      top_.insert(at, static_cast<int>(i));
      if (top_.size() > count) top_.pop_back();
    }
    for (const int id : top_) candidates_.push_back({b, id, live_[b].score + row[id], live_[b].total() + p[id]});
  }

  std::vector<token_hypothesis> live_, next_, ended_, ended_now_;
  std::vector<candidate> candidates_;
  std::vector<std::size_t> places_;
  std::vector<int> top_;
  token_hotwords hotwords_;
  int end_;
  std::size_t wanted_;
  bool started_ = false;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
