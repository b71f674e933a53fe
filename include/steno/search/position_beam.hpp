// steno/search/position_beam.hpp - the best texts of a model that scores every position by itself, and favours phrases.
//
//   score = sum of log p(token at its position) + what hotwords give
//
// For models without autoregression (Paraformer): a predictor has found how many tokens there are and where, so each
// position takes one token, phrases can make no token more or less, and positions depend on one another through the
// phrases alone. So hypotheses in the same state of the automaton differ in what they have and in nothing that follows:
// the best few of each state are kept. A unit that begins a phrase leads to one state wherever it comes from, so only
// the best few hypotheses begin it: a long list costs its beginnings, not beginnings times hypotheses. steno's own;
// without hotwords the best text is that of the best tokens. Tested in tests/search/position_beam_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/search/guide.hpp>
#include <steno/search/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How position_beam() searches.
struct position_beam_options {
  static constexpr extent default_beam = 10;  ///< as ctc_prefix_beam
  search_options search = {};                 ///< hypotheses of each state, the n-best list; no length penalty
  /// Units of phrases whose log-probability is so much below the best token's are not looked at.
  float near = 12;
  std::span<const int> silent = {};  ///< tokens that are no text: phrases go on over them
};

/// A text.
struct position_hypothesis {
  std::vector<int> ids = {};  ///< a token for each position
  double score = 0;           ///< log-probability plus what hotwords gave
};

namespace detail {

/// The hypotheses of position_beam() at one position, and the step to the next.
class position_step {
 public:
  struct hypothesis {
    double score = 0, bonus = 0;  // of the model, of phrases
    std::size_t before = 0;       // among all that were kept
    int id = -1, state = 0;
    double total() const noexcept { return score + bonus; }
  };

  position_step(const position_beam_options& o, const hotword_automaton& phrases, extent tokens)
      : near_(o.near),
        silent_(o.silent),
        phrases_(phrases),
        tokens_(tokens),
        taken_(static_cast<std::size_t>(tokens), false) {
    beam = static_cast<std::size_t>(o.search.beam_or(position_beam_options::default_beam));
    phrases_.continuations(0, [&](const continuation& c) {
      if (is_text(c.unit)) beginnings_.push_back(c);
    });
  }

  std::size_t beam = 0;
  std::vector<hypothesis> kept = {{}};  // best first

  /// Goes on with log-probabilities [tokens].
  void take(const float* row) {
    row_ = row;
    find_best();
    next_.clear();
    own_.clear();
    own_of_.assign(1, 0);
    leavers_.clear();
    for (std::size_t k = 0; k < kept.size(); ++k) go_on(k);
    std::stable_sort(leavers_.begin(), leavers_.end(),
                     [](const leaver& a, const leaver& b) { return rank(a.total) > rank(b.total); });
    for (const int id : best_) {
      if (!is_text(id)) continue;
      const auto [state, bonus] = phrases_.next(0, id);
      leave({id, state, bonus}, true, -std::numeric_limits<double>::infinity());
    }
    choose();
    begin_phrases();
    std::swap(kept, next_);
  }
  /// Settles phrases that stay unfinished.
  void finish() {
    for (hypothesis& h : kept) h.bonus = static_cast<double>(phrases_.finish(h.state, static_cast<float>(h.bonus)));
    std::sort(kept.begin(), kept.end(), better);
  }

 private:
  using continuation = hotword_automaton::continuation;
  struct leaver {  // a hypothesis that leaves its phrases
    double total;
    std::size_t hypothesis;
    hotword_automaton::leaving out;
  };

