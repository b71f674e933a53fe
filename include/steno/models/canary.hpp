// steno/models/canary.hpp - Canary: FastConformer and a transformer decoder that writes as a prompt says.
//
//   rows = encoder(features);  encoded = encoder_decoder_proj(rows), where the widths differ
//   log_probs = decoder(prompt and tokens, encoded);  tokens by beam search, a beam of 1 unless the file says otherwise
//
// NeMo `EncDecMultiTaskModel` (aed_multitask_models.py) as `transcribe()` calls it, `MultiTaskDecoding` with strategy
// beam: published models have a beam of 1, which is greedy. Prompts are canary_prompt.hpp, long recordings and words
// canary_windows.hpp. Tested in tests/parity/canary_test.cpp and tests/models/canary_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/models/canary_aligner.hpp>
#include <steno/models/canary_prompt.hpp>
#include <steno/models/canary_windows.hpp>
#include <steno/models/nemo_encoders.hpp>
#include <steno/models/parakeet.hpp>
#include <steno/networks/nemo_transformer_decoder.hpp>
#include <steno/search/nemo_beam.hpp>
#include <steno/search/overlap_merge.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// The `Kind` of canary.
struct canary_kind {
  static constexpr std::string_view architecture = "canary";  ///< `general.architecture` of its files
};

/// Wishes for one call of recognise().
struct canary_options : canary_prompt {
  extent beam = 0;                            ///< texts that live on; 0: as the file says
  std::optional<double> length_penalty = {};  ///< power of the length in their comparison; nothing: as the file says
};

/// Sizes by name; what is left out is adopted from the file.
struct canary_sizes {
  nn::fastconformer_sizes encoder = {};  ///< of FastConformer
  nn::nemo_decoder_sizes decoder = {};   ///< of the decoder, whose width may be another
  nn::fastconformer_sizes aligner = {};  ///< of the second model's encoder, where there is one
};

/// What decodes a window; one for each thread. Its memory is kept from window to window.
struct canary_window {
  std::vector<nn::kv_cache> encoded;  ///< keys and values of the encoder's rows, for each layer of the decoder
  nn::nemo_decoder_state text;        ///< what was written so far
  extent rows = 0;                    ///< of the encoder, with the row of padding that the original has
};

/// Canary: FastConformer and a transformer decoder. A loaded model is const and may be shared by threads, each with its
/// own context.
template <canary_sizes S>
class canary : public parakeet<nn::fastconformer<S.encoder>, nemo_frontend<S.encoder.mels>, canary_kind> {
  using base = parakeet<nn::fastconformer<S.encoder>, nemo_frontend<S.encoder.mels>, canary_kind>;
  using Encoder = nn::fastconformer<S.encoder>;
  static constexpr extent D = S.decoder.width;

 public:
  static constexpr canary_sizes sizes = S;  ///< `dynamic` where the file decides
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/canary.hpp";
  using options = canary_options;  ///< of one call of recognise()

  canary() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit canary(const gguf_file& file) : base(file), tokens(file, base::architecture, this->tokenizer) {
    const std::string at = std::string(base::architecture) + ".";
    projected = models::read_flag(file, at + "encoder_decoder_proj", projected);
    beam = models::read_whole(file, at + "decoding.beam_size", 1, 1024, 1);
    length_penalty = models::read_number(file, at + "decoding.length_penalty", 0, 64, 0);
    max_generation_delta = models::read_whole(file, at + "decoding.max_generation_delta", -1, 1 << 20, -1);
    aligned = file.has(at + "timestamps.tokens");
    if (aligned) aligner = canary_aligner<S.aligner>(file, at + "timestamps");
  }

  nn::linear<Encoder::output, D> encoder_decoder_proj;  ///< models with two widths only
  nn::nemo_decoder<S.decoder> decoder;                  ///< tokens, reading encoder rows, to log-probabilities
  canary_tokens tokens;                                 ///< special tokens, and prompts made of them
  /// There is an encoder_decoder_proj.
  bool projected = core::is_static(D) && core::is_static(Encoder::output) && D != Encoder::output;
  canary_aligner<S.aligner> aligner;  ///< models with a second one only: finds times of words
  bool aligned = false;               ///< there is an aligner
  extent beam = 1;                    ///< texts that live on, unless a call says otherwise
  double length_penalty = 0;          ///< unless a call says otherwise
  /// A text has up to so many tokens more than the encoder has rows, its prompt among them; -1: the decoder's context.
  extent max_generation_delta = -1;

