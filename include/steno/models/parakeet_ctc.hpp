// steno/models/parakeet_ctc.hpp - Parakeet CTC: FastConformer and one projection.
//
//   scores = log_softmax(decoder_layers.0(rows))   [T / 8, pieces + 1], blank last;  ids = best path, or prefix beam
//
// NeMo `EncDecCTCModelBPE`, `ConvASRDecoder` (its convolution has kernel 1) and greedy `CTCBPEDecoding` with
// timestamps. The prefix beam is WeNet's (ctc_prefix_beam.hpp), for hotwords and language models. A search is a value
// and goes on with further rows. Tested in tests/parity/parakeet_test.cpp and tests/models/parakeet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/softmax.hpp>
#include <steno/models/nemo_encoders.hpp>
#include <steno/models/parakeet.hpp>
#include <steno/models/parakeet_windows.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/ctc_prefix_beam.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/nemo_words.hpp>

#include <cmath>
#include <optional>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// The `Kind` of parakeet_ctc.
struct parakeet_ctc_kind {
  static constexpr std::string_view architecture = "parakeet_ctc";  ///< `general.architecture` of its files
};

/// Wishes for one call of recognise().
struct parakeet_ctc_options {
  extent beam = 1;  ///< prefixes; 1 without hotwords and a language model: the best path
  const steno::search::hotword_automaton* hotwords =
      nullptr;                                        ///< they need a beam and must outlive the call; null: none
  const steno::search::word_scorer* words = nullptr;  ///< a language model, the same
  std::optional<int> look_ahead = {};                 ///< rows of 80 ms, one of those that the model was trained with
  parakeet_windows windows = {};                      ///< how long recordings are cut
};

/// Sizes by name; what is left out is adopted from the file.
struct parakeet_ctc_sizes {
  nn::fastconformer_sizes encoder = {};  ///< of FastConformer
  extent labels = dynamic;               ///< pieces and blank
};

/// Parakeet CTC: FastConformer and one projection. A loaded model is const and may be shared by threads, each with its
/// own context.
template <parakeet_ctc_sizes S>
class parakeet_ctc : public parakeet<nn::fastconformer<S.encoder>, nemo_frontend<S.encoder.mels>, parakeet_ctc_kind> {
  using base = parakeet<nn::fastconformer<S.encoder>, nemo_frontend<S.encoder.mels>, parakeet_ctc_kind>;
  using Encoder = nn::fastconformer<S.encoder>;
  static constexpr extent Labels = S.labels;

 public:
  static constexpr parakeet_ctc_sizes sizes = S;  ///< `dynamic` where the file decides
  using options = parakeet_ctc_options;           ///< of one call of recognise()

  parakeet_ctc() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit parakeet_ctc(const gguf_file& file) : base(file), words(this->tokenizer) {}

  nn::linear<Encoder::output, Labels> decoder;  ///< encoder rows to logits, blank last
  tokenizers::nemo_words words;                 ///< joins tokens to words

  void members(auto&& v) {
    base::members(v);
    v("decoder.decoder_layers.0", decoder, core::stored::kernel(1));
    v.equal("widths of encoder and decoder", this->encoder.output_size(), decoder.input_size());
    v.equal("tokenizer.ggml.tokens and blank, and rows of the decoder", this->tokenizer.size() + extent{1},
            decoder.output_size());
  }

  /// Encoder rows -> log-probabilities [rows, pieces + 1].
  void score(const view<const float, dynamic, Encoder::output>& rows, view<float, dynamic, Labels> y,
             context& c) const {
    decoder.multiply(rows, y, c);
    c.trace("logits", y);
    kernels::log_softmax(core::read(y), core::write(y), c.run);
    steno::search::require_numbers(core::read(y), c.run);
    c.trace("log_probs", y);
  }

  /// What a search carries from row to row. Copyable.
  struct search {
    std::vector<steno::search::ctc_token> tokens = {};  ///< of the best path
    std::vector<float> log_probabilities = {};          ///< their log-probabilities
    double score = 0;  ///< sum of the best values of all frames whose best label is not blank
    int before = -1;   ///< label of the last row
    std::optional<steno::search::ctc_prefix_beam> beam;  ///< instead; tokens are those that it has settled
    extent patience = 0;  ///< rows until the best prefix has decided a label; 0: all of them
  };
  /// A search for the best path, or with a beam. What is favoured must outlive it. With `patience` a label that the
  /// prefixes do not agree on is settled by the best one after so many rows, as a stream needs it.
  search begin(const options& o, context&, extent patience = 0) const {
    search s;
    s.patience = patience;
    if (o.beam > 1 || o.words != nullptr || (o.hotwords != nullptr && !o.hotwords->empty())) {
      const extent n = o.beam > 1 ? o.beam : steno::search::ctc_beam_options::default_beam;
      s.beam.emplace(steno::search::ctc_beam_options{.search = {.beam = n, .hotwords = o.hotwords, .words = o.words},
                                                     .blank = this->blank()});
    }
    return s;
  }
  /// Goes on with further encoder rows, which begin at row `first`.
  void advance(search& s, const view<const float, dynamic, Encoder::output>& rows, extent first, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto scores = scratch.template matrix<dynamic, Labels>(rows.rows(), decoder.output_size());
    score(rows, scores, c);
    if (s.beam) return advance_beam(s, core::read(scores));
    for (extent t = 0; t < scores.rows(); ++t) {
      const float* const row = scores.data() + t * scores.outerStride();
      const int best = steno::search::best_label(row, scores.cols());
      if (best != this->blank()) {
        s.score += static_cast<double>(row[best]);
        if (best == s.before) {
          s.tokens.back().end = first + t + 1;
        } else {
          s.tokens.push_back({best, first + t, first + t + 1});
          s.log_probabilities.push_back(row[best]);
        }
      }
      s.before = best;
    }
  }

