// steno/search/ctc_prefix_beam.hpp - CTC prefix beam search, frame by frame: n-best with scores and token times.
//
// A prefix's score is log(p(ends in blank) + p(ends in its last label)), summed over paths; beside it the best single
// path is kept, and its frames are the times. Follows WeNet's `ctc_prefix_beam_search` (search.py; Hannun et al. 2014)
// in double precision, with its visiting order: labels and prefixes by falling score, because times depend on it. A
// token's time is as a rule the LAST frame of its run. Streaming is the same object fed with more frames; settle()
// takes from the front what all prefixes share, so that a stream costs the same however long it becomes.
// Tested in tests/search/ctc_prefix_beam_test.cpp (against all paths) and on golden n-best lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/core/view.hpp>
#include <steno/search/guide.hpp>
#include <steno/search/search_options.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How ctc_prefix_beam searches.
struct ctc_beam_options {
  static constexpr extent default_beam = 10;  ///< WeNet's
  /// Second beam, also the size of the n-best list; what is favoured; no length penalty.
  search_options search = {};
  int blank = 0;                   ///< its label
  extent labels = 0;               ///< best labels of a frame that are looked at (first beam); 0: as many as the beam
  float blank_scale = 1;           ///< multiplies the blank's probability
  float blank_skip_threshold = 1;  ///< frames whose blank is likelier than this extend by the blank alone
};

/// One entry of the n-best list.
struct ctc_hypothesis {
  std::vector<int> ids;       ///< labels, without blanks
  std::vector<extent> times;  ///< frames since reset()
  double score = 0;           ///< log-probability plus what hotwords and a language model gave
};

/// Copyable; one per stream. Memory: its buffers grow with the longest hypothesis and are kept by reset().
class ctc_prefix_beam {
 public:
  /// At the empty prefix. What is favoured must outlive this and all copies. Throws steno::error for a length penalty.
  STENO_ON_CALL explicit ctc_prefix_beam(const ctc_beam_options& options = {})
      : options_(options), guide_(options.search.favoured_all()) {
    options_.search.refuse_length_penalty();
    options_.search.beam = options_.search.beam_or(ctc_beam_options::default_beam);
    if (options_.labels <= 0) options_.labels = options_.search.beam;
    reset();
  }

  /// Back to the empty prefix and frame 0.
  STENO_ON_CALL void reset() {
    frame_ = 0;
    count_ = 1;
    settled_ = -1;
    if (beams_.empty()) beams_.emplace_back();
    beam& b = beams_[0];
    b.ids.clear();
    b.times_s.clear();
    b.times_ns.clear();
    b.hash = 0;
    b.s = b.v_s = b.v_ns = 0;
    b.ns = never;
    b.log_probs.clear();
    b.guided = guide_.start();
  }

  /// Takes log-probabilities [frames, labels].
  STENO_ON_CALL void advance(const view<const float>& log_probs) {
    for (extent t = 0; t < log_probs.rows(); ++t, ++frame_)
      step(log_probs.data() + t * log_probs.outerStride(), log_probs.cols());
  }

  /// Settles bonuses of phrases and words that stay unfinished. advance() must not follow before reset().
  STENO_ON_CALL STENO_COLD void finish() {
    if (guide_.empty()) return;
    for (extent i = 0; i < count_; ++i) guide_.finish(beams_[static_cast<std::size_t>(i)].guided);
    if (guide_.sorts())
      core::sort_stably(std::span(beams_.data(), static_cast<std::size_t>(count_)), order_,
                        [](const beam& a, const beam& b) { return a.total() > b.total(); });
  }

