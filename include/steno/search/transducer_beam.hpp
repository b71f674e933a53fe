// steno/search/transducer_beam.hpp - modified adaptive expansion search (mAES) for transducers, with or without
// durations.
//
//   at a frame, up to `steps` times: every hypothesis is extended by its likely labels (within gamma of the best one);
//   blanks wait for the next frame, labels go on; the best `beam` live on. A hypothesis that is another one and one
//   label more also gets the probability of saying that label now (prefix search).
//   TDT: label and duration are one choice; hypotheses wait at different frames, equal ones at a frame are joined.
//
// Kim et al. 2020; NeMo `modified_adaptive_expansion_search` (rnnt_beam_decoding.py, tdt_beam_decoding.py) with
// prefix_alpha 1 and its order of equal scores. Hotwords and language models (guide) are steno's own: what a label
// earns counts wherever labels or hypotheses are compared, and labels that continue a phrase are candidates, too. In a
// stream settle() takes from the front what all hypotheses share, or the best one has decided. Tested in
// tests/search/transducer_beam_test.cpp on what the original finds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/view.hpp>
#include <steno/search/guide.hpp>
#include <steno/search/hypothesis_pool.hpp>
#include <steno/search/search_options.hpp>
#include <steno/search/stable_sorter.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How transducer_beam searches.
struct transducer_beam_options {
  /// What a unit of a hotword should earn, in logarithms of probability. CTC takes 3; here the prediction network goes
  /// on with a word by itself once it has begun, and with so much it emits hotwords that nobody spoke.
  static constexpr float hotword_score = 1;
  static constexpr extent default_beam = 4;  ///< the original's
  search_options search = {};                ///< no length penalty
  int blank = 0;                             ///< its label, which is the last one
  std::span<const int> durations = {};       ///< empty: RNN-T
  extent steps = 2;                          ///< labels that a hypothesis may get at one frame
  extent beta = 2;                           ///< so many labels more than the beam are looked at
  double gamma = 2.3;             ///< choices whose log-probability is so much below the best one's are dropped
  bool length_normalised = true;  ///< the best one is chosen by score / (labels + 1)
};

/// `node` stands for the prediction network behind the labels.
struct transducer_hypothesis {
  std::vector<int> ids;                  ///< labels, without blanks
  std::vector<extent> frames;            ///< when each label was emitted
  std::vector<extent> durations;         ///< of each label; 0 without durations
  std::vector<float> log_probabilities;  ///< of the labels, among labels and blank
  double score = 0;                      ///< log-probability
  search::guided guided = {};            ///< what hotwords and a language model gave
  int node = 0;                          ///< of the network that predicts what follows
  extent next = 0;                       ///< TDT: the frame it waits for

  /// What hypotheses are compared by.
  double total() const noexcept { return score + guided.bonus; }
};

/// Copyable; one per stream. Allocates nothing once it is warm. `Network`:
///   int extend(int node, int label)                             the node behind one more label
///   view<const float> joint(extent frame, span<const int> nodes)  scores [nodes, labels, blank, durations]
///   void keep(span<const int> nodes)                            all others may be forgotten
/// The root is node 0 and is never forgotten.
class transducer_beam {
 public:
  /// At the root, before the first frame. What `o.durations` points at, and what is favoured, must outlive this and all
  /// copies. Throws steno::error for a length penalty.
  STENO_ON_CALL explicit transducer_beam(const transducer_beam_options& o)
      : options_(o), guide_(o.search.favoured_all()), kept_(1) {
    kept_[0].guided = guide_.start();
    options_.search.refuse_length_penalty();
    options_.search.beam = o.search.beam_or(transducer_beam_options::default_beam);
    for (const int d : o.durations)
      if (d > 0 && (shortest_ == 0 || d < shortest_)) shortest_ = d;
    shortest_ = std::max(shortest_, 1);
  }

