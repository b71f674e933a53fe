// steno/search/position_beam.hpp - the best texts of a model that scores every position by itself, and favours phrases,
// of whole recordings and of streams.
//
//   score = sum of log p(token at its position) + what hotwords give
//
// For models without autoregression (Paraformer): a predictor has found how many tokens there are and where, so each
// position takes one token, phrases can make no token more or less, and positions depend on one another through the
// phrases alone. So hypotheses in the same state of the automaton differ in what they have and in nothing that follows:
// the best few of each state are kept. A unit that begins a phrase leads to one state wherever it comes from, so only
// the best few hypotheses begin it: a long list costs its beginnings, not beginnings times hypotheses. steno's own;
// without hotwords the best text is that of the best tokens.
//
// A stream wants the best text alone, so the best hypothesis of each state is kept and nothing is lost. They soon have
// the same beginning, since those that leave their phrases meet in state 0 and one goes on: what all of them have is
// settled at once, and the text stays the one that all positions together would have given. Where they go apart for
// longer than a limit, the best one decides. What begins a phrase is not settled because state 0 is better for now: the
// phrase would be lost that the next position completes. Tested in tests/search/position_beam_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/search/position_step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// A token at its position.
struct position_token {
  int id = 0;                 ///< its number
  float log_probability = 0;  ///< at its position
};

/// A text.
struct position_hypothesis {
  std::vector<int> ids = {};                  ///< a token for each position
  double score = 0;                           ///< log-probability plus what hotwords gave
  std::vector<float> log_probabilities = {};  ///< of the tokens, each at its position
};

/// The search as positions come: however they are divided among calls, the results are the same. Copyable; one per
/// text, and one thread's at a time. A stream's (`settle_after`) allocates nothing once it is warm; any other keeps all
/// positions.
class position_search {
 public:
  /// In front of a text; each position has `tokens` scores. What `o` points at must outlive this and all copies. Throws
  /// steno::error for a length penalty and for a language model.
  STENO_ON_CALL position_search(const position_beam_options& o, extent tokens)
      : limit_(static_cast<std::size_t>(std::max<extent>(o.settle_after, 0))), step_(o, tokens) {
    o.search.refuse_length_penalty();
    o.search.refuse_words();
  }

  /// Back to the front of a text.
  STENO_ON_CALL void restart() {
    step_.kept.assign(1, {});
    nodes_.clear();
    first_.clear();
    settled_.clear();
  }
  /// Goes on with log-probabilities [positions, tokens].
  STENO_ON_CALL void advance(const view<const float>& scores) {
    for (extent t = 0; t < scores.rows(); ++t) {
      step_.take(scores.data() + t * scores.outerStride());
      first_.push_back(nodes_.size());
      for (const hypothesis& h : step_.kept)
        nodes_.push_back({static_cast<std::uint32_t>(h.before), {h.id, h.log_probability}});
      if (limit_ == 0 || positions() <= limit_) continue;
      settle_shared();
      if (positions() <= limit_) continue;
      decide();
      settle_shared();
    }
    if (limit_ > 0) settle_shared();
  }
  /// Calls sink(const position_token&) for each position that was settled since the last call, the earliest first.
  template <class Sink>
  void take_settled(Sink&& sink) {
    for (const position_token& t : settled_) sink(t);
    settled_.clear();
  }
  /// Positions that are not settled.
  std::size_t positions() const noexcept { return first_.size(); }
  /// Calls sink(const position_token&) for each position that is not settled, as the best text has it if nothing
  /// follows. Returns the score of that text from its beginning: log-probability plus what hotwords gave.
  template <class Sink>
  double best(Sink&& sink) {
    hypothesis b = step_.finished(step_.kept[0]);
    for (const hypothesis& h : step_.kept)
      if (const hypothesis f = step_.finished(h); detail::position_step::better(f, b)) b = f;
    trace(b);
    for (const position_token& t : path_) sink(t);
    return b.total();
  }
  /// The best texts if nothing follows, best first, without what was settled; at least one and no more than the beam.
  STENO_ON_CALL STENO_COLD std::vector<position_hypothesis> texts() {
    std::vector<hypothesis> all;
    for (const hypothesis& h : step_.kept) all.push_back(step_.finished(h));
    std::sort(all.begin(), all.end(), detail::position_step::better);
    std::vector<position_hypothesis> found(std::min(step_.beam, all.size()));
    for (std::size_t k = 0; k < found.size(); ++k) {
      trace(all[k]);
      found[k].score = all[k].total();
      for (const position_token& t : path_) {
        found[k].ids.push_back(t.id);
        found[k].log_probabilities.push_back(t.log_probability);
      }
    }
    return found;
  }

