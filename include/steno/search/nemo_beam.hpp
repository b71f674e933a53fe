// steno/search/nemo_beam.hpp - beam search with an attention decoder, as NeMo does it.
//
//   key = score / ((5 + length) / 6)^length_penalty,  score = sum of log p(token | tokens before)
//
// Follows `BeamSearchSequenceGenerator` (transformer_generators.py): the tokens of the prompt count as length; a text
// that has ended goes on with pad for nothing. Kept of the original: in the very first step nobody looks whether a text
// has ended; behind a step the key of place r is multiplied by the penalty of the text that stood there before, so with
// a penalty scores are no sums any more; all of it in single precision. A beam of 1 is greedy. The model is a step
// function step(next tokens, sources) -> log-probabilities [beams, tokens]; `sources` says which text each one
// continues. Tested in tests/search/nemo_beam_test.cpp and on golden results (tests/parity/canary_test.cpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/core/view.hpp>
#include <steno/search/attention_beam.hpp>
#include <steno/search/search_options.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How nemo_beam() searches.
struct nemo_beam_options {
  search_options search = {};  ///< a beam of 1 and a length penalty of 0 unless they are set; no hotwords
  int eos = 0;                 ///< the token that ends a text
  int pad = 0;                 ///< what ended texts go on with; ends one, too
  extent prompt = 0;           ///< tokens before the text that are neither
  extent max_steps = 0;        ///< tokens behind the first one
};

/// A text, in the place that it has in the beam.
struct nemo_hypothesis {
  std::vector<int> ids = {};                  ///< without those that end it
  std::vector<float> log_probabilities = {};  ///< of each of them
  double score = 0;                           ///< as the original returns it
  double key = 0;                             ///< by which the best one is found
  bool ended = false;                         ///< false: there was no step left
};

/// What was found.
struct nemo_beam_result {
  std::vector<nemo_hypothesis> beams = {};  ///< in the order of the last step
  std::size_t best = 0;                     ///< the one with the largest key
};

/// Searches from `first`, the log-probabilities [1, tokens] of what follows the prompt. Throws steno::error for
/// hotwords.
template <class Step>
nemo_beam_result nemo_beam(const nemo_beam_options& o, const view<const float>& first, Step&& step) {
  struct choice {
    float key, log_probability;
    int source, token;
  };
  constexpr float never = 10001;  // times a log-probability: what the original adds to keep a text from going on twice
  o.search.refuse_hotwords();
  const auto n = static_cast<std::size_t>(std::min(o.search.beam_or(1), first.cols()));
  const auto alpha = static_cast<float>(o.search.length_penalty.value_or(0));
  const auto ends = [&](int id) { return id == o.eos || id == o.pad; };
  std::vector<nemo_hypothesis> beams(n), before;
  std::vector<float> scores(n), penalties(n);
  std::vector<int> ids, sources(n, 0), best;
  std::vector<bool> ended(n, false);
  const auto penalise = [&](extent tokens) { return std::pow((5 + static_cast<float>(1 + tokens)) / 6, alpha); };
  detail::best_labels(first.data(), first.cols(), static_cast<extent>(n), best);
  for (std::size_t b = 0; b < n; ++b) {
    scores[b] = first(0, best[b]);
    beams[b].ids.push_back(best[b]);
    beams[b].log_probabilities.push_back(scores[b]);
    penalties[b] = penalise(o.prompt + 1);
  }
  std::vector<choice> choices;
  std::vector<std::size_t> places;
  for (extent steps = 0; steps < o.max_steps; ++steps) {
    ids.clear();
    for (const nemo_hypothesis& h : beams) ids.push_back(h.ids.back());
    const view<const float> log_probs = step(std::span<const int>(ids), std::span<const int>(sources));
    choices.clear();
    for (std::size_t b = 0; b < n; ++b) {
      const float* const row = log_probs.data() + static_cast<extent>(b) * log_probs.outerStride();
      detail::best_labels(row, log_probs.cols(), static_cast<extent>(n), best);
      for (std::size_t k = 0; k < best.size(); ++k) {
        const float p = row[best[k]] * (!ended[b] ? 1 : k == 0 ? 0 : never);
        choices.push_back({(scores[b] + p) / penalties[b], p, static_cast<int>(b), ended[b] ? o.pad : best[k]});
      }
    }
    core::sort_stably(choices, places, [](const choice& a, const choice& b) { return a.key > b.key; });
    before = beams;
    for (std::size_t b = 0; b < n; ++b) {
      const choice& c = choices[b];
      beams[b] = before[static_cast<std::size_t>(c.source)];
      beams[b].ids.push_back(c.token);
      beams[b].log_probabilities.push_back(c.log_probability);
      scores[b] = c.key * penalties[b];
      sources[b] = c.source;
    }
    for (std::size_t b = 0; b < n; ++b) {
      const std::vector<int>& all = beams[b].ids;
      penalties[b] = penalise(o.prompt + std::count_if(all.begin(), all.end(), [&](int id) { return !ends(id); }));
      ended[b] = ends(all.back());
    }
    if (std::all_of(ended.begin(), ended.end(), [](bool e) { return e; })) break;
  }
  nemo_beam_result r{.beams = std::move(beams)};
  for (std::size_t b = 0; b < n; ++b) {
    nemo_hypothesis& h = r.beams[b];
    const float key = scores[b] / penalties[b];
    h.key = static_cast<double>(key);
    h.score = static_cast<double>(key * penalties[b]);
    h.ended = !h.ids.empty() && ends(h.ids.back());
    while (!h.ids.empty() && ends(h.ids.back())) h.ids.pop_back();
    h.log_probabilities.resize(h.ids.size());
    if (h.key > r.beams[r.best].key) r.best = b;
  }
  return r;
}

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno
