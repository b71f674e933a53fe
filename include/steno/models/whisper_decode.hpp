// steno/models/whisper_decode.hpp - the text of one 30 s window, by the rules of whisper.decode().
//
// Follows `DecodingTask` (whisper/decoding.py): language from the first token's scores, prompt and prefix, suppression
// and times (search/whisper_rules.hpp), greedy, sampled or beam search (search/token_search.hpp), the best of a
// group by its score for each token. A greedy text that repeats itself, its prompt or an earlier one is read several
// tokens at a time (search/token_draft.hpp). Tested in tests/parity/whisper_decode_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/text_ref.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/whisper_window.hpp>
#include <steno/networks/whisper_decoder.hpp>
#include <steno/search/token_draft.hpp>
#include <steno/search/token_search.hpp>
#include <steno/search/whisper_rules.hpp>
#include <steno/text/compression_ratio.hpp>
#include <steno/tokenizers/whisper_tokens.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace whisper {

/// The fields of DecodingOptions, with its defaults.
struct whisper_decode_options {
  int language = -1;                          ///< number of the language (whisper_tokens); negative: detected
  bool translate = false;                     ///< into English
  double temperature = 0;                     ///< of samples; 0: the likeliest token, or a beam
  int sample_len = 0;                         ///< how many tokens; 0: half of the context
  int best_of = 0;                            ///< samples at a temperature; 0: one
  int beam_size = 0;                          ///< at temperature 0; 0: greedy
  double patience = 1;                        ///< a beam ends when round(beam_size * patience) hypotheses have ended
  std::optional<double> length_penalty = {};  ///< exponent of ((5 + length) / 6), 0 to 1; none: by length
  std::vector<int> prompt = {};               ///< tokens before: earlier text, names, ...
  std::vector<int> prefix = {};               ///< tokens the text begins with
  bool suppress = true;                       ///< tokens below and those of special meaning
  bool suppress_symbols = true;               ///< whisper_tokens::non_speech_tokens(), or what the file names
  std::vector<int> suppress_tokens = {};      ///< more of them
  bool suppress_blank = true;                 ///< no blank at the start
  bool without_timestamps = false;            ///< a text without tokens for times
  std::optional<double> max_initial_timestamp = 1;  ///< seconds
  std::uint64_t seed = 0;                           ///< of samples
  /// Hotwords, as whisper_tokens::split() writes them; must outlive the call; null: none. They count at every
  /// temperature.
  const search::hotword_automaton* hotwords = nullptr;
  core::text_ref writing = {};  ///< takes the text of the window so far, of the first hypothesis, behind each token
  bool speculative = true;      ///< whether tokens are guessed; never in beams, nor while stages are traced
  std::span<const int> earlier = {};  ///< tokens of a text that this one may repeat
};

/// Why the text of a window ends: its end token, the limit of tokens, or the decoder's context is full.
enum class whisper_stop { end_of_text, sample_len, context };

/// What was decoded of a window; the fields of `DecodingResult`.
struct whisper_decoded {
  int language = 0;                               ///< number of the language (whisper_tokens)
  std::vector<float> language_probs;              ///< of every language; empty when it was given
  std::vector<int> tokens;                        ///< written ones, those for times among them
  std::string text;                               ///< of the tokens, without space around it
  double avg_logprob = 0;                         ///< log-probability of the text for each token, its end included
  double no_speech_prob = 0;                      ///< probability that nobody speaks
  double temperature = 0;                         ///< at which it was decoded
  double compression_ratio = 0;                   ///< of the text: a high one is a sign of repetition
  whisper_stop stop = whisper_stop::end_of_text;  ///< why it ends
};

/// Probabilities of the languages for the window in `w` and the likeliest one. Not for English-only models.
template <class Model>
STENO_COLD int whisper_detect_language(const Model& m, whisper_window& w, std::vector<float>& probs, context& c) {
  const tokenizers::whisper_tokens& t = m.tokenizer;
  core::workspace::frame scratch(c.scratch);
  auto row = scratch.matrix(1, m.decoder.width()), scores = scratch.matrix(1, m.decoder.vocabulary());
  w.text.clear();
  m.prompt_rows(std::vector<int>{t.sot}, w, core::write(row), c);
  m.logits_of(row, scores, c);
  auto languages = core::make_view(scores.data() + t.language_token(0), 1, t.languages);
  for (int i = 0; i < t.languages; ++i)
    if (!m.generation.knows(i)) languages(0, i) = std::numeric_limits<float>::lowest();
  kernels::softmax(core::read(languages), languages, c.run);
  probs.assign(languages.data(), languages.data() + t.languages);
  return static_cast<int>(std::max_element(probs.begin(), probs.end()) - probs.begin());
}