 private:
  using hypothesis = detail::position_step::hypothesis;
  struct node {            // a token of a hypothesis
    std::uint32_t before;  // among those of the position before
    position_token token;
  };

  std::size_t end_of(std::size_t position) const noexcept {
    return position + 1 < first_.size() ? first_[position + 1] : nodes_.size();
  }
  // The tokens of h, one of those at the last position, to path_.
  STENO_ON_CALL void trace(const hypothesis& h) {
    path_.resize(positions());
    if (path_.empty()) return;
    path_.back() = {h.id, h.log_probability};
    std::size_t before = h.before;
    for (std::size_t p = path_.size() - 1; p-- > 0;) {
      const node& n = nodes_[first_[p] + before];
      path_[p] = n.token;
      before = n.before;
    }
  }
  // The first positions at which all hypotheses have the same.
  STENO_ON_CALL void settle_shared() {
    if (positions() == 0) return;
    marks_.assign(nodes_.size(), 0);  // what the hypotheses that are kept came by
    std::fill(marks_.begin() + static_cast<std::ptrdiff_t>(first_.back()), marks_.end(), char{1});
    for (std::size_t p = positions() - 1; p > 0; --p)
      for (std::size_t i = first_[p]; i < end_of(p); ++i)
        if (marks_[i] != 0) marks_[first_[p - 1] + nodes_[i].before] = 1;
    std::size_t n = 0;
    for (const auto shared =
             [&](std::size_t p) {
               int id = -1;
               for (std::size_t i = first_[p]; i < end_of(p); ++i) {
                 if (marks_[i] == 0) continue;
                 if (id >= 0 && nodes_[i].token.id != id) return false;
                 id = nodes_[i].token.id;
               }
               return true;
             };
         n < positions() && shared(n);)
      ++n;
    if (n == 0) return;
    trace(step_.kept[0]);
    settled_.insert(settled_.end(), path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(n));
    const std::size_t gone = n < positions() ? first_[n] : nodes_.size();
    nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(gone));
    first_.erase(first_.begin(), first_.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t& f : first_) f -= gone;
  }
  // Drops hypotheses that have another first token than the best one. More than one position is there.
  STENO_ON_CALL void decide() {
    trace(step_.kept[0]);
    marks_.assign(nodes_.size(), 0);
    for (std::size_t i = 0; i < end_of(0); ++i) marks_[i] = nodes_[i].token.id == path_[0].id;
    for (std::size_t p = 1; p < positions(); ++p)
      for (std::size_t i = first_[p]; i < end_of(p); ++i) marks_[i] = marks_[first_[p - 1] + nodes_[i].before];
    std::size_t count = 0;
    for (std::size_t k = 0; k < step_.kept.size(); ++k) {
      if (marks_[first_.back() + k] == 0) continue;
      step_.kept[count] = step_.kept[k];
      nodes_[first_.back() + count++] = nodes_[first_.back() + k];
    }
    step_.kept.resize(count);
    nodes_.resize(first_.back() + count);
  }

  std::size_t limit_;
  detail::position_step step_;
  std::vector<node> nodes_ =
      {};  // of the positions that are not settled, those of a hypothesis at the last in its order
  std::vector<std::size_t> first_ = {};  // where in nodes_ those of a position begin
  std::vector<position_token> settled_ = {}, path_ = {};
  std::vector<char> marks_ = {};  // of each node
};

/// The best texts of log-probabilities [positions, tokens], best first. Throws steno::error for a length penalty and
/// for a language model.
STENO_ON_CALL STENO_COLD inline std::vector<position_hypothesis> position_beam(const view<const float>& scores,
                                                                               const position_beam_options& o) {
  position_search all(o, scores.cols());
  all.advance(scores);
  return all.texts();
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
