// steno/models/contextual_paraformer.hpp - ContextualParaformer: Paraformer whose last decoder layer looks at hotwords.
//
//   hotwords = bias_encoder(bias_embed[ids])[last]    [m, D], <s> (none of them) last, and alone where there are none
//   scores   = log_softmax(decoder(tokens, encoded, hotwords))      networks/contextual_decoder.hpp
//
// Follows `ContextualParaformer.inference` and `cal_decoder_with_predictor`
// (funasr/models/contextual_paraformer/model.py). The original gives no times. See docs/models/paraformer.md. Tested in
// tests/parity/contextual_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/hotword_phrases.hpp>
#include <steno/models/paraformer_parts.hpp>
#include <steno/networks/contextual_decoder.hpp>
#include <steno/networks/hotword_encoder.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// What ContextualParaformer shall favour.
struct contextual_paraformer_options {
  std::vector<std::string> hotwords = {};  ///< phrases, each of words with spaces between them
  std::optional<float> clas_scale = {};    ///< how much hotwords count; nothing: as the file says, 1 as a rule
};

/// ContextualParaformer for whole clips. A loaded model is const and may be shared by threads, each with its own
/// context.
template <paraformer_sizes S, class Frontend = frontends::wav_frontend<>>
class contextual_paraformer
    : public paraformer_parts<S, Frontend, nn::cif_predictor<S.encoder.width>, nn::contextual_decoder<S.decoder>> {
  using parts = paraformer_parts<S, Frontend, nn::cif_predictor<S.encoder.width>, nn::contextual_decoder<S.decoder>>;
  static constexpr extent D = parts::width, Vocab = parts::labels;

 public:
  static constexpr std::string_view architecture = "contextual_paraformer";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/seaco_paraformer.hpp";
  static constexpr bool hotwords_encoded = true;  ///< phrases are no matter of a search
  using options = contextual_paraformer_options;  ///< of one call of recognise()

  contextual_paraformer() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit contextual_paraformer(const gguf_file& file)
      : parts(file, architecture), phrases(models::read_hotword_pieces(file)) {
    clas_scale = static_cast<float>(models::read_number(file, std::string(architecture) + ".clas_scale", 0, 100, 1));
  }

  weights::weight<Vocab, D, dtype::any, weights::use::rows> bias_embed;  ///< a row for each token
  nn::lstm<D, 1> bias_encoder;                                           ///< rows of a phrase to its vector
  tokenizers::hotword_pieces phrases;                                    ///< hotwords to ids
  float clas_scale = 1;  ///< factor of what attention to hotwords gives, unless the options say otherwise

  void members(auto&& v) {
    parts::members(v);
    v("bias_encoder", bias_encoder);
    v("bias_embed.weight", bias_embed);
    v.equal("widths of the encoder and bias_embed", parts::encoder.output_size(), bias_embed.cols());
    v.equal("widths of bias_embed and bias_encoder", bias_embed.cols(), bias_encoder.input_size());
    v.equal("rows of decoder.output_layer and bias_embed", parts::decoder.output_size(), bias_embed.rows());
    v.within("<s> among the rows of bias_embed", models::no_hotword, 0, bias_embed.rows() - 1);
  }

  /// One clip of mono samples in [-1, 1], all at once. A clip without a token gives an empty segment. Throws
  /// steno::error for a hotword without a word.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// The same from features [T, 560] (after CMVN).
  STENO_COLD void decode_features(view<const float, dynamic, parts::features> x, const options& o, segment& s,
                                  context& c) const {
    parts::find_tokens(x, c, [&](const auto& found) {
      const auto ids = models::split_hotwords(phrases, o.hotwords);
      core::workspace::frame scratch(c.scratch);
      auto hotwords = scratch.matrix(static_cast<extent>(ids.size()), found.embeds.cols());
      nn::encode_hotwords(bias_embed, bias_encoder, ids, hotwords, c);
      c.trace("hotword_embeds", hotwords);
      auto scores = scratch.template matrix<dynamic, Vocab>(found.embeds.rows(), parts::decoder.output_size());
      {
        auto scope = c.enter("decoder");
        const nn::contextual_decoder_env env{.encoded = core::read(found.encoded),
                                             .hotwords = core::read(hotwords),
                                             .clas_scale = o.clas_scale.value_or(clas_scale)};
        parts::decoder(found.embeds, scores, nullptr, env, c);
      }
      c.trace("logits", scores);
      parts::normalise(scores, c);
      c.trace("log_probs", scores);
      parts::set_text(parts::best_tokens(core::read(scores), s), s);
    });
  }
};

template <paraformer_sizes S, class Frontend>
segment contextual_paraformer<S, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  return parts::with_features(pcm, c, [&](const auto& x, segment& s) { decode_features(x, o, s, c); });
}

/// The published model (Mandarin, 8404 tokens): every extent static.
using contextual_paraformer_large = contextual_paraformer<paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using contextual_paraformer_any = contextual_paraformer<paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