  /// Prefixes that are held: up to `prefixes`.
  extent size() const noexcept { return count_; }
  /// Frames that came since reset().
  extent frames() const noexcept { return frame_; }
  /// Labels of prefix i, by falling score at the last frame. Valid until the next frame, as times().
  std::span<const int> ids(extent i) const noexcept { return at(i).ids; }
  /// A frame since reset() for each label of prefix i.
  std::span<const extent> times(extent i) const noexcept { return at(i).times(); }
  /// For each label of prefix i its log-probability in its frame.
  std::span<const float> log_probabilities(extent i) const noexcept { return at(i).log_probs; }
  /// Labels that all prefixes begin with.
  STENO_ON_CALL extent agreed() const noexcept {
    extent n = static_cast<extent>(at(0).ids.size());
    for (extent i = 1; i < count_ && n > 0; ++i) {
      const std::vector<int>&first = at(0).ids, &other = at(i).ids;
      n = std::min(n, static_cast<extent>(other.size()));
      extent same = 0;
      while (same < n && first[static_cast<std::size_t>(same)] == other[static_cast<std::size_t>(same)]) ++same;
      n = same;
    }
    return n;
  }
  /// Drops prefixes that do not begin with the first `n` labels of prefix 0, and takes these from the others: they come
  /// in ids(), times() and log_probabilities() no more, so the time of a label that goes on stays what it was.
  STENO_ON_CALL void settle(extent n) {
    if (n <= 0) return;
    settled_ = at(0).ids[static_cast<std::size_t>(n) - 1];
    const auto length = static_cast<std::size_t>(n);
    const auto shares = [&](const beam& b) {
      return b.ids.size() >= length && std::equal(b.ids.begin(), b.ids.begin() + n, at(0).ids.begin());
    };
    extent kept = 1;
    for (extent i = 1; i < count_; ++i) {
      if (!shares(at(i))) continue;
      if (i != kept) std::swap(beams_[static_cast<std::size_t>(kept)], beams_[static_cast<std::size_t>(i)]);
      ++kept;
    }
    count_ = kept;
    for (extent i = 0; i < count_; ++i) {
      beam& b = beams_[static_cast<std::size_t>(i)];
      const auto take = [&](auto& all) {  // a list of times may be that of no path, and empty
        all.erase(all.begin(), all.begin() + std::min<std::ptrdiff_t>(n, static_cast<std::ptrdiff_t>(all.size())));
      };
      take(b.ids);
      take(b.times_s);
      take(b.times_ns);
      take(b.log_probs);
    }
  }
  /// Log-probability of prefix i, and what hotwords and a language model gave.
  double score(extent i) const noexcept { return at(i).total(); }
  /// Log-probability of the best single path.
  double viterbi_score(extent i) const noexcept { return at(i).viterbi(); }
  /// Prefix i as a value of its own.
  ctc_hypothesis hypothesis(extent i) const { return {at(i).ids, at(i).times(), at(i).total()}; }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();

  static double log_add(double a, double b) noexcept {
    if (a == never && b == never) return never;
    const double larger = std::max(a, b);
    return larger + std::log(std::exp(a - larger) + std::exp(b - larger));
  }

  struct beam {
    std::vector<int> ids;
    std::vector<extent> times_s, times_ns;  // of the best path that ends in blank; in the last label
    std::uint64_t hash = 0;
    double s = never, ns = never, v_s = never, v_ns = never;
    std::vector<float> log_probs;  // of each label in its frame
    search::guided guided = {};

    double score() const noexcept { return log_add(s, ns); }
    double total() const noexcept { return score() + guided.bonus; }
    double viterbi() const noexcept { return v_s > v_ns ? v_s : v_ns; }
    // Of the likelier path. A path that nothing likely led to (scores of minus infinity) has none of its own.
    const std::vector<extent>& times() const noexcept {
      const bool blank = v_s > v_ns ? times_s.size() == ids.size() : times_ns.size() != ids.size();
      return blank ? times_s : times_ns;
    }
  };
  // Where the times of a candidate come from: a list of a present prefix, perhaps changed by the present frame.
  enum class change { none, append, replace };
  struct source {
    const std::vector<extent>* from = nullptr;
    change what = change::none;
  };
  struct candidate {
    const beam* parent;
    int label;  // -1: the parent's own prefix
    std::uint64_t hash;
    double s = never, ns = never, v_s = never, v_ns = never, last = never, total = 0;
    search::guided guided = {};
    bool placed = false;
    source times_s = {}, times_ns = {};
  };