  // Sorting needs an order of all of them: no number, which a damaged model may give, is the worst.
  template <class T>
  static T rank(T score) noexcept {
    return std::isnan(score) ? -std::numeric_limits<T>::infinity() : score;
  }
  static bool better(const hypothesis& a, const hypothesis& b) noexcept {
    const double one = rank(a.total()), other = rank(b.total());
    if (one != other) return one > other;
    return a.before != b.before ? a.before < b.before : a.id < b.id;
  }
  template <class List>
  static bool holds(const List& list, int id) noexcept {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  bool is_text(int id) const noexcept { return id >= 0 && id < tokens_ && !holds(silent_, id); }
  bool is_near(int id) const noexcept { return row_[id] > row_[best_[0]] - near_; }
  std::span<const int> own(std::size_t k) const noexcept {
    const std::size_t last = k + 1 < own_of_.size() ? own_of_[k + 1] : own_.size();
    return std::span(own_).subspan(own_of_[k], last - own_of_[k]);
  }
  void push(std::size_t k, int id, int state, float bonus) {
    next_.push_back(
        {kept[k].score + static_cast<double>(row_[id]), kept[k].bonus + static_cast<double>(bonus), k, id, state});
  }

  void find_best() {
    best_.clear();
    const auto above = [this](int a, int b) { return rank(row_[a]) > rank(row_[b]); };
    for (int i = 0; i < tokens_; ++i) {
      const bool full = best_.size() == beam;
      if (full && !above(i, best_.back())) continue;
      if (full) best_.pop_back();
      best_.insert(std::upper_bound(best_.begin(), best_.end(), i, above), i);
    }
  }
  // Hypothesis k with what goes on with its phrases.
  void go_on(std::size_t k) {
    const int from = kept[k].state;
    for (const int id : best_)
      if (holds(silent_, id)) push(k, id, from, 0);
    const auto wanted = [&](int unit) {
      return unit >= 0 && unit < tokens_ && (is_near(unit) || holds(best_, unit)) && is_text(unit);
    };
    const auto out = phrases_.inner_continuations(from, wanted, [&](const continuation& c) {
      const auto unit = static_cast<std::size_t>(c.unit);
      if (taken_[unit]) return;  // the first time is right
      taken_[unit] = true;
      own_.push_back(c.unit);
      push(k, c.unit, c.state, c.bonus);
    });
    for (const int unit : own(k)) taken_[static_cast<std::size_t>(unit)] = false;
    own_of_.push_back(own_.size());
    leavers_.push_back({kept[k].total() + static_cast<double>(out.paid), k, out});
  }
  // The best hypotheses that leave their phrases, with c: those whose totals come to `least`, and no more than the
  // beam, as it leads all of them to one state. Those that cannot begin a phrase at once go to state 0, with `all`.
  void leave(const continuation& c, bool all, double least) {
    const double more = static_cast<double>(row_[c.unit]) + static_cast<double>(std::max(c.bonus, 0.0f));
    std::size_t begun = 0, rest = 0;
    for (const leaver& l : leavers_) {
      const bool begins = l.out.begins;
      if (l.total + more < least || (begun == beam && rest == beam)) return;
      if (begins ? begun == beam : !all || rest == beam) continue;
      if (holds(own(l.hypothesis), c.unit)) continue;
      push(l.hypothesis, c.unit, begins ? c.state : 0, begins ? l.out.paid + c.bonus : l.out.paid);
      ++(begins ? begun : rest);
    }
  }
  // The best in next_, of each state no more than the beam.
  void choose() {
    const std::size_t places = beam * beam;
    std::size_t count = 0;
    states_.clear();
    for (std::size_t sorted = 0, k = 0; k < next_.size() && count < places; ++k) {
      if (k == sorted) {  // a part that will mostly do
        const auto begin = next_.begin() + static_cast<std::ptrdiff_t>(sorted);
        sorted = std::min(next_.size(), sorted + 2 * places);
        const auto end = next_.begin() + static_cast<std::ptrdiff_t>(sorted);
        std::nth_element(begin, end, next_.end(), better);
        std::sort(begin, end, better);
      }
      const int state = next_[k].state;
      auto at = std::find_if(states_.begin(), states_.end(), [&](const auto& s) { return s.first == state; });
      if (at == states_.end()) at = states_.insert(states_.end(), {state, 0});
      if (at->second++ < beam) next_[count++] = next_[k];
    }
    next_.resize(count);
  }
  // What begins a phrase and is none of the best tokens: only where it gets among the chosen, as more of them never let
  // a worse one in.
  void begin_phrases() {
    const std::size_t chosen = next_.size();
    const double least = chosen < beam * beam ? -std::numeric_limits<double>::infinity() : next_.back().total() - slack;
    for (const continuation& c : beginnings_)
      if (is_near(c.unit) && !holds(best_, c.unit)) leave(c, false, least);
    if (next_.size() > chosen) choose();
  }

  static constexpr double slack = 1e-3;  // for sums that are rounded in another order; what is too much is not chosen

  float near_;
  std::span<const int> silent_;
  const hotword_automaton& phrases_;
  extent tokens_;
  std::vector<bool> taken_;  // of each token: the hypothesis at hand has it
  std::vector<continuation> beginnings_ = {};
  const float* row_ = nullptr;
  std::vector<int> best_ = {}, own_ = {};
  std::vector<std::size_t> own_of_ = {};  // where in own_ those of a hypothesis begin
  std::vector<leaver> leavers_ = {};
  std::vector<hypothesis> next_ = {};
  std::vector<std::pair<int, std::size_t>> states_ = {};  // how many there are of each
};

}  // namespace detail

/// The best texts of log-probabilities [positions, tokens], best first. Throws steno::error for a length penalty and
/// for a language model.
STENO_COLD inline std::vector<position_hypothesis> position_beam(const view<const float>& scores,
                                                                 const position_beam_options& o) {
  using hypothesis = detail::position_step::hypothesis;
  o.search.refuse_length_penalty();
  o.search.refuse_words();
  const hotword_automaton none;
  const hotword_automaton* const phrases = o.search.favoured_all().hotwords();
  detail::position_step step(o, phrases != nullptr ? *phrases : none, scores.cols());
  std::vector<hypothesis> all = step.kept;
  for (extent t = 0; t < scores.rows(); ++t) {
    const std::size_t from = all.size() - step.kept.size();
    step.take(scores.data() + t * scores.outerStride());
    for (hypothesis& h : step.kept) {
      h.before += from;
      all.push_back(h);
    }
  }
  step.finish();
  std::vector<position_hypothesis> found;
  for (std::size_t k = 0; k < std::min(step.beam, step.kept.size()); ++k) {
    position_hypothesis& f = found.emplace_back();
    f.score = step.kept[k].total();
    for (const hypothesis* h = &step.kept[k]; h->id >= 0; h = &all[h->before]) f.ids.push_back(h->id);
    std::reverse(f.ids.begin(), f.ids.end());
  }
  return found;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
