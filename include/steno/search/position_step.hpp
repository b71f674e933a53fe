// steno/search/position_step.hpp - the step of position_beam() and position_search from one position to the next.
//
// A long list gives hundreds of candidates at each position and few of them get a place, so each is compared with what
// surely gets one before it is kept. One that is further behind than its phrase can earn is dropped, too: it would hold
// back a stream. States of the automaton are looked at once, whatever number of hypotheses is in them. Why only the
// best few hypotheses begin a phrase: position_beam.hpp. Tested in tests/search/position_beam_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/search/guide.hpp>
#include <steno/search/search_options.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
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
  float token_threshold = 12;
  std::span<const int> silent = {};  ///< tokens that are no text: phrases go on over them
  /// Of a stream: a token so many positions back is settled in any case, as the best hypothesis has it. Then one
  /// hypothesis of each state is kept and there is no n-best list. Not positive: nothing is settled.
  extent settle_after = 0;
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

  STENO_ON_CALL position_step(const position_beam_options& o, extent tokens)
      : threshold_(o.token_threshold),
        silent_(o.silent),
        phrases_(o.search.favoured_all().hotwords()),
        tokens_(tokens),
        taken_(static_cast<std::size_t>(tokens), 0),
        is_best_(static_cast<std::size_t>(tokens), 0) {
    beam = static_cast<std::size_t>(o.search.beam_or(position_beam_options::default_beam));
    each_ = o.settle_after > 0 ? 1 : beam;
    if (phrases_ == nullptr) return;
    phrases_->continuations(0, [&](const continuation& c) {
      if (is_text(c.unit)) beginnings_.push_back(c);
    });
    if (phrases_->rules() != hotword_rules::runtime || phrases_->empty() || !phrases_->never_costs()) return;
    highest_ = static_cast<double>(phrases_->highest_step());
    may_earn_ = highest_ * static_cast<double>(phrases_->longest() - 1);
  }

  std::size_t beam = 0;
  std::vector<hypothesis> kept = {{}};  // best first

  /// Goes on with log-probabilities [tokens].
  STENO_ON_CALL void take(const float* row) {
    row_ = row;
    find_best();
    find_least();
    next_.clear();
    own_.clear();
    of_states_.clear();
    beginners_.clear();
    others_.clear();
    for (std::size_t k = 0; k < kept.size() && !(best_total(k) < least_); ++k) go_on(k);
    for (const int id : best_) {
      if (!is_text(id)) continue;
      const auto [state, bonus] = phrases_ != nullptr ? phrases_->next(0, id) : std::pair(0, 0.0f);
      leave(beginners_, {id, state, bonus});
      leave(others_, {id, 0, 0});
    }
    for (const continuation& c : beginnings_)
      if (is_near(c.unit) && is_best_[static_cast<std::size_t>(c.unit)] == 0) leave(beginners_, c);
    choose();
    std::swap(kept, next_);
  }
  /// The same with what phrases that stay unfinished pay back.
  STENO_ON_CALL hypothesis finished(hypothesis h) const noexcept {
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
  struct way : continuation {
    double more;  // to a total, about
  };
  struct state_ways {  // where a state of the automaton leads to at this position: hypotheses share states
    int state;
    std::size_t first, count;  // in own_
    std::size_t children;      // the first of them go on with all of it
    hotword_automaton::leaving out;
  };

  // Sorting needs an order of all of them: no number, which a damaged model may give, is the worst.
  template <class T>
  static T rank(T score) noexcept {
    return std::isnan(score) ? -std::numeric_limits<T>::infinity() : score;
  }
  static bool above(double a, double b) noexcept { return a > b; }
  template <class List>
  static bool holds(const List& list, int id) noexcept {
    return std::find(list.begin(), list.end(), id) != list.end();
  }
  bool is_text(int id) const noexcept { return id >= 0 && id < tokens_ && !holds(silent_, id); }
  bool is_near(int id) const noexcept { return row_[id] > floor_; }
  STENO_ON_CALL std::span<const way> own(const state_ways& w) const noexcept {
    return std::span<const way>(own_).subspan(w.first, w.count);
  }
  STENO_ON_CALL bool goes_on(const state_ways& w, int unit) const noexcept {
    const auto all = own(w);
    return std::any_of(all.begin(), all.end(), [unit](const way& c) { return c.unit == unit; });
  }
  // With hypothesis k, which goes on. `counts`: no more of those than a state keeps lead to the state behind.
  STENO_ON_CALL void push(std::size_t k, int id, int state, float bonus, bool counts) {
    const double score = kept[k].score + static_cast<double>(row_[id]);
    const double earned = kept[k].bonus + static_cast<double>(bonus);
    if (score + earned < least_) return;
    next_.push_back({score, earned, k, id, state, row_[id]});
    if (counts) raise(score + earned);
  }
  // So much gets a place: what is worse than as many as there are places gets none. How many come to what is counted by
  // eighths, downwards from about the best.
  STENO_ON_CALL void raise(double total) {
    const double below = 8 * (top_ - total);
    if (!(below < static_cast<double>(eighths))) return;
    const auto at = static_cast<std::size_t>(std::max(below, 0.0));
    if (at > last_) return;
    ++counts_[at];
    ++counted_;
    if (counted_ < places()) return;
    while (counted_ - counts_[last_] >= places()) counted_ -= counts_[last_--];
    least_ = std::max(least_, top_ - static_cast<double>(last_ + 1) / 8 - slack);
  }

  STENO_ON_CALL void find_best() {
    for (const int id : best_) is_best_[static_cast<std::size_t>(id)] = 0;
    best_.clear();
    const auto better_token = [this](int a, int b) { return rank(row_[a]) > rank(row_[b]); };
    for (int i = 0; i < tokens_; ++i) {
      const bool full = best_.size() == beam;
      if (full && !better_token(i, best_.back())) continue;
      if (full) best_.pop_back();
      best_.insert(std::upper_bound(best_.begin(), best_.end(), i, better_token), i);
    }
    for (const int id : best_) is_best_[static_cast<std::size_t>(id)] = 1;
    floor_ = row_[best_[0]] - threshold_;
    lowest_ = std::min(floor_, row_[best_.back()]);
  }
  // No more than hypothesis k comes to at this position.
  STENO_ON_CALL double best_total(std::size_t k) const noexcept {
    return kept[k].total() + static_cast<double>(row_[best_[0]]) + highest_ + slack;
  }
  // What is so far behind comes back by no unit of its phrases: as many others as a state keeps may leave theirs and
  // take the best token, and what follows earns them no less than nothing.
  STENO_ON_CALL void find_least() {
    least_ = -std::numeric_limits<double>::infinity();
    top_ = kept[0].total() + static_cast<double>(row_[best_[0]]);
    counts_.fill(0);
    counted_ = 0;
    last_ = eighths - 1;
    if (phrases_ == nullptr || kept.size() < each_) return;
    outside_.clear();
    for (const hypothesis& h : kept) outside_.push_back(rank(h.total() + static_cast<double>(phrases_->paid(h.state))));
    const auto last = outside_.begin() + static_cast<std::ptrdiff_t>(each_ - 1);
    std::nth_element(outside_.begin(), last, outside_.end(), above);
    const double least = *last + static_cast<double>(row_[best_[0]]) - may_earn_ - slack;
    if (!std::isnan(least)) least_ = least;
  }
  // Hypothesis k with what goes on with its phrases.
  STENO_ON_CALL void go_on(std::size_t k) {
    const int from = kept[k].state;
    for (const int id : best_)
      if (holds(silent_, id)) push(k, id, from, 0, false);
    const std::size_t at = ways_of(from, k);
    const state_ways& ways = of_states_[at];
    const double total = kept[k].total() + slack;
    for (std::size_t i = 0; const way& c : own(ways)) {
      const bool child = i++ < ways.children;
      if (!(total + c.more < least_)) push(k, c.unit, c.state, c.bonus, child && c.state != 0);
    }
    const double left = rank(kept[k].total() + static_cast<double>(ways.out.paid));
    std::vector<leaver>& list = ways.out.begins ? beginners_ : others_;
    auto place = list.end();  // nearly in order as they come
    while (place != list.begin() && (place - 1)->total < left) --place;
    list.insert(place, {left, k, at});
  }
  // The place of a state in of_states_. Hypothesis k is the first and the best that is in it.
  STENO_ON_CALL std::size_t ways_of(int state, std::size_t k) {
    std::size_t at = 0;
    while (at < of_states_.size() && of_states_[at].state != state) ++at;
    if (at < of_states_.size()) return at;
    state_ways& ways = of_states_.emplace_back(state_ways{state, own_.size(), 0, 0, {.begins = true}});
    if (phrases_ == nullptr) return at;
    const float least = std::max(lowest_, static_cast<float>(least_ - kept[k].total() - highest_ - slack));
    const auto wanted = [&](int unit) {
      if (unit < 0 || unit >= tokens_ || row_[unit] < least) return false;
      return (is_near(unit) || is_best_[static_cast<std::size_t>(unit)] != 0) && is_text(unit);
    };
    ways.out = phrases_->inner_continuations(state, wanted, [&](const continuation& c, bool child) {
      const auto unit = static_cast<std::size_t>(c.unit);
      if (taken_[unit] != 0) return;  // the first time is right
      taken_[unit] = 1;
      own_.push_back({c, static_cast<double>(row_[unit]) + static_cast<double>(c.bonus)});
      if (child) ways.children = own_.size() - ways.first;
    });
    ways.count = own_.size() - ways.first;
    for (const way& c : own(ways)) taken_[static_cast<std::size_t>(c.unit)] = 0;
    return at;
  }
  // The best hypotheses of a list that leave their phrases with c, and no more than its state keeps.
  STENO_ON_CALL void leave(const std::vector<leaver>& list, const continuation& c) {
    const double more = static_cast<double>(row_[c.unit]) + static_cast<double>(std::max(c.bonus, 0.0f));
    std::size_t left = 0;
    for (const leaver& l : list) {
      if (left == each_ || l.total + more < least_ - slack) return;
      const state_ways& ways = of_states_[l.ways];
      if (goes_on(ways, c.unit)) continue;
      push(l.hypothesis, c.unit, c.state, ways.out.paid + c.bonus, c.state != 0);
      ++left;
    }
  }
  std::size_t places() const noexcept { return beam * beam; }
  // How many of a state are chosen: a table of twice as many states as there can be.
  STENO_ON_CALL std::size_t& count(int state) {
    const std::size_t mask = kept_of_.size() - 1;
    std::size_t at = static_cast<std::size_t>(state) & mask;
    while (kept_of_[at].first != state && kept_of_[at].first >= 0) at = (at + 1) & mask;
    kept_of_[at].first = state;
    return kept_of_[at].second;
  }
  // The best in next_, of each state no more than may be. Places are sorted, as hypotheses are larger.
  STENO_ON_CALL void choose() {
    order_.clear();
    for (std::size_t i = 0; i < next_.size(); ++i)
      if (const double total = rank(next_[i].total()); total >= least_) order_.emplace_back(total, i);
    const auto first = [this](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : better(next_[a.second], next_[b.second]);
    };
    chosen_.clear();
    kept_of_.assign(std::bit_ceil(2 * places()), {-1, 0});
    for (std::size_t sorted = 0, k = 0; k < order_.size() && chosen_.size() < places(); ++k) {
      if (k == sorted) {  // a part that will mostly do
        const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(sorted);
        sorted = std::min(order_.size(), sorted + places() + places() / 4);
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(sorted);
        std::nth_element(begin, end, order_.end(), first);
        std::sort(begin, end, first);
      }
      const hypothesis& h = next_[order_[k].second];
      if (count(h.state)++ < each_) chosen_.push_back(h);
    }
    std::swap(next_, chosen_);
  }

  static constexpr double slack = 1e-3;  // for sums that are rounded in another order; what is too much is not chosen

  float threshold_;
  std::span<const int> silent_;
  const hotword_automaton* phrases_;  // null: none
  extent tokens_;
  std::size_t each_ = 1;                                       // hypotheses of each state
  double highest_ = std::numeric_limits<double>::infinity();   // no unit earns more
  double may_earn_ = std::numeric_limits<double>::infinity();  // by a phrase, behind its first unit
  std::vector<char> taken_;                                    // of each token: the state at hand has it
  std::vector<continuation> beginnings_ = {};
  std::vector<char> is_best_;  // of each token: one of best_
  const float* row_ = nullptr;
  float floor_ = 0;   // what is near is above
  float lowest_ = 0;  // what is below is neither near nor one of the best
  double least_ = 0;  // what is below is dropped
  std::vector<int> best_ = {};
  std::vector<double> outside_ = {};  // totals of hypotheses that leave their phrases
  double top_ = 0;                    // about the best total
  static constexpr std::size_t eighths = 256;
  std::array<std::size_t, eighths> counts_ = {};  // of what gets places, the best first
  std::size_t counted_ = 0, last_ = 0;            // of the first ones, to the last that is counted
  std::vector<way> own_ = {};
  std::vector<state_ways> of_states_ = {};
  std::vector<leaver> beginners_ = {}, others_ = {};  // best first: whose next unit may begin a phrase, or may not
  std::vector<hypothesis> next_ = {}, chosen_ = {};
  std::vector<std::pair<double, std::size_t>> order_ = {};  // totals and places in next_
  std::vector<std::pair<int, std::size_t>> kept_of_ = {};   // states, and how many are chosen of each
};

}  // namespace detail

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