  /// The frames of tokens: place_ctc().
  std::vector<tokenizers::placed_token> place(std::span<const steno::search::ctc_token> tokens) const {
    return this->place_ctc(words, tokens);
  }
  /// Log-probability of the token of that number.
  float log_probability(const search& s, std::size_t token) const { return s.log_probabilities[token]; }

  /// No rows follow: what a beam has not settled is as its best prefix has it.
  void finish(search& s) const {
    if (!s.beam) return;
    s.beam->finish();
    s.score = s.beam->score(0);
    take(s, s.beam->ids(0).size());
  }

  /// Ids, text, words and score of `s`; a beam's tokens have the probability of their label in their frame. Without
  /// `with_ends`, labels that end a turn are left out.
  STENO_COLD void write_result(search& s, segment& out, bool with_ends = true) const {
    std::vector<int> before;
    for (const steno::search::ctc_token& t : s.tokens) before.push_back(t.id);
    finish(s);
    const double score = s.score;
    if (s.beam)
      for (extent i = 0; i < s.beam->size(); ++i) {
        std::vector<int> ids = before;
        ids.insert(ids.end(), s.beam->ids(i).begin(), s.beam->ids(i).end());
        std::erase_if(ids, [&](int id) { return this->ends_turn(id); });
        out.alternatives.push_back({words.text(this->tokenizer, ids), s.beam->score(i)});
      }
    if (!with_ends) {
      std::size_t n = 0;
      for (std::size_t i = 0; i < s.tokens.size(); ++i) {
        if (this->ends_turn(s.tokens[i].id)) continue;
        s.tokens[n] = s.tokens[i];
        s.log_probabilities[n++] = s.log_probabilities[i];
      }
      s.tokens.resize(n);
      s.log_probabilities.resize(n);
    }
    for (const steno::search::ctc_token& t : s.tokens) out.token_ids.push_back(t.id);
    out.score = score;
    base::write_text(words, place(s.tokens), s.log_probabilities, out);
  }

  /// A recording of 16 kHz mono samples in [-1, 1]; see parakeet_windows for long ones.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;
  /// The same as a reader wants it: labels that end a turn are not written.
  STENO_COLD std::vector<segment> recognise_turns(std::span<const float> pcm, const options& o, context& c) const;

 private:
  segment recognise(std::span<const float> pcm, const options& o, bool with_ends, context& c) const {
    segment s;
    s.end = static_cast<double>(pcm.size()) / base::sample_rate;
    const parakeet_encoding how{.window = this->window_for(o.look_ahead)};
    if (this->frames(static_cast<extent>(pcm.size())) == 0) return s;
    search found = begin(o, c);
    encode_windows(
        *this, pcm, o.windows, c, [&](const auto& rows, extent first) { advance(found, rows, first, c); }, how);
    write_result(found, s, with_ends);
    return s;
  }
  // Rows one by one, so that what is settled does not depend on how they are portioned.
  void advance_beam(search& s, const view<const float>& scores) const {
    for (extent t = 0; t < scores.rows(); ++t) {
      s.beam->advance(core::read(scores.middleRows(t, 1)));
      if (s.patience <= 0) continue;
      extent n = s.beam->agreed();
      const auto times = s.beam->times(0);
      while (n < static_cast<extent>(times.size()) &&
             times[static_cast<std::size_t>(n)] + s.patience <= s.beam->frames())
        ++n;
      if (n == 0) continue;
      take(s, static_cast<std::size_t>(n));
      s.beam->settle(n);
    }
  }
  // The first `n` labels of the best prefix become tokens.
  static void take(search& s, std::size_t n) {
    const auto ids = s.beam->ids(0);
    const auto times = s.beam->times(0);
    const auto log_probs = s.beam->log_probabilities(0);
    for (std::size_t i = 0; i < n; ++i) {
      s.tokens.push_back({ids[i], times[i], times[i] + 1});
      s.log_probabilities.push_back(log_probs[i]);
    }
  }
};

template <parakeet_ctc_sizes S>
segment parakeet_ctc<S>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  return recognise(pcm, o, true, c);
}

template <parakeet_ctc_sizes S>
std::vector<segment> parakeet_ctc<S>::recognise_turns(std::span<const float> pcm, const options& o, context& c) const {
  std::vector<segment> turns;
  turns.push_back(recognise(pcm, o, false, c));
  return turns;
}

/// nvidia/parakeet-ctc-0.6b and -1.1b: 80 bands, 1024 pieces.
using parakeet_ctc_06b = parakeet_ctc<parakeet_ctc_sizes{.encoder = fastconformer_xlarge({}), .labels = 1025}>;
/// The larger one: 42 layers instead of 24.
using parakeet_ctc_11b =
    parakeet_ctc<parakeet_ctc_sizes{.encoder = fastconformer_xlarge({.layers = 42}), .labels = 1025}>;

/// Any sizes: extents are adopted from the file.
using parakeet_ctc_any = parakeet_ctc<parakeet_ctc_sizes{}>;

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
