// steno/search/hotword_automaton.hpp - phrases that a search shall prefer: an Aho-Corasick automaton over units.
//
// Every unit of a phrase earns a bonus while it is matched; a hypothesis that leaves a phrase half-way pays back on the
// failure arc. WeNet has two versions that score differently, and both are kept:
//
//   runtime   context_graph.cc over OpenFst: unit i of a phrase earns score + i * increment; a finished phrase keeps
//             that; finish() follows one failure arc and the search sorts again
//   training  utils/context_graph.py: every unit earns score, a finished phrase its whole bonus a second time; finish()
//             REPLACES what was earned by minus the open part, and the list is not sorted again
//
// A phrase may have a weight: its units earn so many times the score. Where phrases of several weights begin alike,
// what they share earns the largest, and a phrase that is finished has earned its own. Where a text begins, a phrase
// may be spelled in another way (without the space in front of it): start() knows those beside the others. A node's
// children are in order and their bonus stands beside them, so a search pays for the units it looks at and not for the
// length of the list. Const after construction, shared by any number of searches. Tested in
// tests/search/hotword_automaton_test.cpp and on golden n-best lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How phrases are scored: as WeNet's context_graph.cc does it (runtime), or its context_graph.py (training).
enum class hotword_rules { runtime, training };

/// What hotwords earn.
struct hotword_options {
  hotword_rules rules = hotword_rules::runtime;  ///< whose bonuses they are
  float score = 3.0f;                            ///< for each unit
  float increment = 0.0f;                        ///< more for each further unit of a phrase (runtime rules)
};

/// Phrases as a graph. Const once it is made: any number of threads and searches may share one.
class hotword_automaton {
 public:
  /// No phrases.
  STENO_ON_CALL hotword_automaton() : hotword_automaton(std::span<const std::vector<int>>{}, {}) {}
  /// `phrases` are lists of units; empty ones are left out.
  /// `weights` are factors of what they earn, one of each phrase, or none at all; the training rules have none.
  /// `openings` are spellings that a phrase has at the beginning of a text alone, of the runtime rules; their weights
  /// stand behind the others.
  STENO_ON_CALL STENO_COLD explicit hotword_automaton(std::span<const std::vector<int>> phrases,
                                                      const hotword_options& options,
                                                      std::span<const float> weights = {},
                                                      std::span<const std::vector<int>> openings = {})
      : options_(options) {
    nodes_.emplace_back();
    tree children(1);
    for (std::size_t p = 0; p < phrases.size(); ++p) insert(phrases[p], static_cast<int>(p), 0, children);
    if (!openings.empty() && options.rules == hotword_rules::runtime) {
      start_ = static_cast<int>(nodes_.size());
      nodes_.emplace_back();
      children.emplace_back();
      for (std::size_t p = 0; p < openings.size(); ++p)
        insert(openings[p], static_cast<int>(phrases.size() + p), start_, children);
    }
    const std::vector<int> order = lay_out(children);
    if (!weights.empty() && options.rules == hotword_rules::runtime) weigh(phrases, openings, weights);
    for (const node& n : nodes_) highest_ = std::max(highest_, n.step);
    for (const auto all : {phrases, openings})
      for (const std::vector<int>& p : all) longest_ = std::max(longest_, p.size());
    if (options.rules == hotword_rules::runtime) {
      fill_failures(order);
      fill_failure_arcs(order);
    } else {
      fill_outputs(order);
    }
    for (arc& a : arcs_) {
      a.step = at(a.to).step;
      a.behind = state_behind(a.to);
    }
  }

  /// Whether there are no phrases.
  bool empty() const noexcept { return nodes_.size() == 1; }
  /// The state in front of a text; 0 where there are no openings.
  int start() const noexcept { return start_; }
  /// The rules that it was made with.
  hotword_rules rules() const noexcept { return options_.rules; }

