// steno/models/sense_voice.hpp - SenseVoiceSmall: speech to text with language, emotion and event, non-autoregressive.
//
//   features = cmvn(lfr(fbank(pcm)))                       [T, 560]
//   rows     = embed[language, 1, 2, textnorm] + features  [4 + T, 560] (stacked)
//   scores   = log_softmax(ctc_lo(encoder(rows)))          [4 + T, vocabulary]
//   text     = SentencePiece(collapse(argmax(scores)))     the first four frames give the tags
//              or behind these the prefix beam of WeNet (ctc_prefix_beam.hpp), for hotwords and language models
//
// Follows `SenseVoiceSmall.inference` (funasr/models/sense_voice/model.py). Word times: `output_timestamp=True` of the
// same function; see docs/models/sense_voice.md for what is kept and what differs. Tested in
// tests/models/sense_voice_test.cpp and tests/parity/sense_voice_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/frontends/wav_frontend.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/search/ctc_alignment.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/ctc_prefix_beam.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/sentencepiece.hpp>
#include <steno/tokenizers/words.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// What SenseVoice shall do. The first two choose rows of `embed`.
struct sense_voice_options {
  std::string_view language = "auto";  ///< zh en yue ja ko nospeech; auto: as the file says, which is auto as a rule
  std::optional<bool> itn = {};        ///< inverse text normalisation (digits, punctuation); nothing: as the file says
  extent beam = 1;                     ///< prefixes of the text; 1 without hotwords and a language model: the best path
  const search::hotword_automaton* hotwords = nullptr;  ///< they need a beam and must outlive the call; null: none
  const search::word_scorer* words = nullptr;           ///< a language model, the same

  /// Whether there is a beam.
  bool searches() const noexcept { return beam > 1 || words != nullptr || (hotwords != nullptr && !hotwords->empty()); }
};

/// Names and `embed` rows of the language query (`lid_dict` of the original).
inline constexpr std::pair<std::string_view, extent> sense_voice_languages[] = {
    {"auto", 0}, {"zh", 3}, {"en", 4}, {"yue", 7}, {"ja", 11}, {"ko", 12}, {"nospeech", 13}};

/// Sizes by name; what is left out is adopted from the file.
struct sense_voice_sizes {
  nn::sanm_sizes encoder = {};  ///< of the encoder
  extent vocabulary = dynamic;  ///< tokens in all
};

/// SenseVoice: text, language, emotion and event of a clip. A loaded model is const and may be shared by threads, each
/// with its own context.
template <sense_voice_sizes S, class Frontend = frontends::wav_frontend<>>
class sense_voice {
  static constexpr extent Feat = S.encoder.features, D = S.encoder.width, Vocab = S.vocabulary;

 public:
  static constexpr sense_voice_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "sense_voice";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/sense_voice.hpp";
  static constexpr extent queries = 4;  ///< rows before the features: language, emotion, event, normalisation
  using options = sense_voice_options;  ///< of one call of recognise()

  sense_voice() = default;
  /// Front end and tokenizer from the file's metadata; the weights are bound by load().
  STENO_COLD explicit sense_voice(const gguf_file& file)
      : frontend(models::read_wav_frontend<Frontend>(file, architecture, 7, 6, models::any_rate)),
        tokenizer(models::read_sentencepiece(file)),
        sample_rate(models::sample_rate_of(frontend)) {
    itn = models::read_flag(file, "sense_voice.use_itn", false);
    default_language = file.text("sense_voice.language").value_or("auto");
    models::made_of(file, "sense_voice.language", [&] { return language_row(default_language); });
    blank = static_cast<int>(models::read_whole(file, "sense_voice.blank_id", 0, 1 << 24, 0));
  }

