// steno/models/paraformer_parts.hpp - what all Paraformers have in common: their parts, how tokens are found, and how
// scores become text.
//
// The members and tensor names of FunASR's `Paraformer`, which `ParaformerStreaming`, `BiCifParaformer`,
// `SeacoParaformer` and `ContextualParaformer` inherit. Tested through the models.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/frontends/wav_frontend.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/networks/cif_predictor.hpp>
#include <steno/networks/sanm_decoder.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/search/cif_times.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/search/position_beam.hpp>
#include <steno/search/scores.hpp>
#include <steno/tokenizers/characters.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Sizes by name; what is left out is adopted from the file.
struct paraformer_sizes {
  nn::sanm_sizes encoder = {};          ///< of the encoder
  nn::sanm_decoder_sizes decoder = {};  ///< as wide as the encoder
};

/// Wishes for one call of recognise() of a Paraformer whose texts are searched.
struct paraformer_options {
  extent beam = 1;  ///< texts that are looked at; 1 without hotwords: the best token of each position
  const search::hotword_automaton* hotwords = nullptr;  ///< they must outlive the call; null: none

  /// Whether there is more to find than the best token of each position.
  bool searches() const noexcept { return beam > 1 || (hotwords != nullptr && !hotwords->empty()); }
};

/// What Paraformers are made of, under the names of FunASR's `Paraformer`; a base class.
template <paraformer_sizes S, class Frontend, class Predictor = nn::cif_predictor<S.encoder.width>,
          class Decoder = nn::sanm_decoder<S.decoder>>
class paraformer_parts {
  static_assert(S.encoder.width == S.decoder.width, "encoder and decoder have one width");

 public:
  static constexpr paraformer_sizes sizes = S;            ///< `dynamic` where the file decides
  static constexpr extent features = S.encoder.features;  ///< columns of the features
  static constexpr extent width = S.encoder.width;        ///< columns of encoder rows
  static constexpr extent labels = S.decoder.vocabulary;  ///< tokens in all
  using encoder_type = nn::sanm_main_encoder<S.encoder>;  ///< features to rows
  using predictor_type = Predictor;                       ///< rows to weights that say where tokens are
  using decoder_type = Decoder;                           ///< to scores

  paraformer_parts() = default;
  /// Front end, tokens and settings from the file's metadata; the weights are bound by load().
  STENO_COLD paraformer_parts(const gguf_file& file, std::string_view architecture,
                              models::rate_range rates = models::any_rate)
      : frontend(models::read_wav_frontend<Frontend>(file, architecture, 7, 6, rates)),
        tokenizer(models::read_tokens(file)),
        sample_rate(models::sample_rate_of(frontend)) {
    predictor.tail_threshold = static_cast<float>(
        models::read_number(file, std::string(architecture) + ".predictor.tail_threshold", 0, 1, 0.45));
  }

