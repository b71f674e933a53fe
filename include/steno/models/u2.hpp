// steno/models/u2.hpp - WeNet's U2 and U2++: CTC and attention over one encoder, whole clips or any chunk size.
//
//   features = cmvn(fbank(pcm))                        [T, 80]
//   rows     = encoder(features)                       [T / 4, D] (or 6, 8)
//   scores   = log_softmax(ctc_lo(rows))               [T / 4, units]
//   text     = greedy, prefix beam, attention rescoring of its n-best list, or attention beam
//
// Follows `ASRModel.decode` (asr_model.py) and search.py. Streams are streaming/u2_stream.hpp. What is kept and what
// differs: docs/models/wenet.md. Tested in tests/models/u2_test.cpp and tests/parity/wenet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/core/sorting.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/transformer_decoder.hpp>
#include <steno/networks/u2_encoder.hpp>
#include <steno/search/attention_beam.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/ctc_prefix_beam.hpp>
#include <steno/search/piece_times.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/wenet_units.hpp>
#include <steno/tokenizers/words.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace wenet {

/// How a text is found: best CTC path; CTC prefix beam; that beam, rescored by the decoder; a beam over the decoder
/// alone.
enum class u2_search { ctc_greedy, ctc_prefix_beam, attention_rescoring, attention };

/// Wishes for one call of recognise().
struct u2_options {
  u2_search search = u2_search::attention_rescoring;  ///< how the text is found
  extent beam = 10;                                   ///< hypotheses that a beam keeps; the length of the n-best list
  double ctc_weight = 0.5;                            ///< of the CTC score that rescoring adds to the decoder's
  double reverse_weight = -1;                         ///< of the right-to-left decoder; negative: the checkpoint's own
  float blank_penalty = 0;                            ///< subtracted from the blank's logit
  double length_penalty = 0;                          ///< of the attention search
  extent chunk_size = -1;   ///< chunk mask in encoder frames; not positive: the whole clip sees itself
  extent left_chunks = -1;  ///< of the chunk mask
  const steno::search::hotword_automaton* hotwords =
      nullptr;                                        ///< of the prefix beam; must outlive the call; null: none
  const steno::search::word_scorer* words = nullptr;  ///< a language model, the same
};

/// An entry of the n-best list after attention rescoring.
struct rescored {
  double decoder = 0;                    ///< log-probability by the decoders alone
  double score = 0;                      ///< the same with the CTC part
  double confidence = 0;                 ///< geometric mean of the decoders' probabilities
  std::vector<double> token_confidence;  ///< the decoders' probability of each token
};

/// Sizes by name; what is left out is adopted from the file.
struct u2_sizes {
  nn::u2_encoder_sizes encoder = {};           ///< of the encoder
  nn::transformer_decoder_sizes decoder = {};  ///< of both directions; as wide as the encoder
};

/// U2 and U2++: CTC and attention over one encoder. `Kind` names the architecture and its encoder. A loaded model is
/// const and may be shared by threads, each with its own context.
template <u2_sizes S, class Kind,
          class Frontend = frontends::frontend_chain<frontends::fbank<dynamic>, frontends::cmvn<dynamic>>>
class u2 {
  using Encoder = typename Kind::template encoder<S.encoder>;
  using Decoder = nn::transformer_decoder<S.decoder>;
  static constexpr extent Vocab = S.decoder.vocabulary;
  static_assert(S.encoder.width == S.decoder.width, "encoder and decoder have one width");

 public:
  static constexpr u2_sizes sizes = S;                                  ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = Kind::architecture;  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/u2.hpp";
  using options = u2_options;    ///< of one call of recognise()
  using encoder_type = Encoder;  ///< features to rows

  u2() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_ON_CALL explicit u2(const gguf_file& file)
      : frontend(read_front_end(file)), tokenizer(models::read_tokens(file), file.has("tokenizer.wenet.pieces")) {
    const std::string at = std::string(architecture) + ".";
    const extent last = tokenizer.size() - 1;
    const auto id = [&](const char* key) { return static_cast<int>(models::read_whole(file, at + key, 0, last, 0)); };
    blank = id("blank_id");
    sos = id("sos_id");
    eos = id("eos_id");
    own_reverse_weight = models::read_number(file, at + "reverse_weight", 0, 1, 0);
    streams = models::read_flag(file, at + "encoder.dynamic_chunk", false);
  }