  void members(auto&& v) {
    base::members(v);
    if (projected) {
      v("encoder_decoder_proj", encoder_decoder_proj);
      v.equal("widths of encoder and encoder_decoder_proj", this->encoder.output_size(),
              encoder_decoder_proj.input_size());
    }
    v("", decoder);
    if (aligned) v("timestamps", aligner);
    v.equal("widths of encoder and decoder",
            projected ? encoder_decoder_proj.output_size() : this->encoder.output_size(), decoder.width());
    v.within("tokenizer.ggml.tokens, and columns of the scores", this->tokenizer.size(), 1, decoder.vocabulary());
    v.within("rows of pos_enc", decoder.context_size(), 16, 1 << 20);  // a prompt and a text
  }
  /// Whether words may have times: the model writes them, or has an aligner.
  bool finds_times() const noexcept { return aligned || tokens.has_times(); }
  /// Codes of the languages that it has tokens for.
  std::vector<std::string> languages() const { return tokens.languages(this->tokenizer); }
  /// Whether `code` is one of a language that it has a token for.
  bool supports_language(std::string_view code) const {
    return tokens.find(this->tokenizer, "<|" + std::string(code) + "|>") >= 0;
  }

  /// Encoder rows of a recording of so many samples as the original counts them, with one of padding perhaps.
  extent rows_of(extent samples) const noexcept { return this->encoder.rows(this->frontend.rows(samples) + 1); }

  /// Samples, not none, to what the decoder reads of them. `padded`: samples of the window with those behind it.
  void encode_window(std::span<const float> pcm, extent padded, canary_window& w, context& c) const {
    core::workspace::frame scratch(c.scratch);
    const extent n = this->frames(static_cast<extent>(pcm.size()));
    w.rows = rows_of(padded);
    auto rows = scratch.template matrix<dynamic, Encoder::output>(n, this->encoder.output_size());
    base::encode(pcm, rows, c);
    if (!projected) return decoder.keep_encoded(core::read(rows), w.encoded, c);
    auto states = scratch.template matrix<dynamic, D>(n, decoder.width());
    encoder_decoder_proj.multiply(core::as<const float, dynamic, Encoder::output>(rows), states, c);
    c.trace("encoder_states", states);
    decoder.keep_encoded(core::read(states), w.encoded, c);
  }
  /// Log-probabilities y [tokens, vocabulary] of what follows each of `ids`, which begin a text.
  void score(std::span<const int> ids, canary_window& w, view<float> y, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, D>(static_cast<extent>(ids.size()), decoder.width());
    w.text.clear();
    decoder.prompt(ids, w.encoded, w.text, rows, c);
    decoder.score(core::as<const float, dynamic, D>(rows), core::as<float, dynamic, S.decoder.vocabulary>(y), c);
  }

  /// Texts that follow `prompt` for the window in `w`. Throws steno::error when there is no room behind the prompt.
  STENO_COLD search::nemo_beam_result decode_window(std::span<const int> prompt, canary_window& w, const options& o,
                                                    context& c) const {
    const auto given = static_cast<extent>(prompt.size());
    if (given > decoder.context_size())
      fail({.what = "tokens of the prompt",
            .expected = "up to " + std::to_string(decoder.context_size()),
            .found = std::to_string(given)});
    extent longest = decoder.context_size();
    if (max_generation_delta >= 0) longest = std::min(longest, w.rows + max_generation_delta);
    const search::nemo_beam_options how{
        .search = {.beam = o.beam > 0 ? o.beam : beam, .length_penalty = o.length_penalty.value_or(length_penalty)},
        .eos = tokens.eos,
        .pad = tokens.pad,
        .prompt = given,
        .max_steps = longest - given};
    core::workspace::frame scratch(c.scratch);
    const extent n = std::max(how.search.beam, given), pieces = this->tokenizer.size();
    auto rows = scratch.template matrix<dynamic, D>(n, decoder.width());
    auto scores = scratch.template matrix<dynamic, S.decoder.vocabulary>(how.search.beam, decoder.vocabulary());
    const auto score_rows = [&](extent first, extent count) {
      decoder.score(core::as<const float, dynamic, D>(rows.middleRows(first, count)),
                    core::as<float, dynamic, S.decoder.vocabulary>(scores.topRows(count)), c);
      return core::read(scores.topRows(count).leftCols(pieces));  // columns that no token has are not chosen
    };
    w.text.clear();
    decoder.prompt(prompt, w.encoded, w.text, core::as<float, dynamic, D>(rows.topRows(given)), c);
    const auto step = [&](std::span<const int> ids, std::span<const int> sources) {
      const auto count = static_cast<extent>(ids.size());
      w.text.fork(sources);
      decoder.step(ids, w.encoded, w.text, core::as<float, dynamic, D>(rows.topRows(count)), c);
      return score_rows(0, count);
    };
    return search::nemo_beam(how, score_rows(given - 1, 1), step);
  }