namespace detail {

STENO_ON_CALL inline std::vector<int> last_tokens(const std::vector<int>& ids, extent count) {
  // Python's ids[-count:], which is everything for 0 and drops the first ones for negative counts.
  const auto size = static_cast<extent>(ids.size());
  const extent from = count > 0 ? std::max<extent>(size - count, 0) : std::min(-count, size);
  return {ids.begin() + from, ids.end()};
}

template <class Model>
search::whisper_rules rules_of(const Model& m, const whisper_decode_options& o) {
  const tokenizers::whisper_tokens& t = m.tokenizer;
  search::whisper_rules r;
  r.eot = t.eot;
  r.no_timestamps = t.no_timestamps;
  r.timestamp_begin = t.timestamp_begin;
  r.with_timestamps = !o.without_timestamps;
  if (o.suppress_blank && m.generation.first_suppressed) {
    r.first_suppressed = *m.generation.first_suppressed;
  } else if (o.suppress_blank) {
    r.first_suppressed = t.encode(" ");
    r.first_suppressed.push_back(t.eot);
  }
  if (o.suppress && o.suppress_symbols && m.generation.suppressed) {
    r.suppressed = *m.generation.suppressed;
    r.suppressed.insert(r.suppressed.end(), o.suppress_tokens.begin(), o.suppress_tokens.end());
  } else if (o.suppress) {
    r.suppressed = o.suppress_tokens;
    if (o.suppress_symbols) {
      const std::vector<int> symbols = t.non_speech_tokens();
      r.suppressed.insert(r.suppressed.end(), symbols.begin(), symbols.end());
    }
    r.suppressed.insert(r.suppressed.end(), {t.transcribe, t.translate, t.sot, t.sot_prev, t.sot_lm, t.no_speech});
  }
  if (o.max_initial_timestamp && *o.max_initial_timestamp != 0)
    r.max_initial =
        static_cast<int>(std::nearbyint(*o.max_initial_timestamp / (30.0 / static_cast<double>(m.window_rows()))));
  return r;
}

}  // namespace detail

