// steno/models/paraformer.hpp - Paraformer: speech to text without autoregression, with the time of every character.
//
//   features = cmvn(lfr(fbank(pcm)))                      [T, 560]
//   encoded  = encoder(features)                          [T, D]
//   alphas   = predictor(encoded); tokens = integrate and fire over encoded and a tail
//   scores   = log_softmax(decoder(tokens, encoded))      [n, vocabulary];  ids = argmax, or with hotwords the best
//   text
//
// Follows `Paraformer.inference` (funasr/models/paraformer/model.py) and what it calls; see docs/models/paraformer.md.
// Tested in tests/parity/paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/paraformer_parts.hpp>

#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Paraformer for whole clips. A loaded model is const and may be shared by threads, each with its own context.
template <paraformer_sizes S, class Frontend = frontends::wav_frontend<>>
class paraformer : public paraformer_parts<S, Frontend> {
  using parts = paraformer_parts<S, Frontend>;
  static constexpr extent Feat = parts::features, Vocab = parts::labels;

 public:
  static constexpr std::string_view architecture = "paraformer";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/paraformer.hpp";
  using options = paraformer_options;  ///< of one call of recognise()
  /// What a unit of a hotword earns unless the options say otherwise.
  static constexpr float hotword_score = 3;

  using parts::decoder;      ///< tokens, reading encoder rows, to scores
  using parts::encoder;      ///< features to rows
  using parts::frontend;     ///< samples to features
  using parts::predictor;    ///< encoder rows to weights that say where tokens are
  using parts::sample_rate;  ///< Hz of the mono samples that it takes
  using parts::tokenizer;    ///< ids to text

  paraformer() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit paraformer(const gguf_file& file) : parts(file, architecture) {}

  /// One clip of 16 kHz mono samples in [-1, 1], all at once. A clip without a token gives an empty segment.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// The same from features [T, 560] (after CMVN).
  STENO_COLD void decode_features(view<const float, dynamic, Feat> x, segment& s, context& c,
                                  const options& o = {}) const {
    parts::find_tokens(x, c, [&](const auto& found) {
      core::workspace::frame scratch(c.scratch);
      auto scores = scratch.template matrix<dynamic, Vocab>(found.embeds.rows(), decoder.output_size());
      {
        auto scope = c.enter("decoder");
        const nn::sanm_decoder_env env{.encoded =
                                           nn::prepare_encoded(decoder, core::read(found.encoded), scratch, c.run)};
        decoder(found.embeds, scores, nullptr, env, c);
      }
      c.trace("logits", scores);
      parts::normalise(scores, c);
      c.trace("log_probs", scores);
      auto tokens =
          o.searches()
              ? parts::keep_texts(search::position_beam(core::read(scores), parts::beam_options(o.beam, o.hotwords)), s)
              : parts::best_tokens(core::read(scores), s);
      parts::set_times(tokens, search::cif_times(found.alphas, found.peaks, tokens.size(), parts::frame_seconds()));
      parts::set_text(tokens, s);
    });
  }
};

template <paraformer_sizes S, class Frontend>
segment paraformer<S, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  return parts::with_features(pcm, c, [&](const auto& x, segment& s) { decode_features(x, s, c, o); });
}

/// paraformer-large (Mandarin, 8404 tokens): every extent static.
using paraformer_large = paraformer<paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using paraformer_any = paraformer<paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