  /// A segment of what is spoken and written, before anything is recognised, and the prompt for it. Throws steno::error
  /// for what no prompt of the model can say.
  STENO_COLD std::pair<segment, std::vector<int>> begin(const options& o) const {
    segment s;
    s.language = canary_tokens::source_of(o);
    if (const std::string target = canary_tokens::target_of(o); target != s.language)
      core::add_extra(s.extra, "target_language", target);
    canary_prompt p = o;
    p.timestamps = p.timestamps && !aligned;
    return {std::move(s), tokens.prompt(this->tokenizer, p)};
  }

  /// A recording of 16 kHz mono samples in [-1, 1]; see canary_windows for long ones. Throws steno::error for what no
  /// prompt of the model can say.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// Why a text ends.
  static const char* stop_name(const search::nemo_hypothesis& h) noexcept {
    return h.ended ? "end_of_text" : "context";
  }
  /// Score and alternatives of a window's text.
  STENO_COLD void write_beam(const search::nemo_beam_result& found, const options& o, segment& s) const {
    s.score = found.beams[found.best].score;
    if (found.beams.size() < 2) return;
    std::vector<std::size_t> order;
    core::sort_places(order, found.beams.size(),
                      [&](std::size_t a, std::size_t b) { return found.beams[a].key > found.beams[b].key; });
    for (const std::size_t i : order) {
      const search::nemo_hypothesis& h = found.beams[i];
      std::string text = this->tokenizer.decode(h.ids);
      if (o.timestamps && !aligned) text = canary_times(text).text;
      s.alternatives.push_back({std::move(text), h.score});
    }
  }
  /// Where a recording lies whose windows these are; zeros before it count.
  struct place {
    double start = 0, end = 0;  ///< seconds
  };
  /// Words with their times, and the text that they make, of window `number`, whose samples are `pcm`, of the recording
  /// at `where`. Of what two windows have in common each has the half that is nearer to its middle.
  STENO_COLD void write_words(const search::nemo_hypothesis& h, std::span<const float> pcm, const canary_windows& cut,
                              extent number, place where, segment& s, context& c) const {
    constexpr double endless = std::numeric_limits<double>::infinity();
    const auto seconds = [&](extent i) { return where.start + static_cast<double>(cut.start(i)) / base::sample_rate; };
    const double least = std::max(where.start, 0.0);
    const double half = static_cast<double>(canary_windows::overlap) / 2 / base::sample_rate;
    const double from = number == 0 ? -endless : seconds(number) + half,
                 to = number + 1 == cut.count() ? endless : seconds(number + 1) + half;
    const std::string text = this->tokenizer.decode(h.ids);
    canary_timed_text timed;
    if (aligned) {
      timed.text = tokenizers::unicode::strip(text);
      timed.words = aligner.align(pcm, text, c);
      timed.timed = !timed.words.empty();
    } else {
      timed = canary_times(text);
    }
    const bool whole = aligned && cut.count() == 1;  // a text that is written without times stays as it is
    if (whole || !timed.timed) append(s.text, whole ? text : timed.text);
    const double row = aligned ? aligner.frame_seconds() : this->frame_seconds();
    const std::vector<float> confidences = aligned ? confidence_of_words(h) : confidence_of_pairs(h);
    for (const tokenizers::placed_text& t : timed.words) {
      const double first = seconds(number) + static_cast<double>(t.start) * row,
                   last = seconds(number) + static_cast<double>(t.end) * row;
      if ((first + last) / 2 < from || (first + last) / 2 >= to) continue;
      s.words.push_back({.text = t.text,
                         .start = std::clamp(first, least, where.end),
                         .end = std::clamp(last, least, where.end),
                         .confidence = confidences[std::min(t.first, confidences.size() - 1)],
                         .how = aligned ? timing::aligned : timing::native});
      if (!whole) append(s.text, t.text);
    }
  }