  /// Frames `from` .. `to` - 1 follow.
  template <class Network>
  void advance(Network& network, extent from, extent to) {
    for (extent t = from; t < to; ++t) {
      if (options_.durations.empty())
        step(network, t);
      else
        step_durations(network, t);
      used_.clear();
      for (const hypothesis& h : kept_) used_.push_back(h.node);
      network.keep(used_);
    }
  }
  /// Settles bonuses of phrases that stay unfinished, and sorts: best first. advance() must not follow.
  STENO_ON_CALL void finish() {
    if (!guide_.empty())
      for (hypothesis& h : kept_) guide_.finish(h.guided);
    const auto value = [&](const hypothesis& h) {
      return options_.length_normalised ? h.total() / static_cast<double>(settled_ + h.ids.size() + 1) : h.total();
    };
    sorter_.sort(kept_, [&](const hypothesis& a, const hypothesis& b) { return value(a) > value(b); });
  }
  /// The number of the likeliest one before finish().
  STENO_ON_CALL std::size_t best() const noexcept {
    std::size_t b = 0;
    for (std::size_t i = 1; i < kept_.size(); ++i)
      if (kept_[i].total() > kept_[b].total()) b = i;
    return b;
  }
  /// Labels that all hypotheses begin with.
  STENO_ON_CALL std::size_t agreed() const noexcept {
    const std::vector<int>& first = kept_[0].ids;
    std::size_t n = first.size();
    for (const hypothesis& h : kept_) {
      std::size_t same = 0;
      while (same < std::min(n, h.ids.size()) && h.ids[same] == first[same]) ++same;
      n = same;
    }
    return n;
  }
  /// Drops hypotheses that do not begin with the first `n` labels of number `of`, and takes these from the others.
  STENO_ON_CALL void settle(std::size_t n, std::size_t of) {
    if (n == 0) return;
    decided_.assign(kept_[of].ids.begin(), kept_[of].ids.begin() + static_cast<std::ptrdiff_t>(n));
    pool_.keep_if(kept_, [&](const hypothesis& h) {
      return h.ids.size() >= n && std::equal(decided_.begin(), decided_.end(), h.ids.begin());
    });
    const auto take = [&](auto& all) { all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)); };
    for (hypothesis& h : kept_) {
      take(h.ids);
      take(h.frames);
      take(h.durations);
      take(h.log_probabilities);
    }
    settled_ += n;
  }
  /// Those that are held, without what was settled; after finish() the best first. Valid until the next call.
  std::span<const transducer_hypothesis> hypotheses() const noexcept { return kept_; }

 private:
  using hypothesis = transducer_hypothesis;
  struct choice {
    int label;
    int duration;
    double log_probability, total;  // of the label; of label and duration, and what the label earns
    float label_only;
  };

  static constexpr std::size_t room = 64;  // labels that a stream has not settled: two at each of 25 rows

  static double log_add(double a, double b) noexcept {
    const double larger = std::max(a, b);
    return larger + std::log1p(std::exp(std::min(a, b) - larger));
  }
  /// x - log(sum of exp(x)).
  STENO_ON_CALL static void normalise(const float* x, extent n, std::vector<double>& y) {
    const double largest = static_cast<double>(*std::max_element(x, x + n));
    double sum = 0;
    for (extent i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x[i]) - largest);
    const double shift = largest + std::log(sum);
    y.resize(static_cast<std::size_t>(n));
    for (extent i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = static_cast<double>(x[i]) - shift;
  }
  extent labels() const noexcept { return options_.blank + extent{1}; }
  STENO_ON_CALL void score(const float* row) {
    normalise(row, labels(), label_);
    if (!options_.durations.empty())
      normalise(row + labels(), static_cast<extent>(options_.durations.size()), duration_);
  }
  template <class Network>
  view<const float> scores(Network& network, extent t, const std::vector<hypothesis>& of) {
    used_.clear();
    for (const hypothesis& h : of) used_.push_back(h.node);
    return network.joint(t, used_);
  }

  // The likely labels: so many of the best, and those that go on with a phrase. Of equal ones the lower number.
  STENO_ON_CALL void choose_labels(const hypothesis& h) {
    order_.resize(label_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int>(i);
    const auto count = std::min(order_.size(), static_cast<std::size_t>(options_.search.beam + options_.beta));
    const auto better = [&](int a, int b) { return at(a) > at(b) || (at(a) == at(b) && a < b); };
    std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(count), order_.end(), better);
    order_.resize(count);
    const hotword_automaton* const hotwords = guide_.hotwords();
    if (hotwords == nullptr) return;
    // prune() drops what is too far below the best one whatever it earns, so of a long list little is left.
    double least = at(order_[0]) + earned(h, order_[0]);
    for (const int label : order_) least = std::max(least, at(label) + earned(h, label));
    least -= options_.gamma + static_cast<double>(hotwords->highest_step());
    taken_.resize(label_.size());
    for (const int label : order_) taken_[static_cast<std::size_t>(label)] = true;
    hotwords->continuations(h.guided.hotword_state, [&](const hotword_automaton::continuation& c) {
      const int label = c.unit;
      if (label < 0 || label >= options_.blank || at(label) < least || taken_[static_cast<std::size_t>(label)]) return;
      taken_[static_cast<std::size_t>(label)] = true;
      order_.push_back(label);
    });
    for (const int label : order_) taken_[static_cast<std::size_t>(label)] = false;
  }
  double at(int label) const noexcept { return label_[static_cast<std::size_t>(label)]; }
  STENO_ON_CALL double earned(const hypothesis& h, int label) const {
    return guide_.empty() || label == options_.blank ? 0.0 : guide_.earned(h.guided, label);
  }
  STENO_ON_CALL hypothesis& copy(const hypothesis& h, std::vector<hypothesis>& to) {
    hypothesis& made = pool_.copy(h, to);
    const auto make_room = [](auto& of) {
      if (of.capacity() < room) of.reserve(room);
    };
    make_room(made.ids);
    make_room(made.frames);
    make_room(made.durations);
    make_room(made.log_probabilities);
    return made;
  }
  STENO_ON_CALL void extend(hypothesis& h, const choice& c, extent t) const {
    h.ids.push_back(c.label);
    h.frames.push_back(t);
    h.durations.push_back(c.duration);
    h.log_probabilities.push_back(c.label_only);
    if (!guide_.empty()) guide_.follow(h.guided, c.label);
  }

  static bool one_more(const hypothesis& longer, const hypothesis& shorter) {
    return longer.ids.size() == shorter.ids.size() + 1 &&
           std::equal(shorter.ids.begin(), shorter.ids.end(), longer.ids.begin());
  }
  /// The probability of emitting the last label at this frame, too.
  template <class Network>
  void search_prefixes(Network& network, extent t, std::vector<hypothesis>& all) {
    sorter_.sort(all, [](const hypothesis& a, const hypothesis& b) { return a.ids.size() > b.ids.size(); });
    for (std::size_t j = 0; j < all.size(); ++j)
      for (std::size_t i = j + 1; i < all.size(); ++i) {
        if (!one_more(all[j], all[i])) continue;
        score(network.joint(t, std::span(&all[i].node, 1)).data());
        double p = all[i].score + at(all[j].ids.back());
        if (!options_.durations.empty()) p += duration_[zero()];
        all[j].score = log_add(all[j].score, p);
      }
  }
  std::size_t zero() const noexcept {
    return static_cast<std::size_t>(std::find(options_.durations.begin(), options_.durations.end(), 0) -
                                    options_.durations.begin());
  }

  static bool likelier(const hypothesis& a, const hypothesis& b) { return a.total() > b.total(); }
  STENO_ON_CALL void keep_best(std::vector<hypothesis>& all) {
    sorter_.sort(all, likelier);
    pool_.shorten(all, static_cast<std::size_t>(options_.search.beam));
    pool_.move(all, kept_);
  }

  template <class Network>
  void step(Network& network, extent t) {
    pool_.move(kept_, now_);
    search_prefixes(network, t, now_);
    known_.resize(std::max(known_.size(), now_.size()));
    const std::size_t known = now_.size();
    for (std::size_t i = 0; i < known; ++i) known_[i] = now_[i].ids;
    const auto is_known = [&](const hypothesis& h) {
      const auto end = known_.begin() + static_cast<std::ptrdiff_t>(known);
      return std::find(known_.begin(), end, h.ids) != end;
    };
    for (extent n = 0; n < options_.steps; ++n) {
      const view<const float> all = scores(network, t, now_);
      pool_.shorten(emitted_, 0);
      for (std::size_t i = 0; i < now_.size(); ++i) {
        const hypothesis& h = now_[i];
        score(all.data() + static_cast<extent>(i) * all.outerStride());
        choose_labels(h);
        choices_.clear();
        for (const int label : order_)
          choices_.push_back({label, 0, at(label), at(label) + earned(h, label), static_cast<float>(at(label))});
        prune();
        // From the least likely to the likeliest, as the original sorts them.
        sorter_.sort(choices_, [](const choice& a, const choice& b) { return a.total < b.total; });
        for (const choice& c : choices_) {
          hypothesis& next = copy(h, c.label == options_.blank ? waiting_ : emitted_);
          next.score += c.log_probability;
          if (c.label == options_.blank) continue;
          extend(next, c, t);
          if (is_known(next)) pool_.shorten(emitted_, emitted_.size() - 1);
        }
      }
      if (emitted_.empty()) break;
      for (hypothesis& h : emitted_) h.node = network.extend(h.node, h.ids.back());
      if (n + 1 < options_.steps) {
        pool_.move(emitted_, now_);
        continue;
      }
      const view<const float> last = scores(network, t, emitted_);
      for (std::size_t i = 0; i < emitted_.size(); ++i) {
        score(last.data() + static_cast<extent>(i) * last.outerStride());
        emitted_[i].score += at(options_.blank);
      }
      pool_.append(emitted_, waiting_);
    }
    pool_.shorten(now_, 0);
    keep_best(waiting_);
  }

  // Only what comes near the best.
  STENO_ON_CALL void prune() {
    double best = choices_.front().total;
    for (const choice& c : choices_) best = std::max(best, c.total);
    std::erase_if(choices_, [&](const choice& c) { return c.total < best - options_.gamma; });
  }

  STENO_ON_CALL void choose_pairs(const hypothesis& h) {
    choose_labels(h);
    choices_.clear();
    for (std::size_t d = 0; d < duration_.size(); ++d)
      for (const int label : order_) {
        const double p = duration_[d] + at(label);
        choices_.push_back({label, options_.durations[d], p, p + earned(h, label), static_cast<float>(at(label))});
      }
    sorter_.sort(choices_, [](const choice& a, const choice& b) { return a.total > b.total; });
    const auto count = static_cast<std::size_t>(options_.search.beam + options_.beta);
    if (choices_.size() > count) choices_.resize(count);
    prune();
  }
  // Equal labels that wait for the same frame are one hypothesis; the likelier one stays.
  STENO_ON_CALL void merge(std::vector<hypothesis>& all) {
    sorter_.sort(all, likelier);
    std::size_t kept = 0;
    pool_.keep_if(all, [&](const hypothesis& h) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(kept);
      const auto same =
          std::find_if(all.begin(), end, [&](const hypothesis& o) { return o.next == h.next && o.ids == h.ids; });
      if (same == end) return ++kept, true;
      same->score = log_add(same->score, h.score);
      return false;
    });
  }
  template <class Network>
  void step_durations(Network& network, extent t) {
    later_.clear();
    for (hypothesis& h : kept_) (h.next <= t ? now_ : later_).push_back(std::move(h));
    kept_.clear();
    if (now_.empty()) return pool_.move(later_, kept_);
    if (zero() < options_.durations.size()) search_prefixes(network, t, now_);
    for (extent n = 0; n < options_.steps; ++n) {
      const view<const float> all = scores(network, t, now_);
      pool_.shorten(emitted_, 0);
      for (std::size_t i = 0; i < now_.size(); ++i) {
        score(all.data() + static_cast<extent>(i) * all.outerStride());
        choose_pairs(now_[i]);
        for (const choice& c : choices_) {
          const bool blank = c.label == options_.blank;
          hypothesis& next = copy(now_[i], blank ? waiting_ : c.duration == 0 ? emitted_ : fresh_);
          next.score += c.log_probability;
          next.next = t + (blank && c.duration == 0 ? shortest_ : c.duration);
          if (!blank) extend(next, c, t);
        }
      }
      for (auto* list : {&fresh_, &emitted_})
        for (hypothesis& h : *list) h.node = network.extend(h.node, h.ids.back());
      pool_.append(fresh_, moved_);
      if (emitted_.empty()) break;
      if (n + 1 < options_.steps) {
        merge(emitted_);
        pool_.move(emitted_, now_);
        continue;
      }
      const view<const float> last = scores(network, t, emitted_);
      for (std::size_t i = 0; i < emitted_.size(); ++i) {
        score(last.data() + static_cast<extent>(i) * last.outerStride());
        std::size_t d =
            static_cast<std::size_t>(std::max_element(duration_.begin(), duration_.end()) - duration_.begin());
        if (options_.durations[d] == 0)
          d = static_cast<std::size_t>(std::find(options_.durations.begin(), options_.durations.end(), shortest_) -
                                       options_.durations.begin());
        emitted_[i].score += at(options_.blank) + duration_[d];
        emitted_[i].next += options_.durations[d];
      }
      pool_.append(emitted_, waiting_);
    }
    pool_.shorten(now_, 0);
    pool_.append(waiting_, later_);
    pool_.append(moved_, later_);
    merge(later_);
    keep_best(later_);
  }

  transducer_beam_options options_;
  guide guide_;
  int shortest_ = 0;  // duration that is not 0
  std::vector<hypothesis> kept_;
  // Of a frame: at which a label may come, of those before, ended by a blank, by a label without a duration, and
  // others.
  std::vector<hypothesis> now_, later_, waiting_, emitted_, fresh_, moved_;
  std::vector<std::vector<int>> known_;
  hypothesis_pool<hypothesis> pool_;
  stable_sorter sorter_;
  std::vector<double> label_, duration_;  // log-probabilities of one row
  std::vector<choice> choices_;
  std::vector<int> order_, used_, decided_;
  std::vector<bool> taken_;
  std::size_t settled_ = 0;  // labels
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
