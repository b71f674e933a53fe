// steno/search/attention_beam.hpp - beam search with an attention decoder, as WeNet does it.
//
//   score = sum of log p(unit | units before);  winner = max score / length^penalty
//
// Follows `attention_beam_search` (search.py): hypotheses that ended keep their score while others go on falling; up
// to `max_steps` steps, and what has not ended then is taken as it is. The model is a step function
// step(ids of the beams, parents of the beams) -> log-probabilities [beams, labels]; `parents` says which beam of the
// step before each one continues. Tested in tests/search/attention_beam_test.cpp and on golden results.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/core/view.hpp>
#include <steno/search/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How attention_beam() searches.
struct attention_beam_options {
  static constexpr extent default_beam = 10;  ///< WeNet's
  search_options search = {};                 ///< a length penalty of 0 unless it is set; no hotwords
  int sos = 0;                                ///< the label that every hypothesis begins with
  int eos = 0;                                ///< the label that ends one; may be sos
  extent max_steps = 0;                       ///< WeNet: the encoder's frames
};

/// The hypothesis that won.
struct attention_result {
  std::vector<int> ids;  ///< without sos and eos
  double score = 0;      ///< of the winner, divided by length^penalty
  extent steps = 0;      ///< steps that were taken
};

namespace detail {
/// The `count` best labels of a row, best first; of equal ones the lower number.
STENO_ON_CALL inline void best_labels(const float* row, extent labels, extent count, std::vector<int>& best) {
  best.clear();
  const auto better = [&](int a, int b) { return row[a] > row[b]; };
  for (int i = 0; i < labels; ++i) {
    const bool full = best.size() == static_cast<std::size_t>(count);
    if (full && !better(i, best.back())) continue;
    if (full) best.pop_back();
    best.insert(std::upper_bound(best.begin(), best.end(), i, better), i);
  }
}
}  // namespace detail

/// Searches with `step`, which gives the log-probabilities [beams, labels] of what follows `ids`, one of each beam;
/// `parents` are the beams of the step before that they continue. Throws steno::error for hotwords.
template <class Step>
attention_result attention_beam(const attention_beam_options& o, Step&& step) {
  struct choice {
    float score;
    int parent, label;
  };
  constexpr float never = -std::numeric_limits<float>::infinity();
  o.search.refuse_hotwords();
  const double length_penalty = o.search.length_penalty.value_or(0);
  const auto n = static_cast<std::size_t>(o.search.beam_or(attention_beam_options::default_beam));
  std::vector<std::vector<int>> output_ids(n), before;
  std::vector<float> scores(n, never);
  scores[0] = 0;
  std::vector<int> ids(n, o.sos), parents(n), best;
  for (std::size_t b = 0; b < n; ++b) parents[b] = static_cast<int>(b);
  std::vector<bool> ended(n, false);
  std::vector<choice> choices;
  std::vector<std::size_t> places;
  attention_result r;
  for (; r.steps < o.max_steps && !std::all_of(ended.begin(), ended.end(), [](bool e) { return e; }); ++r.steps) {
    const view<const float> log_probs = step(std::span<const int>(ids), std::span<const int>(parents));
    choices.clear();
    for (std::size_t b = 0; b < n; ++b) {
      const float* row = log_probs.data() + static_cast<extent>(b) * log_probs.outerStride();
      detail::best_labels(row, log_probs.cols(), static_cast<extent>(n), best);
      for (std::size_t k = 0; k < best.size(); ++k) {
        // A hypothesis that ended goes on with eos for nothing; its other continuations are out of the question.
        const float p = ended[b] ? (k == 0 ? 0.0f : never) : row[best[k]];
        choices.push_back({scores[b] + p, static_cast<int>(b), ended[b] ? o.eos : best[k]});
      }
    }
    core::sort_stably(choices, places, [](const choice& a, const choice& b) { return a.score > b.score; });
    before = output_ids;
    for (std::size_t b = 0; b < n; ++b) {
      const choice& c = choices[std::min(b, choices.size() - 1)];
      output_ids[b] = before[static_cast<std::size_t>(c.parent)];
      output_ids[b].push_back(c.label);
      scores[b] = b < choices.size() ? c.score : never;
      ids[b] = c.label;
      parents[b] = c.parent;
    }
    for (std::size_t b = 0; b < n; ++b) ended[b] = ids[b] == o.eos;
  }
  std::size_t winner = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t b = 0; b < n; ++b) {
    const auto length = std::count_if(output_ids[b].begin(), output_ids[b].end(), [&](int id) { return id != o.eos; }) +
                        (o.sos != o.eos ? 1 : 0);  // the original counts sos unless it is eos
    const double score = static_cast<double>(scores[b]) / std::pow(static_cast<double>(length), length_penalty);
    if (score > highest) highest = score, winner = b;
  }
  r.score = highest;
  for (const int id : output_ids[winner])
    if (id != o.eos) r.ids.push_back(id);
  return r;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
