// steno/search/position_beam.hpp - the best texts of a model that scores every position by itself, and favours phrases.
//
//   score = sum of log p(token at its position) + what hotwords give
//
// For models without autoregression (Paraformer): a predictor has found how many tokens there are and where, so each
// position takes one token, phrases can make no token more or less, and positions depend on one another through the
// phrases alone. So hypotheses in the same state of the automaton differ in what they have and in nothing that follows:
// the best few of each state are kept, which is exact for the best text. steno's own; without hotwords the best text is
// that of the best tokens. Tested in tests/search/position_beam_test.cpp.
#pragma once
#include <steno/core/view.hpp>
#include <steno/search/guide.hpp>
#include <steno/search/search_options.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
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

/// The best texts of log-probabilities [positions, tokens], best first. Throws steno::error for a length penalty and
/// for a language model.
STENO_COLD inline std::vector<position_hypothesis> position_beam(const view<const float>& scores,
                                                                 const position_beam_options& o) {
  struct hypothesis {
    double score = 0;
    guided state = {};
    std::size_t before = 0;  // among all that were kept
    int id = -1;
    double total() const noexcept { return score + state.bonus; }
  };
  o.search.refuse_length_penalty();
  o.search.refuse_words();
  const guide favours = o.search.favoured_all();
  const auto beam = static_cast<std::size_t>(o.search.beam_or(position_beam_options::default_beam));
  const auto silent = [&](int id) { return std::find(o.silent.begin(), o.silent.end(), id) != o.silent.end(); };
  const auto better = [](const hypothesis& a, const hypothesis& b) { return a.total() > b.total(); };
  std::vector<hypothesis> all(1), now, next;
  all[0].state = favours.start();
  now = all;
  std::vector<std::pair<int, std::size_t>> states;  // how many there are of each
  std::vector<int> labels;
  for (extent t = 0; t < scores.rows(); ++t) {
    const float* const row = scores.data() + t * scores.outerStride();
    std::vector<int> best;
    for (int i = 0; i < scores.cols(); ++i) {
      const bool full = best.size() == beam;
      if (full && !(row[i] > row[best.back()])) continue;
      if (full) best.pop_back();
      best.insert(std::upper_bound(best.begin(), best.end(), i, [&](int a, int b) { return row[a] > row[b]; }), i);
    }
    next.clear();
    for (std::size_t k = 0; k < now.size(); ++k) {
      const hypothesis& h = now[k];
      labels = best;
      if (favours.hotwords() != nullptr) {
        favours.hotwords()->continuations(h.state.hotword_state, [&](int unit, float) {
          if (unit >= 0 && unit < scores.cols() && row[unit] > row[best[0]] - o.near) labels.push_back(unit);
        });
        std::sort(labels.begin(), labels.end());
        labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
      }
      for (const int id : labels) {
        hypothesis n{h.score + static_cast<double>(row[id]), h.state, k, id};
        if (!silent(id)) favours.follow(n.state, id);
        next.push_back(n);
      }
    }
    std::stable_sort(next.begin(), next.end(), better);
    states.clear();
    const std::size_t base = all.size();
    const std::size_t from = base - now.size();
    now.clear();
    for (hypothesis& n : next) {
      if (now.size() == beam * beam) break;
      auto at =
          std::find_if(states.begin(), states.end(), [&](const auto& s) { return s.first == n.state.hotword_state; });
      if (at == states.end()) at = states.insert(states.end(), {n.state.hotword_state, 0});
      if (at->second++ >= beam) continue;
      n.before += from;
      now.push_back(n);
    }
    all.insert(all.end(), now.begin(), now.end());
  }
  for (hypothesis& h : now) favours.finish(h.state);
  std::stable_sort(now.begin(), now.end(), better);
  std::vector<position_hypothesis> found;
  for (std::size_t k = 0; k < std::min(beam, now.size()); ++k) {
    position_hypothesis& f = found.emplace_back();
    f.score = now[k].total();
    for (const hypothesis* h = &now[k]; h->id >= 0; h = &all[h->before]) f.ids.push_back(h->id);
    std::reverse(f.ids.begin(), f.ids.end());
  }
  return found;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