 private:
  static void append(std::string& text, const std::string& more) {
    text.append(text.empty() || more.empty() ? "" : " ").append(more);
  }
  // The geometric mean of the probabilities of tokens first .. last - 1.
  static float confidence_of(const search::nemo_hypothesis& h, std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += static_cast<double>(h.log_probabilities[i]);
    return static_cast<float>(std::exp(sum / static_cast<double>(std::max<std::size_t>(last - first, 1))));
  }
  // Of the tokens between two times, for each pair of these; behind them that of all tokens.
  std::vector<float> confidence_of_pairs(const search::nemo_hypothesis& h) const {
    std::vector<float> all;
    std::size_t open = h.ids.size();
    for (std::size_t i = 0; i < h.ids.size(); ++i) {
      if (canary_tokens::frame_of(this->tokenizer, h.ids[i]) < 0) continue;
      if (open < h.ids.size()) all.push_back(confidence_of(h, open + 1, i));
      open = open < h.ids.size() ? h.ids.size() : i;
    }
    all.push_back(confidence_of(h, 0, h.ids.size()));
    return all;
  }
  // Of the tokens of each word; behind them that of all tokens.
  std::vector<float> confidence_of_words(const search::nemo_hypothesis& h) const {
    std::vector<float> all;
    std::size_t first = 0;
    for (std::size_t i = 1; i <= h.ids.size(); ++i) {
      if (i < h.ids.size() && !this->tokenizer.piece(h.ids[i]).starts_with(tokenizers::sentencepiece::space)) continue;
      all.push_back(confidence_of(h, first, i));
      first = i;
    }
    all.push_back(confidence_of(h, 0, h.ids.size()));
    return all;
  }
};

template <canary_sizes S>
segment canary<S>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  const auto count = static_cast<extent>(pcm.size());
  auto [s, prompt] = begin(o);
  s.end = static_cast<double>(count) / base::sample_rate;
  if (count == 0) return std::move(s);
  canary_window w;
  const canary_windows cut = canary_windows::of(std::max(count, canary_windows::second));
  std::vector<float> padded;
  const extent before = canary_zeros_before(count);
  if (before > 0) {
    padded.assign(static_cast<std::size_t>(canary_windows::second), 0.0f);
    std::copy(pcm.begin(), pcm.end(), padded.begin() + before);
    pcm = padded;
  }
  for (extent i = 0; i < cut.count(); ++i) {
    const auto part = pcm.subspan(static_cast<std::size_t>(cut.start(i)), static_cast<std::size_t>(cut.length(i)));
    encode_window(part, cut.window, w, c);
    const search::nemo_beam_result found = decode_window(prompt, w, o, c);
    const search::nemo_hypothesis& best = found.beams[found.best];
    if (o.timestamps) {
      s.token_ids.insert(s.token_ids.end(), best.ids.begin(), best.ids.end());
      write_words(best, part, cut, i, {static_cast<double>(-before) / base::sample_rate, s.end}, s, c);
    } else {
      search::merge_overlap(s.token_ids, best.ids);
    }
    s.stop_reason = stop_name(best);
    if (cut.count() == 1) write_beam(found, o, s);
  }
  if (!o.timestamps) s.text = this->tokenizer.decode(s.token_ids);
  return std::move(s);
}

/// nvidia/canary-1b-v2: 25 languages, one SentencePiece model of 16384 pieces.
using canary_1b_v2 = canary<canary_sizes{
    .encoder = fastconformer_xlarge({.mels = 128, .layers = 32}),
    .decoder = {.width = 1024, .heads = 8, .units = 4096, .layers = 8, .vocabulary = 16384, .context = 1024}}>;
/// nvidia/canary-180m-flash: English, German, Spanish and French, a tokenizer for each; it writes times.
using canary_180m_flash = canary<canary_sizes{
    .encoder = fastconformer_large({.mels = 128}),
    .decoder = {.width = 1024, .heads = 8, .units = 4096, .layers = 4, .vocabulary = 5248, .context = 1024}}>;
/// Any sizes: extents are adopted from the file.
using canary_any = canary<canary_sizes{}>;

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