  Frontend frontend;                          ///< samples to features, a row for each frame_seconds()
  encoder_type encoder;                       ///< features to rows
  predictor_type predictor;                   ///< encoder rows to weights that say where tokens are
  decoder_type decoder;                       ///< tokens, reading encoder rows, to scores
  tokenizers::character_tokenizer tokenizer;  ///< ids to text
  int sample_rate = 16000;                    ///< Hz of the mono samples that it takes
  models::model_storage storage;              ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v("predictor", predictor);
    v("decoder", decoder);
    v.optional("", frontend);
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
    v.equal("encoder.output_size and width of the encoder", nn::sanm_width(encoder), encoder.output_size());
    v.equal("widths of encoder and predictor", encoder.output_size(), predictor.input_size());
    v.equal("widths of encoder and decoder", encoder.output_size(), decoder.input_size());
    v.equal("number of tokenizer.ggml.tokens and rows of decoder.output_layer",
            tokenizer.size() == 0 ? decoder.output_size() : tokenizer.size(), decoder.output_size());
  }
  /// Codes of languages that can be chosen: none.
  static std::vector<std::string> languages() { return {}; }

  /// Seconds from one frame to the next.
  double frame_seconds() const noexcept {
    return frontend.head.head.options().frame_shift * static_cast<double>(frontend.head.last.n()) / 1000;
  }

 protected:
  /// What the predictor found: views that are valid while find_tokens() calls.
  struct found_tokens {
    view<const float, dynamic, width> encoded;  ///< the encoder's rows, one a frame
    view<const float, dynamic, width> embeds;   ///< acoustic vectors, one a token; at least one
    std::span<const float> alphas;              ///< weights of the frames and of the tail
    std::span<const float> peaks;               ///< their running sum
  };

  /// <blank>, <s> and </s> are filtered out.
  static bool silent(int id) noexcept { return id >= 0 && id <= 2; }

  /// The features of a clip, [T, 560] after CMVN, and an empty segment as long as the clip to f(x, segment); the
  /// segment as f leaves it. A clip without a frame is no matter of f.
  template <class F>
  STENO_COLD segment with_features(std::span<const float> pcm, context& c, F&& f) const {
    segment s;
    s.end = static_cast<double>(pcm.size()) / sample_rate;
    const extent frames = frontend.rows(static_cast<extent>(pcm.size()));
    if (frames == 0) return s;
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, features>(frames, encoder.input_size());
    frontend(pcm, x, c);
    f(core::as<const float, dynamic, features>(x), s);
    return s;
  }

  /// Encoder and predictor over features; then f(found_tokens), unless nothing fires.
  template <class F>
  STENO_COLD void find_tokens(view<const float, dynamic, features> x, context& c, F&& f) const {
    const extent frames = x.rows(), d = encoder.output_size();
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, width>(frames + 1, d);  // and the tail's row of zeros
    auto encoded = core::as<float, dynamic, width>(rows.topRows(frames));
    {
      auto scope = c.enter("encoder");
      encoder(x, encoded, nullptr, nn::no_env{}, c);
    }
    rows.row(frames).setZero();
    const auto count = static_cast<std::size_t>(frames) + 1;
    float* alphas = scratch.template take<float>(count);
    float* peaks = scratch.template take<float>(count);
    {
      auto scope = c.enter("predictor");
      predictor(core::as<const float, dynamic, width>(encoded), alphas, c);
    }
    alphas[frames] = predictor.tail_threshold;
    auto tokens = scratch.template matrix<dynamic, width>(frames + 1, d);
    const extent n = predictor_type::integrate(core::read(rows), alphas, core::write(tokens), peaks);
    c.trace("alphas_with_tail", core::make_view(static_cast<const float*>(alphas), 1, frames + 1));
    c.trace("cif_peaks", core::make_view(static_cast<const float*>(peaks), 1, frames + 1));
    if (n == 0) return;
    const auto embeds = core::as<const float, dynamic, width>(tokens.topRows(n));
    c.trace("acoustic_embeds", embeds);
    f(found_tokens{core::as<const float, dynamic, width>(encoded), embeds, {alphas, count}, {peaks, count}});
  }

  /// How texts are searched.
  static search::position_beam_options beam_options(extent beam, const search::hotword_automaton* hotwords) noexcept {
    static constexpr int no_text[] = {0, 1, 2};
    const extent n = beam > 1 ? beam : search::position_beam_options::default_beam;
    return {.search = {.beam = n, .hotwords = hotwords}, .silent = no_text};
  }
  /// The best texts: their list and score go to `s`, and the ids of the best one, which is returned.
  STENO_COLD std::vector<tokenizers::timed_token> keep_texts(std::span<const search::position_hypothesis> found,
                                                             segment& s) const {
    std::vector<tokenizers::timed_token> tokens;
    for (std::size_t k = 0; k < found.size(); ++k) {
      std::vector<tokenizers::timed_token> own;
      for (std::size_t t = 0; t < found[k].ids.size(); ++t)
        if (const int id = found[k].ids[t]; !silent(id))
          own.push_back({.id = id, .log_probability = found[k].log_probabilities[t]});
      s.alternatives.push_back({tokenizer.decode(own).text, found[k].score});
      if (k == 0) tokens = std::move(own);
    }
    s.score = found[0].score;
    for (const tokenizers::timed_token& t : tokens) s.token_ids.push_back(t.id);
    return tokens;
  }

  /// Logits become log-probabilities. Throws scores_error for what is no number.
  static void normalise(view<float, dynamic, labels> scores, context& c) {
    kernels::log_softmax(core::read(scores), core::write(scores), c.run);
    search::require_numbers(core::read(scores), c.run);
  }

  /// The best token of each row of log-probabilities, without those that are filtered out; their ids go to `s`.
  STENO_COLD static std::vector<tokenizers::timed_token> best_tokens(const view<const float>& scores, segment& s) {
    std::vector<tokenizers::timed_token> tokens;
    for (extent t = 0; t < scores.rows(); ++t) {
      const float* row = scores.data() + t * scores.outerStride();
      const int id = search::best_label(row, scores.cols());
      if (silent(id)) continue;
      tokens.push_back({.id = id, .log_probability = row[id]});
      s.token_ids.push_back(id);
    }
    return tokens;
  }
  /// The first tokens get times, as many as there are.
  STENO_COLD static void set_times(std::span<tokenizers::timed_token> tokens,
                                   std::span<const search::time_span> times) {
    for (std::size_t i = 0; i < std::min(times.size(), tokens.size()); ++i) {
      tokens[i].start = std::max(milliseconds(times[i].start), 0.0);
      tokens[i].end = milliseconds(times[i].end);
    }
  }
  /// Text and words of tokens.
  STENO_COLD void set_text(std::span<const tokenizers::timed_token> tokens, segment& s) const {
    auto text = tokenizer.decode(tokens);
    s.text = std::move(text.text);
    s.words = std::move(text.words);
  }

 private:
  // The original gives whole milliseconds, cut off: int(1000 * seconds) in doubles, so 930 may become 929.
  static double milliseconds(double seconds) noexcept {
    return static_cast<double>(static_cast<long>(seconds * 1000)) / 1000;
  }
};

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