  const beam& at(extent i) const noexcept { return beams_[static_cast<std::size_t>(i)]; }
  static std::uint64_t mix(std::uint64_t h, int label) noexcept {
    h = (h ^ (static_cast<std::uint64_t>(label) + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    return h ^ (h >> 29);
  }
  static bool same(const candidate& c, const beam& parent, int label) noexcept {
    const auto length = [](const beam& b, int l) { return b.ids.size() + (l >= 0 ? 1 : 0); };
    const std::size_t n = length(parent, label);
    if (length(*c.parent, c.label) != n) return false;
    const auto unit = [](const beam& b, int l, std::size_t i) { return i < b.ids.size() ? b.ids[i] : l; };
    for (std::size_t i = n; i > 0; --i)
      if (unit(*c.parent, c.label, i - 1) != unit(parent, label, i - 1)) return false;
    return true;
  }
  STENO_ON_CALL candidate& find(const beam& parent, int label) {
    const std::uint64_t hash = label < 0 ? parent.hash : mix(parent.hash, label);
    for (candidate& c : candidates_)
      if (c.hash == hash && same(c, parent, label)) return c;
    candidates_.push_back({.parent = &parent, .label = label, .hash = hash});
    return candidates_.back();
  }
  STENO_ON_CALL void place(candidate& c, const beam& parent, int label) const {
    if (guide_.empty() || c.placed) return;
    c.placed = true;
    c.guided = parent.guided;
    if (label >= 0) guide_.follow(c.guided, label);
  }

  // The best labels of a frame, best first; of equal ones the lower number.
  STENO_ON_CALL void choose(const float* row, extent labels) {
    best_.clear();
    const auto wanted = static_cast<std::size_t>(std::min(options_.labels, labels));
    const auto better = [&](int a, int b) { return value(row, a) > value(row, b); };
    if (options_.blank_skip_threshold < 1 &&
        value(row, options_.blank) > std::log(static_cast<double>(options_.blank_skip_threshold))) {
      best_.push_back(options_.blank);
      return;
    }
    for (int i = 0; i < labels; ++i) {
      if (best_.size() == wanted && !better(i, best_.back())) continue;
      if (best_.size() == wanted) best_.pop_back();
      best_.insert(std::upper_bound(best_.begin(), best_.end(), i, better), i);
    }
  }
  double value(const float* row, int label) const noexcept {
    if (std::isnan(row[label])) return never;  // it would upset every order
    const auto v = static_cast<double>(row[label]);
    return label == options_.blank && options_.blank_scale != 1.0f
               ? v + std::log(static_cast<double>(options_.blank_scale))
               : v;
  }

  STENO_ON_CALL void step(const float* row, extent labels) {
    choose(row, labels);
    candidates_.clear();
    // References into the list must hold while a label is tried: no more than two entries are added for each pair.
    candidates_.reserve(2 * best_.size() * static_cast<std::size_t>(count_));
    for (const int label : best_) {
      const double p = value(row, label);
      for (extent i = 0; i < count_; ++i) extend(at(i), label, p);
    }
    for (candidate& c : candidates_) c.total = log_add(c.s, c.ns) + c.guided.bonus;
    core::sort_places(order_, candidates_.size(),
                      [&](std::size_t a, std::size_t b) { return candidates_[a].total > candidates_[b].total; });
    const std::size_t kept = std::min(order_.size(), static_cast<std::size_t>(options_.search.beam));
    if (next_.size() < kept) next_.resize(kept);
    for (std::size_t i = 0; i < kept; ++i) keep(candidates_[order_[i]], next_[i]);
    std::swap(beams_, next_);
    count_ = static_cast<extent>(kept);
  }

  STENO_ON_CALL void extend(const beam& b, int label, double p) {
    if (label == options_.blank) {
      candidate& c = find(b, -1);
      c.s = log_add(c.s, b.score() + p);
      c.v_s = b.viterbi() + p;
      c.times_s = {&b.times()};
      return place(c, b, -1);
    }
    if ((b.ids.empty() ? settled_ : b.ids.back()) == label) {
      candidate& again = find(b, -1);  // the label goes on
      again.ns = log_add(again.ns, b.ns + p);
      if (again.v_ns < b.v_ns + p) {
        again.v_ns = b.v_ns + p;
        if (again.last < p) {
          again.last = p;
          again.times_ns = {&b.times_ns, change::replace};
        }
      }
      if (again.times_s.from == nullptr && again.times_ns.from == nullptr) again.times_ns = {&b.times()};
      place(again, b, -1);
      // The label once more, after a blank.
      grow(b, label, p, b.s, b.v_s, b.times_s.size() == b.ids.size() ? b.times_s : b.times());
    } else {
      grow(b, label, p, b.score(), b.viterbi(), b.times());
    }
  }
  STENO_ON_CALL void grow(const beam& b, int label, double p, double score, double viterbi,
                          const std::vector<extent>& times) {
    candidate& c = find(b, label);
    c.ns = log_add(c.ns, score + p);
    if (c.v_ns < viterbi + p || c.times_ns.from == nullptr) {
      c.v_ns = viterbi + p;
      c.last = p;
      c.times_ns = {&times, change::append};
    }
    place(c, b, label);
  }

  STENO_ON_CALL void keep(const candidate& c, beam& to) const {
    to.ids.assign(c.parent->ids.begin(), c.parent->ids.end());
    to.log_probs.assign(c.parent->log_probs.begin(), c.parent->log_probs.end());
    if (c.label >= 0) {
      to.ids.push_back(c.label);
      to.log_probs.push_back(static_cast<float>(c.last));
    } else if (c.times_ns.what == change::replace && !to.log_probs.empty()) {
      to.log_probs.back() = std::max(to.log_probs.back(), static_cast<float>(c.last));
    }
    take(c.times_s, to.times_s);
    take(c.times_ns, to.times_ns);
    to.hash = c.hash;
    to.s = c.s;
    to.ns = c.ns;
    to.v_s = c.v_s;
    to.v_ns = c.v_ns;
    to.guided = c.guided;
  }
  STENO_ON_CALL void take(const source& s, std::vector<extent>& to) const {
    to.clear();
    if (s.from == nullptr) return;
    to.assign(s.from->begin(), s.from->end());
    if (s.what == change::append) to.push_back(frame_);
    if (s.what == change::replace && !to.empty()) to.back() = frame_;
  }

  ctc_beam_options options_;
  guide guide_;
  std::vector<beam> beams_, next_;
  std::vector<candidate> candidates_;
  std::vector<std::size_t> order_;
  std::vector<int> best_;
  extent count_ = 0, frame_ = 0;
  int settled_ = -1;  // the last label that was; -1: none
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
