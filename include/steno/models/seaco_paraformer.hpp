// steno/models/seaco_paraformer.hpp - SeacoParaformer (paraformer-zh): BiCifParaformer with a second decoder that knows
// hotwords.
//
//   without hotwords: as models/bicif_paraformer.hpp
//   hotwords  = bias_encoder(decoder.embed[ids])[last]; [m, D], <s> (none of them) last; of more than 50 the best 50
//   bias      = log_softmax(hotword_output_layer(seaco_decoder(tokens) + seaco_decoder(hidden rows of the decoder)))
//   scores[t] = bias[t], or the decoder's where the best of bias[t] is `no_bias`
//
// Follows `SeacoParaformer.inference`, `_seaco_decode_with_ASF` and `_merge_res`
// (funasr/models/seaco_paraformer/model.py); see docs/models/paraformer.md. Tested in
// tests/parity/seaco_paraformer_test.cpp and tests/models/seaco_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/bicif_parts.hpp>
#include <steno/models/hotword_phrases.hpp>
#include <steno/networks/hotword_encoder.hpp>
#include <steno/networks/seaco_decoder.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// What SeacoParaformer shall favour.
struct seaco_paraformer_options {
  /// Phrases, each of words with spaces between them. Nothing: the second decoder does not run. With an empty list it
  /// does, as the original does for an empty text.
  std::optional<std::vector<std::string>> hotwords = {};
};

/// Sizes by name; what is left out is adopted from the file.
struct seaco_paraformer_sizes {
  nn::sanm_sizes encoder = {};                ///< of the encoder
  nn::sanm_decoder_sizes decoder = {};        ///< as wide as the encoder
  nn::sanm_decoder_sizes seaco_decoder = {};  ///< the same; its vocabulary is that of the decoder
};

/// SeacoParaformer for whole clips. A loaded model is const and may be shared by threads, each with its own context.
template <seaco_paraformer_sizes S, class Frontend = frontends::wav_frontend<>>
class seaco_paraformer : public bicif_parts<paraformer_sizes{.encoder = S.encoder, .decoder = S.decoder}, Frontend> {
  using parts = bicif_parts<paraformer_sizes{.encoder = S.encoder, .decoder = S.decoder}, Frontend>;
  static constexpr extent D = parts::width, Vocab = parts::labels;
  static_assert(S.seaco_decoder.width == D, "both decoders have one width");

 public:
  static constexpr seaco_paraformer_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "seaco_paraformer";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/seaco_paraformer.hpp";
  static constexpr bool hotwords_encoded = true;  ///< phrases are no matter of a search
  static constexpr extent max_hotwords = 50;      ///< of more vectors than that the best are taken
  using options = seaco_paraformer_options;       ///< of one call of recognise()

  seaco_paraformer() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit seaco_paraformer(const gguf_file& file)
      : parts(file, architecture), phrases(models::read_hotword_pieces(file)) {
    no_bias = models::read_whole(file, std::string(architecture) + ".no_bias", 0, 1 << 24, 8377);
  }

  weights::weight<Vocab, D, dtype::any, weights::use::rows> embed;  ///< `decoder.embed`: a row for each token
  nn::lstm<D, 2> bias_encoder;                                      ///< rows of a phrase to its vector
  nn::sanm_decoder_body<S.seaco_decoder> seaco_decoder;             ///< reads hotwords
  nn::linear<D, Vocab> hotword_output_layer;                        ///< its rows to logits
  tokenizers::hotword_pieces phrases;                               ///< hotwords to ids
  extent no_bias = 8377;  ///< the token with which the second decoder says that there is no hotword

  void members(auto&& v) {
    parts::members(v);
    v("decoder.embed.0.weight", embed);
    v("bias_encoder", bias_encoder);
    v("seaco_decoder", seaco_decoder);
    v("hotword_output_layer", hotword_output_layer);
    const extent d = parts::encoder.output_size(), vocabulary = parts::decoder.output_size();
    for (const extent n :
         {embed.cols(), bias_encoder.input_size(), seaco_decoder.input_size(), hotword_output_layer.input_size()})
      v.equal("widths of the encoder and of what reads hotwords", d, n);
    for (const extent n : {embed.rows(), hotword_output_layer.output_size()})
      v.equal("rows of decoder.output_layer and of what knows its tokens", vocabulary, n);
    v.within("no_bias among the rows of hotword_output_layer", no_bias, 0, vocabulary - 1);
    v.within("<s> among the rows of decoder.embed", models::no_hotword, 0, vocabulary - 1);
  }

  /// One clip of mono samples in [-1, 1], all at once. A clip without a token gives an empty segment. Throws
  /// steno::error for a hotword without a word.
  STENO_COLD segment recognise(std::span<const float> pcm, const options& o, context& c) const;