  /// The state after `unit` (states begin at 0) and the bonus earned; numbers of completed phrases are appended to
  /// `matched` when it is not null.
  STENO_ON_CALL std::pair<int, float> next(int state, int unit, std::vector<int>* matched = nullptr) const {
    return options_.rules == hotword_rules::runtime ? next_runtime(state, unit, matched) : next_training(state, unit);
  }
  /// A unit that begins or goes on with a phrase, and what next() gives for it.
  struct continuation {
    int unit = 0;     ///< what comes next
    int state = 0;    ///< behind it
    float bonus = 0;  ///< earned
  };
  /// What becomes of a hypothesis that goes on with none of its phrases.
  struct leaving {
    float paid = 0;       ///< bonus of the way back to state 0
    bool begins = false;  ///< whether its next unit may begin a phrase: it earns `paid` and what it earns in state 0
  };
  /// Calls f(continuation) for the units that begin or go on with a phrase in `state`. One may come twice; then the
  /// first is right.
  template <class F>
  void continuations(int state, F&& f) const {
    const leaving out = inner_continuations(
        state, [](int) { return true; }, [&](const continuation& c, bool) { f(c); });
    if (!out.begins) return;
    for (const arc& a : arcs(0)) f(continuation{a.unit, a.behind, out.paid + a.step + at(a.to).output});
  }
  /// As continuations(), without the units that only begin a phrase, which are the same for all states, and for those
  /// alone that `wanted` (bool(int unit)) wants: nothing is looked up for the others. f also gets whether the unit
  /// goes on with all of `state`: these come first, and no other state leads in this way to the one behind, if that is
  /// not 0.
  template <class Wanted, class F>
  leaving inner_continuations(int state, Wanted&& wanted, F&& f) const {
    const bool exact = options_.rules == hotword_rules::runtime;
    float paid = 0;
    for (int now = state; now != 0; now = at(now).fail) {
      for (const arc& a : arcs(now)) {
        if (!wanted(a.unit)) continue;
        if (exact) {
          f(continuation{a.unit, a.behind, paid + a.step}, now == state);
        } else {
          const auto [after, bonus] = next_training(state, a.unit);
          f(continuation{a.unit, after, bonus}, false);
        }
      }
      if (exact && !at(now).has_arc) return {.paid = paid, .begins = false};
      paid += at(now).arc;
    }
    return {.paid = exact ? paid : -at(state).total, .begins = true};
  }
  /// What a hypothesis in `state` earns by leaving all of its phrases: no more than nothing.
  float paid(int state) const noexcept {
    if (options_.rules == hotword_rules::training) return -at(state).total;
    float all = 0;
    for (int now = state; now != 0 && at(now).has_arc; now = at(now).fail) all += at(now).arc;
    return all;
  }
  /// Whether no phrase, whole or begun, earns less than nothing, as with a negative score.
  bool never_costs() const noexcept {
    return std::all_of(nodes_.begin(), nodes_.end(), [](const node& n) { return n.total >= 0; });
  }
  /// No unit earns more.
  float highest_step() const noexcept { return highest_; }
  /// Units of the longest phrase.
  std::size_t longest() const noexcept { return longest_; }
  /// What the end of the input does to a hypothesis in `state` that earned `earned`: its bonus afterwards.
  float finish(int state, float earned) const noexcept {
    const node& n = nodes_[static_cast<std::size_t>(state)];
    if (options_.rules == hotword_rules::training) return -n.total;
    return state != 0 && n.has_arc ? earned + n.arc : earned;
  }

 private:
  struct node {
    std::size_t first = 0, count = 0;       // of its arcs
    float step = 0, total = 0, output = 0;  // of the arc into it; from the root; of phrases that end here (training)
    float arc = 0;                          // failure arc's weight (runtime)
    int fail = 0, phrase = -1;
    bool end = false, has_arc = false;

    bool leaf() const noexcept { return count == 0 && !has_arc; }
  };
  struct arc {  // holds all that a search looks at: nodes of a long list are in no cache
    int unit, to;
    int behind;  // the state of a search that goes on with it
    float step;
  };
  using tree = std::vector<std::vector<std::pair<int, int>>>;  // of each node: unit and node of each child, sorted

  const node& at(int n) const noexcept { return nodes_[static_cast<std::size_t>(n)]; }
  node& at(int n) noexcept { return nodes_[static_cast<std::size_t>(n)]; }
  std::span<const arc> arcs(int of) const noexcept {
    return std::span<const arc>(arcs_).subspan(at(of).first, at(of).count);
  }

  // By the runtime rules a phrase that ends and does not go on begins anew.
  int state_behind(int n) const noexcept { return options_.rules == hotword_rules::runtime && at(n).leaf() ? 0 : n; }
  int child(int of, int unit) const noexcept {
    const auto all = arcs(of);
    const auto found = std::lower_bound(all.begin(), all.end(), unit, [](const arc& a, int u) { return a.unit < u; });
    return found != all.end() && found->unit == unit ? found->to : -1;
  }