  Frontend frontend;                          ///< samples to features
  Encoder encoder;                            ///< features to rows, one for each frame_ms()
  nn::linear<Encoder::output, Vocab> ctc_lo;  ///< its rows to logits
  core::flag<dynamic> bidirectional;          ///< 1: there is a right-to-left decoder, too (U2++)
  Decoder decoder;                            ///< encoder rows and units to log-probabilities of the next unit
  Decoder reverse_decoder;                    ///< the same from right to left; unused unless `bidirectional`
  tokenizers::wenet_units tokenizer;          ///< ids to text
  int blank = 0;                              ///< id of the blank
  int sos = 0;                                ///< id with which a text begins
  int eos = 0;                                ///< id with which it ends
  double own_reverse_weight = 0;              ///< of the right-to-left decoder, as the checkpoint has it
  bool streams = false;                       ///< trained with dynamic chunks
  models::model_storage storage;              ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v("ctc.ctc_lo", ctc_lo);
    v("bidirectional", bidirectional);
    if (bidirectional.get() != 0) {
      v("decoder.left_decoder", decoder);
      v("decoder.right_decoder", reverse_decoder);
    } else {
      v("decoder", decoder);
    }
    v.optional("", frontend);
    v.equal("widths of encoder and ctc.ctc_lo", encoder.output_size(), ctc_lo.input_size());
    v.equal("widths of encoder and decoder", encoder.output_size(), decoder.width());
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
    v.equal("number of tokenizer.ggml.tokens and rows of ctc.ctc_lo", tokenizer.size(), ctc_lo.output_size());
    v.equal("number of tokenizer.ggml.tokens and rows of the decoder", tokenizer.size(), decoder.vocabulary());
    if (bidirectional.get() == 0) return;
    v.equal("widths of encoder and right_decoder", encoder.output_size(), reverse_decoder.width());
    v.equal("number of tokenizer.ggml.tokens and rows of the right_decoder", tokenizer.size(),
            reverse_decoder.vocabulary());
  }

  static constexpr int sample_rate = 16000;  ///< Hz of the mono samples that it takes
  /// Codes of languages that can be chosen: none.
  static std::vector<std::string> languages() { return {}; }

  /// Encoder rows of `count` samples.
  extent frames(extent count) const noexcept { return encoder.rows(frontend.rows(count)); }
  /// Milliseconds from one encoder row to the next.
  extent frame_ms() const noexcept {
    return encoder.template get<"embed">().rate.get() * static_cast<extent>(frontend.head.options().frame_shift);
  }
  /// The weight of the right-to-left decoder that holds for a wish: 0 without one, the checkpoint's own for a negative
  /// wish.
  double reverse_weight(double wanted) const noexcept {
    return bidirectional.get() == 0 ? 0 : wanted < 0 ? own_reverse_weight : wanted;
  }

  /// 16 kHz mono samples in [-1, 1] -> encoder rows [frames(number of samples), D].
  void encode(std::span<const float> pcm, view<float, dynamic, Encoder::output> y, const u2_options& o,
              context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Encoder::input>(frontend.rows(static_cast<extent>(pcm.size())),
                                                              frontend.width());
    frontend(pcm, x, c);
    auto s = c.enter("encoder");
    const nn::u2_env env{.window = {.chunk = std::max<extent>(o.chunk_size, 0), .left = o.left_chunks}};
    encoder(x, y, nullptr, env, c);
  }

  /// Encoder rows -> CTC log-probabilities [rows, units].
  void score(const view<const float, dynamic, Encoder::output>& rows, float blank_penalty,
             view<float, dynamic, Vocab> y, context& c) const {
    ctc_lo.multiply(rows, y, c);
    if (blank_penalty > 0) y.col(blank).array() -= blank_penalty;
    kernels::log_softmax(core::read(y), core::write(y), c.run);
    steno::search::require_numbers(core::read(y), c.run);
    c.trace("ctc_logprobs", y);
  }

  /// Decoder scores of an n-best list over the encoder's rows. `reverse_weight` as in u2_options.
  std::vector<rescored> rescore(const view<const float>& rows, std::span<const steno::search::ctc_hypothesis> nbest,
                                double ctc_weight, double wanted_reverse, context& c) const {
    std::vector<rescored> all(nbest.size());
    const double reverse = reverse_weight(wanted_reverse);
    add_scores(decoder, rows, nbest, false, 1, all, c);
    if (reverse > 0) {
      std::vector<rescored> back(nbest.size());
      add_scores(reverse_decoder, rows, nbest, true, 1, back, c);
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].decoder = all[i].decoder * (1 - reverse) + back[i].decoder * reverse;
        for (std::size_t j = 0; j < all[i].token_confidence.size(); ++j)
          all[i].token_confidence[j] = (all[i].token_confidence[j] + back[i].token_confidence[j]) / 2;
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].confidence = std::exp(all[i].decoder / static_cast<double>(nbest[i].ids.size() + 1));
      all[i].score = all[i].decoder + ctc_weight * nbest[i].score;
    }
    return all;
  }

  /// Autoregressive beam search over the encoder's rows.
  steno::search::attention_result attend(const view<const float>& rows, extent beams, double length_penalty,
                                         context& c) const {
    std::vector<nn::kv_cache> encoded;
    decoder.keep_encoded(rows, encoded, c);
    typename Decoder::state state;
    const extent n = std::clamp<extent>(beams, 1, tokenizer.size());
    matrix<float, dynamic, dynamic> log_probs(n, tokenizer.size());
    return steno::search::attention_beam(
        {.search = {.beam = n, .length_penalty = length_penalty}, .sos = sos, .eos = eos, .max_steps = rows.rows()},
        [&](std::span<const int> ids, std::span<const int> parents) -> view<const float> {
          if (state.sequences.size() > 0) state.fork(parents);
          decoder.step(ids, encoded, state, log_probs, c);
          c.trace("attention_step", log_probs);
          return core::read(log_probs);
        });
  }

  /// Log-probabilities of what follows each row of <sos> + hypothesis, row by row [sum of (length + 1), units].
  template <class Body>
  void decoder_scores(const Decoder& d, const view<const float>& rows,
                      std::span<const steno::search::ctc_hypothesis> nbest, bool reversed, context& c,
                      Body&& body) const {
    std::vector<int> ids;
    std::vector<extent> begin{0};
    for (const steno::search::ctc_hypothesis& h : nbest) {
      ids.push_back(sos);
      const std::size_t n = h.ids.size();
      for (std::size_t i = 0; i < n; ++i) ids.push_back(h.ids[reversed ? n - 1 - i : i]);
      begin.push_back(static_cast<extent>(ids.size()));
    }
    std::vector<nn::kv_cache> encoded;
    d.keep_encoded(rows, encoded, c);
    core::workspace::frame scratch(c.scratch);
    auto y = scratch.template matrix<dynamic, Vocab>(static_cast<extent>(ids.size()), tokenizer.size());
    d(ids, begin, encoded, y, c);
    body(core::read(y), std::span<const extent>(begin));
  }

  /// One clip of 16 kHz mono samples in [-1, 1], all at once.
  segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// Encoder rows and CTC log-probabilities -> ids, text, words and n-best list of `s`.
  void decode(const view<const float>& rows, const view<const float>& scores, const options& o, segment& s,
              context& c) const {
    if (o.search == u2_search::attention) {
      const steno::search::attention_result r = attend(rows, o.beam, o.length_penalty, c);
      s.score = r.score;
      return write_result(r.ids, {}, {}, s);
    }
    if (o.search == u2_search::ctc_greedy) {
      std::vector<steno::search::ctc_token> tokens;
      steno::search::ctc_greedy(scores, blank, tokens);
      std::vector<int> ids;
      std::vector<extent> times;
      for (const steno::search::ctc_token& t : tokens) {
        ids.push_back(t.id);
        times.push_back(t.end - 1);
      }
      return write_result(ids, times, confidences(scores, ids, times), s);
    }
    steno::search::ctc_prefix_beam search(
        {.search = {.beam = o.beam, .hotwords = o.hotwords, .words = o.words}, .blank = blank});
    search.advance(scores);
    search.finish();
    std::vector<steno::search::ctc_hypothesis> nbest;
    for (extent i = 0; i < search.size(); ++i) nbest.push_back(search.hypothesis(i));
    std::size_t winner = 0;
    std::vector<rescored> again;
    if (o.search == u2_search::attention_rescoring) {
      again = rescore(rows, nbest, o.ctc_weight, o.reverse_weight, c);
      for (std::size_t i = 1; i < again.size(); ++i)
        if (again[i].score > again[winner].score) winner = i;  // of equal ones the first
    }
    const steno::search::ctc_hypothesis& best = nbest[winner];
    std::vector<float> confidence;
    if (again.empty())
      confidence = confidences(scores, best.ids, best.times);
    else
      confidence.assign(again[winner].token_confidence.begin(), again[winner].token_confidence.end());
    s.score = again.empty() ? best.score : again[winner].score;
    core::add_extra(s.extra, "ctc_score", best.score);
    if (!again.empty()) core::add_extra(s.extra, "confidence", again[winner].confidence);
    for (std::size_t i = 0; i < nbest.size(); ++i)
      s.alternatives.push_back({tokenizer.text(nbest[i].ids), again.empty() ? nbest[i].score : again[i].score});
    core::sort_stably(s.alternatives, [](const alternative& a, const alternative& b) { return a.score > b.score; });
    write_result(best.ids, best.times, confidence, s);
  }

  /// The probability of each token in its frame.
  std::vector<float> confidences(const view<const float>& scores, std::span<const int> ids,
                                 std::span<const extent> times) const {
    std::vector<float> p;
    for (std::size_t i = 0; i < ids.size(); ++i) p.push_back(std::exp(scores(times[i], ids[i])));
    return p;
  }

  /// Ids, text and words of `s`; without `times` there are no words. `offset_ms` is added to the times.
  void write_result(std::span<const int> ids, std::span<const extent> times, std::span<const float> confidence,
                    segment& s, extent offset_ms = 0) const {
    s.token_ids.assign(ids.begin(), ids.end());
    s.text = tokenizer.text(ids);
    core::add_extra(s.extra, "raw_text", tokenizer.raw(ids));
    if (times.empty()) return;
    const std::vector<steno::search::piece_time> placed = steno::search::piece_times(times, frame_ms(), offset_ms);
    std::vector<tokenizers::timed_piece> pieces;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::string_view p = tokenizer.piece(ids[i]);
      if (p == "<unk>" || p == "<context>" || p == "</context>") continue;
      pieces.push_back({p, static_cast<double>(placed[i].start_ms) / 1000, static_cast<double>(placed[i].end_ms) / 1000,
                        std::log(std::max(confidence[i], 1e-30f))});
    }
    s.words = tokenizers::join_words(pieces);
  }

 private:
  static Frontend read_front_end(const gguf_file& file) {
    const frontends::fbank_options o = models::read_fbank(file, architecture);
    return {frontends::fbank<dynamic>(o), frontends::cmvn<dynamic>(o.mels)};
  }

  void add_scores(const Decoder& d, const view<const float>& rows, std::span<const steno::search::ctc_hypothesis> nbest,
                  bool reversed, double weight, std::vector<rescored>& all, context& c) const {
    decoder_scores(d, rows, nbest, reversed, c, [&](const view<const float>& y, std::span<const extent> begin) {
      for (std::size_t i = 0; i < nbest.size(); ++i) {
        const auto& ids = nbest[i].ids;
        const auto length = static_cast<extent>(ids.size());
        double sum = static_cast<double>(y(begin[i] + length, eos));
        for (extent j = 0; j < length; ++j) {
          const extent row = reversed ? length - j - 1 : j;
          const auto p = static_cast<double>(y(begin[i] + row, ids[static_cast<std::size_t>(j)]));
          sum += p;
          all[i].token_confidence.push_back(std::exp(p));
        }
        all[i].decoder += weight * sum;
      }
    });
  }
};

