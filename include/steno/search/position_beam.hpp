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
// settled at once, and the text stays the one that all positions together would have given. One inside a phrase that is
// further behind than the phrase can earn is dropped, so it holds back nothing. Where they go apart for longer than a
// limit, the best one decides. What begins a phrase is not settled because state 0 is better for now: the
// phrase would be lost that the next position completes. Tested in tests/search/position_beam_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/search/guide.hpp>
#include <steno/search/search_options.hpp>
#include <steno/search/stable_sorter.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How position_beam() and position_search search.
struct position_beam_options {
  static constexpr extent default_beam = 10;  ///< as ctc_prefix_beam
  /// What suits a stream as `settle_after`: phrases of up to so many tokens have their time, four seconds of speech.
  static constexpr extent usual_limit = 16;
  search_options search = {};  ///< hypotheses of each state, the n-best list; no length penalty
  /// Units of phrases whose log-probability is so much below the best token's are not looked at.
  float near = 12;
  std::span<const int> silent = {};  ///< tokens that are no text: phrases go on over them
  /// Of a stream: a token so many positions back is settled in any case, as the best hypothesis has it. Then one
  /// hypothesis of each state is kept and there is no n-best list. Not positive: nothing is settled.
  extent settle_after = 0;
};

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

namespace detail {

/// The hypotheses of position_search at one position, and the step to the next. Copyable.
class position_step {
 public:
  struct hypothesis {
    double score = 0, bonus = 0;  // of the model, of phrases
    std::size_t before = 0;       // among all that were kept
    int id = -1, state = 0;
    float log_probability = 0;  // of the token
    double total() const noexcept { return score + bonus; }
  };