  /// The same from features [T, 560] (after CMVN).
  STENO_COLD void decode_features(view<const float, dynamic, parts::features> x, const options& o, segment& s,
                                  context& c) const {
    parts::find_tokens(x, c, [&](const auto& found) {
      const extent n = found.embeds.rows();
      core::workspace::frame scratch(c.scratch);
      auto hidden = scratch.template matrix<dynamic, D>(n, found.embeds.cols());
      auto scores = scratch.template matrix<dynamic, Vocab>(n, parts::decoder.output_size());
      parts::decode_tokens(found, hidden, scores, c);
      c.trace("logits", scores);
      parts::normalise(scores, c);
      if (o.hotwords) favour(models::split_hotwords(phrases, *o.hotwords), found.embeds, hidden, scores, c);
      c.trace("log_probs", scores);
      parts::write_text(found, core::read(scores), s, c);
    });
  }

 private:
  using rows_view = view<const float, dynamic, D>;

  // Puts the rows of the second decoder in place of those where it knows a hotword.
  STENO_COLD void favour(const std::vector<std::vector<int>>& ids, rows_view embeds,
                         view<const float, dynamic, D> hidden, view<float, dynamic, Vocab> scores, context& c) const {
    const extent n = embeds.rows(), d = embeds.cols();
    core::workspace::frame scratch(c.scratch);
    auto hotwords = scratch.matrix(static_cast<extent>(ids.size()), d);
    nn::encode_hotwords(embed, bias_encoder, ids, hotwords, c);
    c.trace("selected", hotwords);
    extent count = hotwords.rows();
    if (count > max_hotwords) count = keep_best(hidden, hotwords, c);
    auto merged = scratch.template matrix<dynamic, D>(n, d), part = scratch.template matrix<dynamic, D>(n, d);
    {
      core::workspace::frame prepared(c.scratch);
      const nn::sanm_decoder_env env{
          .encoded = nn::prepare_encoded(seaco_decoder, core::read(hotwords.topRows(count)), prepared, c.run)};
      {
        auto scope = c.enter("cif_pass");
        seaco_decoder(embeds, merged, nullptr, env, c);
      }
      c.trace("cif_attended", merged);
      {
        auto scope = c.enter("dec_pass");
        seaco_decoder(hidden, part, nullptr, env, c);
      }
      c.trace("dec_attended", part);
    }
    kernels::add(core::read(merged), core::read(part), core::write(merged));
    c.trace("merged", merged);
    auto bias = scratch.template matrix<dynamic, Vocab>(n, scores.cols());
    hotword_output_layer.multiply(core::as<const float, dynamic, D>(merged), bias, c);
    c.trace("dha_logits", bias);
    parts::normalise(bias, c);
    for (extent t = 0; t < n; ++t) {
      const float* const row = bias.data() + t * bias.outerStride();
      if (search::best_label(row, bias.cols()) != no_bias)
        std::copy_n(row, bias.cols(), scores.data() + t * scores.outerStride());
    }
  }

  // The best of the hotwords come first, and <s> behind them, which may be among them, too; returns their number.
  extent keep_best(view<const float, dynamic, D> hidden, view<float> hotwords, context& c) const {
    const extent m = hotwords.rows(), d = hotwords.cols();
    core::workspace::frame scratch(c.scratch);
    float* const scores = scratch.template take<float>(static_cast<std::size_t>(m));
    nn::hotword_scores(seaco_decoder, hidden, core::read(hotwords), scores, c);
    std::vector<extent> best = nn::best_hotwords(scores, m, std::min(max_hotwords, m - 1));
    best.push_back(m - 1);
    const auto kept = static_cast<extent>(best.size());
    auto rows = scratch.matrix(kept, d);
    for (extent i = 0; i < kept; ++i) rows.row(i) = hotwords.row(best[static_cast<std::size_t>(i)]);
    hotwords.topRows(kept) = rows;
    return kept;
  }
};

template <seaco_paraformer_sizes S, class Frontend>
segment seaco_paraformer<S, Frontend>::recognise(std::span<const float> pcm, const options& o, context& c) const {
  return parts::with_features(pcm, c, [&](const auto& x, segment& s) { decode_features(x, o, s, c); });
}

/// The published model (Mandarin, 8404 tokens): every extent static.
using seaco_paraformer_large = seaco_paraformer<seaco_paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404},
    .seaco_decoder = {.width = 512, .heads = 4, .units = 1024, .taps = 21, .layers = 6, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using seaco_paraformer_any = seaco_paraformer<seaco_paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