template <u2_sizes S, class Kind, class Frontend>
segment u2<S, Kind, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  segment s;
  s.end = static_cast<double>(pcm.size()) / sample_rate;
  const extent n = frames(static_cast<extent>(pcm.size()));
  if (n == 0) return s;
  core::workspace::frame scratch(c.scratch);
  auto rows = scratch.template matrix<dynamic, Encoder::output>(n, encoder.output_size());
  encode(pcm, rows, o, c);
  auto scores = scratch.template matrix<dynamic, Vocab>(n, tokenizer.size());
  score(core::as<const float, dynamic, Encoder::output>(rows), o.blank_penalty, scores, c);
  decode(core::read(rows), core::read(scores), o, s, c);
  return s;
}

namespace detail {
struct u2_conformer_kind {
  static constexpr std::string_view architecture = "u2_conformer";
  template <nn::u2_encoder_sizes S>
  using encoder = nn::u2_conformer_encoder<S>;
};
struct u2_transformer_kind {
  static constexpr std::string_view architecture = "u2_transformer";
  template <nn::u2_encoder_sizes S>
  using encoder = nn::u2_transformer_encoder<S>;
};
}  // namespace detail

/// U2 and U2++ with conformer blocks.
template <u2_sizes S>
using u2_conformer = u2<S, detail::u2_conformer_kind>;
/// U2 and U2++ with transformer blocks.
template <u2_sizes S>
using u2_transformer = u2<S, detail::u2_transformer_kind>;

/// Any sizes: extents are adopted from the file. Causal or not, layer or batch norm, any subsampling.
using u2_conformer_any = u2_conformer<u2_sizes{}>;
/// The same with transformer blocks.
using u2_transformer_any = u2_transformer<u2_sizes{}>;

}  // namespace wenet
}  // namespace STENO_ABI
}  // namespace steno