  STENO_ON_CALL STENO_COLD void insert(const std::vector<int>& units, int phrase, int root, tree& children) {
    int now = root;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::pair<int, int> lowest(units[i], 0);
      auto& of = children[static_cast<std::size_t>(now)];
      const auto place = std::lower_bound(of.begin(), of.end(), lowest);
      if (place != of.end() && place->first == units[i]) {
        now = place->second;
        continue;
      }
      const int to = static_cast<int>(nodes_.size());
      of.insert(place, {units[i], to});
      node fresh;
      fresh.step = options_.score;
      if (options_.rules == hotword_rules::runtime) fresh.step += static_cast<float>(i) * options_.increment;
      fresh.total = at(now).total + fresh.step;
      // The original marks an end only where a phrase makes a new node.
      if (options_.rules == hotword_rules::training && i + 1 == units.size()) fresh.end = true;
      if (fresh.end) fresh.output = fresh.total;
      nodes_.push_back(fresh);
      children.emplace_back();
      now = to;
    }
    if (now == root) return;
    if (options_.rules == hotword_rules::runtime) at(now).end = true;
    at(now).phrase = phrase;
  }
  // Nodes breadth first; their arcs stand in this order.
  STENO_ON_CALL STENO_COLD std::vector<int> lay_out(const tree& children) {
    std::vector<int> order = roots();
    arcs_.reserve(nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto& all = children[static_cast<std::size_t>(order[i])];
      at(order[i]).first = arcs_.size();
      at(order[i]).count = all.size();
      for (const auto& [unit, to] : all) {
        arcs_.push_back({unit, to, to, 0});
        order.push_back(to);
      }
    }
    return order;
  }

  // What phrases share earns the largest weight of theirs; the end of each settles what it has earned in all.
  STENO_ON_CALL STENO_COLD void weigh(std::span<const std::vector<int>> phrases,
                                      std::span<const std::vector<int>> openings, std::span<const float> weights) {
    const auto step = [&](std::size_t i) { return options_.score + static_cast<float>(i) * options_.increment; };
    std::vector<float> largest(nodes_.size(), 0), own(nodes_.size(), 0);
    for (std::size_t p = 0; p < std::min(phrases.size() + openings.size(), weights.size()); ++p) {
      const bool opens = p >= phrases.size();
      const std::vector<int>& units = opens ? openings[p - phrases.size()] : phrases[p];
      int now = opens ? start_ : 0;
      float total = 0;
      for (std::size_t i = 0; i < units.size(); ++i) {
        now = child(now, units[i]);
        float& so_far = largest[static_cast<std::size_t>(now)];
        so_far = std::max(so_far, weights[p]);
        total += step(i) * weights[p];
      }
      own[static_cast<std::size_t>(now)] = std::max(own[static_cast<std::size_t>(now)], total);
    }
    std::vector<std::pair<int, std::size_t>> open;  // nodes and their depth
    for (const int root : roots()) open.emplace_back(root, 0);
    for (std::size_t k = 0; k < open.size(); ++k) {
      const auto [from, depth] = open[k];
      for (const arc& a : arcs(from)) {
        const int to = a.to;
        node& n = at(to);
        n.step = step(depth) * largest[static_cast<std::size_t>(to)];
        n.total = at(from).total + n.step;
        if (n.end) {
          n.step += own[static_cast<std::size_t>(to)] - n.total;
          n.total = own[static_cast<std::size_t>(to)];
        }
        open.emplace_back(to, depth + 1);
      }
    }
  }

  std::vector<int> roots() const { return start_ == 0 ? std::vector<int>{0} : std::vector<int>{0, start_}; }

  void fill_failures(const std::vector<int>& order) {
    for (const int n : order)
      for (const arc& a : arcs(n)) {
        const int unit = a.unit, to = a.to;
        if (n == 0) continue;
        for (int f = at(n).fail;; f = at(f).fail) {
          const int found = child(f, unit);
          if (found >= 0) at(to).fail = found;
          if (found >= 0 || f == 0) break;
        }
      }
  }
  void fill_failure_arcs(const std::vector<int>& order) {
    for (const int n : order) {
      if (n == 0) continue;
      const node& f = at(at(n).fail);
      if (f.end && f.leaf()) continue;
      if (at(n).end && at(n).fail == 0) continue;
      at(n).has_arc = true;
      at(n).arc = at(n).end ? 0.0f : f.total - at(n).total;
    }
  }
  STENO_COLD void fill_outputs(const std::vector<int>& order) {
    for (const int n : order)
      for (const arc& a : arcs(n)) {
        const int unit = a.unit, to = a.to;
        if (n == 0) continue;  // they fall back to the root
        int f = at(n).fail;
        if (child(f, unit) >= 0) {
          f = child(f, unit);
        } else {
          f = at(f).fail;
          while (child(f, unit) < 0) {
            f = at(f).fail;
            if (f == 0) break;
          }
          if (child(f, unit) >= 0) f = child(f, unit);
        }
        at(to).fail = f;
        int out = f;
        while (!at(out).end && out != 0) out = at(out).fail;
        if (out != 0) at(to).output += at(out).output;
      }
  }

  STENO_ON_CALL std::pair<int, float> next_runtime(int state, int unit, std::vector<int>* matched) const {
    float earned = 0;
    for (int now = state;;) {
      const int to = child(now, unit);
      if (to >= 0) {
        earned += at(to).step;
        if (matched != nullptr) {
          if (at(to).end) matched->push_back(at(to).phrase);
          for (int f = to; f != 0 && at(at(f).fail).end;) {
            f = at(f).fail;
            matched->push_back(at(f).phrase);
          }
        }
        return {state_behind(to), earned};
      }
      if (!at(now).has_arc) return {0, earned};
      earned += at(now).arc;
      now = at(now).fail;
      matched = nullptr;  // the original loses its list on the way down
    }
  }
  std::pair<int, float> next_training(int state, int unit) const {
    const int direct = child(state, unit);
    if (direct >= 0) return {direct, at(direct).step + at(direct).output};
    int now = at(state).fail;
    while (child(now, unit) < 0) {
      now = at(now).fail;
      if (now == 0) break;
    }
    if (child(now, unit) >= 0) now = child(now, unit);
    return {now, at(now).total - at(state).total + at(now).output};
  }

  hotword_options options_;
  std::vector<node> nodes_;
  std::vector<arc> arcs_;
  float highest_ = 0;
  std::size_t longest_ = 0;
  int start_ = 0;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