/// Decodes the window in `w` (Model::encode()). Throws steno::error for options that contradict each other.
template <class Model>
STENO_COLD whisper_decoded whisper_decode(const Model& m, whisper_window& w, const whisper_decode_options& o,
                                          context& c) {
  const tokenizers::whisper_tokens& t = m.tokenizer;
  const extent context_size = m.decoder.context_size(), half = context_size / 2, vocabulary = m.decoder.vocabulary();
  const auto refuse = [](const char* what) { fail({.what = what}); };
  if (o.beam_size > 0 && o.best_of > 0) refuse("beam_size and best_of cannot be given together");
  if (o.temperature == 0 && o.best_of > 0) refuse("best_of needs a temperature above 0");
  if (o.patience != 1 && o.beam_size == 0) refuse("patience needs beam_size");
  if (o.length_penalty && !(*o.length_penalty >= 0 && *o.length_penalty <= 1))
    refuse("length_penalty must be from 0 to 1");
  if (o.beam_size < 0 || o.beam_size > 64 || o.best_of < 0 || o.best_of > 64)
    refuse("beam_size and best_of must be from 0 to 64");
  if (!(o.patience * std::max(o.beam_size, 1) >= 0.5 && o.patience <= 100)) refuse("patience is out of range");
  if (o.language >= t.languages) refuse("the model does not know the language");

  whisper_decoded d;
  d.temperature = o.temperature;
  d.language = t.multilingual ? o.language : 0;
  if (d.language < 0) d.language = whisper_detect_language(m, w, d.language_probs, c);

  std::vector<int> ids = t.start(d.language, o.translate);
  if (o.without_timestamps) ids.push_back(t.no_timestamps);
  const extent max_tokens = o.sample_len > 0 ? o.sample_len : half;
  const std::vector<int> prefix = detail::last_tokens(o.prefix, half - max_tokens);
  ids.insert(ids.end(), prefix.begin(), prefix.end());
  extent sot_row = 0;
  if (!o.prompt.empty()) {
    std::vector<int> before = detail::last_tokens(o.prompt, half - 1);
    before.insert(before.begin(), t.sot_prev);
    sot_row = static_cast<extent>(before.size());
    ids.insert(ids.begin(), before.begin(), before.end());
  }
  const auto given = static_cast<extent>(ids.size());
  if (given > context_size) refuse("prompt and prefix are longer than the model's context");
  for (const int id : ids)
    if (id < 0 || id >= vocabulary) refuse("prompt or prefix holds a token that the model does not have");

  core::workspace::frame scratch(c.scratch);
  const int group = std::max({o.beam_size, o.best_of, 1});
  // Of one text that is the likeliest: samples are seldom guessed.
  const bool guesses = o.speculative && group == 1 && o.beam_size == 0 && o.temperature == 0 && !c.tracing();
  search::token_draft draft({.guesses = guesses, .earlier = o.earlier, .known = o.prompt, .vocabulary = vocabulary});
  const extent at_once = std::max<extent>(draft.rows(), group);
  auto rows = scratch.matrix(std::max(given, at_once), m.decoder.width());
  auto scores = scratch.matrix(at_once, vocabulary);
  w.text.clear();
  m.prompt_rows(ids, w, core::write(rows.topRows(given)), c);
  auto first = scratch.matrix(1, vocabulary);
  m.logits_of(core::write(rows.middleRows(sot_row, 1)), first, c);
  kernels::softmax(core::read(first), first, c.run);
  d.no_speech_prob = static_cast<double>(first(0, t.no_speech));
  m.logits_of(core::write(rows.middleRows(given - 1, 1)), core::write(scores.topRows(1)), c);
  for (int g = 1; g < group; ++g) scores.row(g) = scores.row(0);
  w.text.fork(std::vector<int>(static_cast<std::size_t>(group), 0));

  const search::whisper_rules rules = detail::rules_of(m, o);
  const auto search = [&](auto&& chooser) {
    std::vector<int> next, sources;
    d.stop = whisper_stop::sample_len;
    for (extent step = 0; step < max_tokens; ++step) {
      auto now = core::write(scores.middleRows(draft.row(), group));
      for (int g = 0; g < group; ++g)
        rules.apply(chooser.tokens_of(static_cast<std::size_t>(g)),
                    {now.data() + g * vocabulary, static_cast<std::size_t>(vocabulary)});
      kernels::log_softmax(core::read(now), now, c.run);
      const bool going = chooser.advance(core::read(now), next, sources);
      if (o.writing && going) {
        const std::span<const int> best = chooser.tokens_of(0);
        o.writing(tokenizers::unicode::strip(t.text_of({best.begin(), best.end()})));
      }
      if (!going) d.stop = whisper_stop::end_of_text;
      if (!going || step + 1 == max_tokens) break;
      if (given + step + 1 > context_size) {
        d.stop = whisper_stop::context;
        break;
      }
      if (guesses) {
        if (draft.follow(next[0], context_size - (given + step + 1))) continue;
        w.text.rewind(w.text.length() - draft.wrong());
        const std::span<const int> now_read = draft.pass();
        auto pass = core::write(rows.topRows(static_cast<extent>(now_read.size())));
        m.prompt_rows(now_read, w, pass, c);
        m.logits_of(pass, core::write(scores.topRows(pass.rows())), c);
        continue;
      }
      w.text.fork(sources);
      auto last = core::write(rows.topRows(group));
      m.step_rows(next, w, last, c);
      m.logits_of(last, scores, c);
    }
    const std::vector<search::token_hypothesis>& all = chooser.finish();
    const search::token_hypothesis& best = all[search::best_hypothesis(all, o.length_penalty)];
    d.tokens = best.tokens;
    d.avg_logprob = static_cast<double>(best.score) / static_cast<double>(best.tokens.size() + 1);
  };
  const search::search_options wide{.beam = group, .length_penalty = o.length_penalty, .hotwords = o.hotwords};
  if (o.beam_size > 0)
    search(search::token_beam({.search = wide, .end = t.eot, .patience = o.patience}));
  else
    search(search::token_sampler({.search = wide, .end = t.eot, .temperature = o.temperature, .seed = o.seed}));
  d.text = std::string(tokenizers::unicode::strip(t.text_of(d.tokens)));
  d.compression_ratio = text::compression_ratio(d.text);
  return d;
}

}  // namespace whisper
}  // namespace STENO_ABI
}  // namespace steno