  Frontend frontend;                                                ///< samples to features, a row for each frame_ms()
  weights::weight<16, Feat, dtype::f32, weights::use::rows> embed;  ///< rows that stand for queries
  nn::sanm_encoder<S.encoder> encoder;                              ///< queries and features to rows
  nn::linear<D, Vocab> ctc_lo;                                      ///< its rows to logits
  tokenizers::sentencepiece tokenizer;                              ///< ids to text
  int sample_rate = 16000;                                          ///< Hz of the mono samples that it takes
  int blank = 0;                                                    ///< id of the blank
  std::string default_language = "auto";                            ///< queried where a call has "auto"
  bool itn = false;                                                 ///< unless the options of a call say otherwise
  models::model_storage storage;                                    ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v("ctc.ctc_lo", ctc_lo);
    v("embed.weight", embed);
    v.optional("", frontend);
    v.equal("widths of encoder and ctc.ctc_lo", encoder.output_size(), ctc_lo.input_size());
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
    v.equal("widths of embed and encoder", embed.cols(), encoder.input_size());
    v.equal("encoder.output_size and width of the encoder", nn::sanm_width(encoder), encoder.output_size());
    v.equal("number of tokenizer.ggml.tokens and rows of ctc.ctc_lo",
            tokenizer.size() == 0 ? ctc_lo.output_size() : tokenizer.size(), ctc_lo.output_size());
    v.within("sense_voice.blank_id among the rows of ctc.ctc_lo", blank, 0, ctc_lo.output_size() - 1);
  }

  /// Codes of the languages that can be chosen, "auto" and "nospeech" among them.
  STENO_COLD static std::vector<std::string> languages() {
    std::vector<std::string> names;
    for (const auto& [name, row] : sense_voice_languages) names.emplace_back(name);
    return names;
  }
  /// The `embed` row of a language; throws steno::error for one the model does not know.
  STENO_COLD static extent language_row(std::string_view language) {
    std::string known;
    for (const auto& [name, row] : sense_voice_languages) {
      if (name == language) return row;
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    fail({.what = "language \"" + std::string(language) + "\"", .expected = "one of " + known});
  }

  /// Frames of scores for `count` samples: four for the queries and one per 60 ms. 0 for a clip shorter than one window
  /// (25 ms).
  extent frames(extent count) const noexcept {
    const extent t = frontend.rows(count);
    return t == 0 ? 0 : queries + t;
  }
  /// Milliseconds from one frame to the next.
  double frame_ms() const noexcept {
    return frontend.head.head.options().frame_shift * static_cast<double>(frontend.head.last.n());
  }

  /// Mono samples in [-1, 1] -> log-probabilities [frames(number of samples), vocabulary]. `language` is a row
  /// of `embed` (language_row()). Allocates only from the context.
  STENO_COLD void forward(std::span<const float> pcm, extent language, bool with_itn,
                          view<float, dynamic, Vocab> scores, context& c) const {
    const extent rows = frames(static_cast<extent>(pcm.size()));
    if (rows == 0) return;
    core::workspace::frame scratch(c.scratch);
    auto x = query_rows(rows, language, with_itn, scratch, c);
    frontend(pcm, x.bottomRows(rows - queries), c);
    score(x, scores, c);
  }

  /// The same from features [T, 560] (after CMVN) -> [4 + T, vocabulary].
  void forward_features(const view<const float, dynamic, Feat>& features, extent language, bool with_itn,
                        view<float, dynamic, Vocab> scores, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto x = query_rows(queries + features.rows(), language, with_itn, scratch, c);
    x.bottomRows(features.rows()) = features;
    score(x, scores, c);
  }

  /// One clip of mono samples in [-1, 1], all at once (attention sees the whole clip: best up to about 30 s).
  /// Throws steno::error for an unknown language.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// Log-probabilities -> ids, tags, text and words of `s`. The first four frames name language, emotion, event and
  /// text normalisation; pieces of words come later.
  STENO_COLD void decode(const view<const float>& scores, segment& s, context& c, const options& o = {}) const {
    std::vector<search::ctc_token> tokens;
    if (o.searches())
      search_text(scores, o, tokens, s);
    else
      search::ctc_greedy(scores, blank, tokens);
    std::vector<int> spoken_ids, plain;
    std::string tags[queries];
    for (const search::ctc_token& t : tokens) {
      const std::string_view name = tag(tokenizer.piece(t.id));
      s.token_ids.push_back(t.id);
      if (t.start < queries)
        tags[t.start] = name;
      else
        spoken_ids.push_back(t.id);
      if (name.empty()) plain.push_back(t.id);
    }
    s.language = tags[0];
    s.extra.clear();
    core::add_extra(s.extra, "emotion", tags[1]);
    core::add_extra(s.extra, "event", tags[2]);
    core::add_extra(s.extra, "itn", tags[3]);
    core::add_extra(s.extra, "raw_text", tokenizer.decode(s.token_ids));
    s.text = trimmed(tokenizer.decode(plain));

    const extent spoken = scores.rows() - queries;
    const view<const float> speech = scores.bottomRows(spoken);
    std::vector<search::ctc_token> placed;
    if (spoken_ids.empty() ||
        !search::ctc_alignment(speech, spoken_ids, {.blank = blank, .free_blank = true}, c.scratch, placed))
      return;
    std::vector<tokenizers::timed_piece> pieces;
    for (const search::ctc_token& t : placed) {
      const std::string_view p = tokenizer.piece(t.id);
      if (!tag(p).empty()) continue;
      float best = speech(t.start, t.id);
      for (extent f = t.start; f < t.end; ++f) best = std::max(best, speech(f, t.id));
      pieces.push_back({p, seconds(t.start), std::min(seconds(t.end), seconds(spoken)), best});
    }
    s.words = tokenizers::join_words(pieces);
  }

 private:
  // The best path of the tags, and the best prefix of the frames behind them; the n-best list goes to `s`. A tag that
  // goes on in these is one.
  STENO_COLD void search_text(const view<const float>& scores, const options& o, std::vector<search::ctc_token>& tokens,
                              segment& s) const {
    const extent tag_rows = std::min<extent>(queries, scores.rows());
    search::ctc_greedy(core::read(scores.topRows(tag_rows)), blank, tokens);
    const extent n = o.beam > 1 ? o.beam : search::ctc_beam_options::default_beam;
    search::ctc_prefix_beam beam({.search = {.beam = n, .hotwords = o.hotwords, .words = o.words}, .blank = blank});
    beam.advance(core::read(scores.bottomRows(scores.rows() - tag_rows)));
    beam.finish();
    for (extent i = 0; i < beam.size(); ++i) {
      std::vector<int> plain;
      for (const int id : beam.ids(i))
        if (tag(tokenizer.piece(id)).empty()) plain.push_back(id);
      s.alternatives.push_back({trimmed(tokenizer.decode(plain)), beam.score(i)});
    }
    s.score = beam.score(0);
    const auto ids = beam.ids(0);
    const auto times = beam.times(0);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const extent at = tag_rows + times[i];
      if (i == 0 && !tokens.empty() && tokens.back().id == ids[i] && tokens.back().end == tag_rows) continue;
      tokens.push_back({ids[i], at, at + 1});
    }
  }

  // Rows for queries and features; the queries are filled in.
  view<float, dynamic, Feat> query_rows(extent rows, extent language, bool with_itn, core::workspace::frame& scratch,
                                        context& c) const {
    const extent width = encoder.input_size();
    auto x = scratch.template matrix<dynamic, Feat>(rows, width);
    const std::array<extent, queries> ids{language, 1, 2, with_itn ? 14 : 15};
    for (extent i = 0; i < queries; ++i)
      std::copy_n(embed.floats() + ids[static_cast<std::size_t>(i)] * width, width, x.data() + i * width);
    c.trace("query_embeds", x.topRows(queries));
    return x;
  }

  void score(const view<const float, dynamic, Feat>& x, view<float, dynamic, Vocab> scores, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto encoded = scratch.template matrix<dynamic, D>(x.rows(), encoder.output_size());
    {
      auto s = c.enter("encoder");
      encoder(x, encoded, nullptr, nn::no_env{}, c);
    }
    ctc_lo.multiply(encoded, scores, c);
    c.trace("ctc_logits", scores);
    kernels::log_softmax(core::read(scores), core::write(scores), c.run);
    search::require_numbers(core::read(scores), c.run);
    c.trace("ctc_log_probs", scores);
  }

  // The original counts whole milliseconds as int(1000 * ((60 frame - 30) / 1000)), in doubles: 2010 becomes 2009.
  double seconds(extent frame) const noexcept {
    const double s = std::max((static_cast<double>(frame) * frame_ms() - frame_ms() / 2) / 1000, 0.0);
    return std::floor(s * 1000) / 1000;
  }
  // "<|en|>" -> "en"; empty for an ordinary piece.
  static std::string_view tag(std::string_view piece) noexcept {
    return piece.size() > 4 && piece.starts_with("<|") && piece.ends_with("|>") ? piece.substr(2, piece.size() - 4)
                                                                                : std::string_view{};
  }
  STENO_COLD static std::string trimmed(std::string s) {
    const std::size_t from = s.find_first_not_of(' '), to = s.find_last_not_of(' ');
    return from == std::string::npos ? std::string{} : s.substr(from, to - from + 1);
  }
};

template <sense_voice_sizes S, class Frontend>
segment sense_voice<S, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  segment s;
  s.end = static_cast<double>(pcm.size()) / sample_rate;
  const extent language = language_row(o.language == "auto" ? default_language : o.language);
  const extent rows = frames(static_cast<extent>(pcm.size()));
  if (rows == 0) return s;
  core::workspace::frame scratch(c.scratch);
  auto scores = scratch.template matrix<dynamic, Vocab>(rows, ctc_lo.output_size());
  forward(pcm, language, o.itn.value_or(itn), scores, c);
  decode(scores, s, c, o);
  return s;
}

/// The published model: every extent static.
using sense_voice_small = sense_voice<sense_voice_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49, .tp_blocks = 20},
    .vocabulary = 25055}>;
/// Any sizes: extents are adopted from the file.
using sense_voice_any = sense_voice<sense_voice_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