  position_step(const position_beam_options& o, extent tokens)
      : near_(o.near),
        silent_(o.silent),
        phrases_(o.search.favoured_all().hotwords()),
        tokens_(tokens),
        taken_(static_cast<std::size_t>(tokens), false),
        is_best_(static_cast<std::size_t>(tokens), 0) {
    beam = static_cast<std::size_t>(o.search.beam_or(position_beam_options::default_beam));
    each_ = o.settle_after > 0 ? 1 : beam;
    if (phrases_ == nullptr) return;
    phrases_->continuations(0, [&](const continuation& c) {
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
    of_states_.clear();
    leavers_.clear();
    for (std::size_t k = 0; k < kept.size(); ++k) go_on(k);
    sorter_.sort(leavers_, [](const leaver& a, const leaver& b) { return rank(a.total) > rank(b.total); });
    for (const int id : best_) {
      if (!is_text(id)) continue;
      const auto [state, bonus] = phrases_ != nullptr ? phrases_->next(0, id) : std::pair(0, 0.0f);
      leave({id, state, bonus}, true, -std::numeric_limits<double>::infinity());
    }
    choose();
    begin_phrases();
    std::swap(kept, next_);
  }
  /// The same with what phrases that stay unfinished pay back.
  hypothesis finished(hypothesis h) const noexcept {
    if (phrases_ != nullptr) h.bonus = static_cast<double>(phrases_->finish(h.state, static_cast<float>(h.bonus)));
    return h;
  }
  static bool better(const hypothesis& a, const hypothesis& b) noexcept {
    const double one = rank(a.total()), other = rank(b.total());
    if (one != other) return one > other;
    return a.before != b.before ? a.before < b.before : a.id < b.id;
  }

 private:
  using continuation = hotword_automaton::continuation;
  struct leaver {  // a hypothesis that leaves its phrases
    double total;
    std::size_t hypothesis;
    std::size_t ways;  // in of_states_
  };
  struct state_ways {  // where a state of the automaton leads to at this position: hypotheses share states
    int state;
    std::size_t first, count;  // in own_
    hotword_automaton::leaving out;
  };

  // Sorting needs an order of all of them: no number, which a damaged model may give, is the worst.
  template <class T>
  static T rank(T score) noexcept {
    return std::isnan(score) ? -std::numeric_limits<T>::infinity() : score;
  }
  template <class List>
  static bool holds(const List& list, int id) noexcept {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  bool is_text(int id) const noexcept { return id >= 0 && id < tokens_ && !holds(silent_, id); }
  bool is_near(int id) const noexcept { return row_[id] > floor_; }
  std::span<const continuation> own(const state_ways& w) const noexcept {
    return std::span<const continuation>(own_).subspan(w.first, w.count);
  }
  bool goes_on(const state_ways& w, int unit) const noexcept {
    const auto all = own(w);
    return std::any_of(all.begin(), all.end(), [unit](const continuation& c) { return c.unit == unit; });
  }
  void push(std::size_t k, int id, int state, float bonus) {
    next_.push_back({kept[k].score + static_cast<double>(row_[id]), kept[k].bonus + static_cast<double>(bonus), k, id,
                     state, row_[id]});
  }

  void find_best() {
    for (const int id : best_) is_best_[static_cast<std::size_t>(id)] = 0;
    best_.clear();
    const auto above = [this](int a, int b) { return rank(row_[a]) > rank(row_[b]); };
    for (int i = 0; i < tokens_; ++i) {
      const bool full = best_.size() == beam;
      if (full && !above(i, best_.back())) continue;
      if (full) best_.pop_back();
      best_.insert(std::upper_bound(best_.begin(), best_.end(), i, above), i);
    }
    for (const int id : best_) is_best_[static_cast<std::size_t>(id)] = 1;
    floor_ = row_[best_[0]] - near_;
  }
  // Hypothesis k with what goes on with its phrases.
  void go_on(std::size_t k) {
    const int from = kept[k].state;
    for (const int id : best_)
      if (holds(silent_, id)) push(k, id, from, 0);
    const std::size_t at = ways_of(from);
    const state_ways& ways = of_states_[at];
    for (const continuation& c : own(ways)) push(k, c.unit, c.state, c.bonus);
    leavers_.push_back({kept[k].total() + static_cast<double>(ways.out.paid), k, at});
  }
  // The place of a state in of_states_.
  std::size_t ways_of(int state) {
    std::size_t at = 0;
    while (at < of_states_.size() && of_states_[at].state != state) ++at;
    if (at < of_states_.size()) return at;
    state_ways& ways = of_states_.emplace_back(state_ways{state, own_.size(), 0, {.begins = true}});
    if (phrases_ == nullptr) return at;
    const auto wanted = [&](int unit) {
      return unit >= 0 && unit < tokens_ && (is_near(unit) || is_best_[static_cast<std::size_t>(unit)] != 0) &&
             is_text(unit);
    };
    ways.out = phrases_->inner_continuations(state, wanted, [&](const continuation& c) {
      const auto unit = static_cast<std::size_t>(c.unit);
      if (taken_[unit]) return;  // the first time is right
      taken_[unit] = true;
      own_.push_back(c);
    });
    ways.count = own_.size() - ways.first;
    for (const continuation& c : own(ways)) taken_[static_cast<std::size_t>(c.unit)] = false;
    return at;
  }
  // The best hypotheses that leave their phrases, with c: those whose totals come to `least`, and no more than one
  // state keeps, as it leads all of them to one. Those that cannot begin a phrase at once go to state 0, with `all`.
  void leave(const continuation& c, bool all, double least) {
    const double more = static_cast<double>(row_[c.unit]) + static_cast<double>(std::max(c.bonus, 0.0f));
    std::size_t begun = 0, rest = 0;
    for (const leaver& l : leavers_) {
      const state_ways& ways = of_states_[l.ways];
      const bool begins = ways.out.begins;
      if (l.total + more < least || (begun == each_ && rest == each_)) return;
      if (begins ? begun == each_ : !all || rest == each_) continue;
      if (goes_on(ways, c.unit)) continue;
      push(l.hypothesis, c.unit, begins ? c.state : 0, begins ? ways.out.paid + c.bonus : ways.out.paid);
      ++(begins ? begun : rest);
    }
  }
  // The best in next_, of each state no more than may be. Places are sorted, as hypotheses are larger.
  void choose() {
    const std::size_t places = beam * beam;
    order_.resize(next_.size());
    for (std::size_t i = 0; i < next_.size(); ++i) order_[i] = {rank(next_[i].total()), i};
    const auto first = [this](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : better(next_[a.second], next_[b.second]);
    };
    chosen_.clear();
    states_.clear();
    for (std::size_t sorted = 0, k = 0; k < order_.size() && chosen_.size() < places; ++k) {
      if (k == sorted) {  // a part that will mostly do
        const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(sorted);
        sorted = std::min(order_.size(), sorted + places + places / 4);
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(sorted);
        std::nth_element(begin, end, order_.end(), first);
        std::sort(begin, end, first);
      }
      const hypothesis& h = next_[order_[k].second];
      auto at = std::find_if(states_.begin(), states_.end(), [&](const auto& s) { return s.first == h.state; });
      if (at == states_.end()) at = states_.insert(states_.end(), {h.state, 0});
      if (at->second++ < each_) chosen_.push_back(h);
    }
    std::swap(next_, chosen_);
  }
  // What begins a phrase and is none of the best tokens: only where it gets among the chosen, as more of them never let
  // a worse one in.
  void begin_phrases() {
    const std::size_t chosen = next_.size();
    const double least = chosen < beam * beam ? -std::numeric_limits<double>::infinity() : next_.back().total() - slack;
    for (const continuation& c : beginnings_)
      if (is_near(c.unit) && is_best_[static_cast<std::size_t>(c.unit)] == 0) leave(c, false, least);
    if (next_.size() > chosen) choose();
  }

  static constexpr double slack = 1e-3;  // for sums that are rounded in another order; what is too much is not chosen

  float near_;
  std::span<const int> silent_;
  const hotword_automaton* phrases_;  // null: none
  extent tokens_;
  std::size_t each_ = 1;     // hypotheses of each state
  std::vector<bool> taken_;  // of each token: the state at hand has it
  std::vector<continuation> beginnings_ = {};
  std::vector<char> is_best_;  // of each token: one of best_
  const float* row_ = nullptr;
  float floor_ = 0;  // what is near is above
  std::vector<int> best_ = {};
  std::vector<continuation> own_ = {};
  std::vector<state_ways> of_states_ = {};
  std::vector<leaver> leavers_ = {};
  stable_sorter sorter_ = {};
  std::vector<hypothesis> next_ = {}, chosen_ = {};
  std::vector<std::pair<double, std::size_t>> order_ = {};  // totals and places in next_
  std::vector<std::pair<int, std::size_t>> states_ = {};    // how many there are of each
};

}  // namespace detail

/// The search as positions come: however they are divided among calls, the results are the same. Copyable; one per
/// text, and one thread's at a time. A stream's (`settle_after`) allocates nothing once it is warm; any other keeps all
/// positions.
class position_search {
 public:
  /// In front of a text; each position has `tokens` scores. What `o` points at must outlive this and all copies. Throws
  /// steno::error for a length penalty and for a language model.
  position_search(const position_beam_options& o, extent tokens)
      : limit_(static_cast<std::size_t>(std::max<extent>(o.settle_after, 0))), step_(o, tokens) {
    o.search.refuse_length_penalty();
    o.search.refuse_words();
    const hotword_automaton* const phrases = o.search.favoured();
    if (phrases != nullptr && phrases->rules() == hotword_rules::runtime)
      may_earn_ = static_cast<double>(phrases->highest_step()) * static_cast<double>(phrases->longest() - 1);
  }

  /// Back to the front of a text.
  void restart() {
    step_.kept.assign(1, {});
    nodes_.clear();
    first_.clear();
    settled_.clear();
  }
  /// Goes on with log-probabilities [positions, tokens].
  void advance(const view<const float>& scores) {
    for (extent t = 0; t < scores.rows(); ++t) {
      step_.take(scores.data() + t * scores.outerStride());
      if (limit_ > 0) drop_hopeless();
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
  STENO_COLD std::vector<position_hypothesis> texts() {
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
  void trace(const hypothesis& h) {
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
  void settle_shared() {
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
  // Drops hypotheses inside of phrases that no units of theirs can bring back: the best one outside keeps what it has,
  // and what follows earns it no less than nothing.
  void drop_hopeless() {
    constexpr double slack = 1e-3;  // of sums
    const auto outside = [](const hypothesis& h) { return h.state == 0; };
    const auto best = std::find_if(step_.kept.begin(), step_.kept.end(), outside);
    if (best == step_.kept.end()) return;
    const double least = best->total() - may_earn_ - slack;
    while (step_.kept.back().total() < least) step_.kept.pop_back();
  }
  // Drops hypotheses that have another first token than the best one. More than one position is there.
  void decide() {
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
  double may_earn_ = std::numeric_limits<double>::infinity();  // by a phrase, behind its first unit
  detail::position_step step_;
  std::vector<node> nodes_ =
      {};  // of the positions that are not settled, those of a hypothesis at the last in its order
  std::vector<std::size_t> first_ = {};  // where in nodes_ those of a position begin
  std::vector<position_token> settled_ = {}, path_ = {};
  std::vector<char> marks_ = {};  // of each node
};

/// The best texts of log-probabilities [positions, tokens], best first. Throws steno::error for a length penalty and
/// for a language model.
STENO_COLD inline std::vector<position_hypothesis> position_beam(const view<const float>& scores,
                                                                 const position_beam_options& o) {
  position_search all(o, scores.cols());
  all.advance(scores);
  return all.texts();
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
