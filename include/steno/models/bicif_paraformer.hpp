// steno/models/bicif_paraformer.hpp - BiCifParaformer: Paraformer whose times come from a predictor of their own.
//
//   as models/paraformer.hpp, but for the predictor (networks/bicif_predictor.hpp): tokens fire in float, and times are
//   those of the second one's peaks, three to a frame
//
// Follows `BiCifParaformer.inference` (funasr/models/bicif_paraformer/model.py): words are joined with a space, as the
// original joins them where it gives times. See docs/models/paraformer.md. Tested in
// tests/parity/bicif_paraformer_test.cpp.
#pragma once
#include <steno/models/paraformer_parts.hpp>
#include <steno/networks/bicif_predictor.hpp>

#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// What BiCifParaformer and SeacoParaformer have in common; a base class.
template <paraformer_sizes S, class Frontend>
class bicif_parts : public paraformer_parts<S, Frontend, nn::bicif_predictor<S.encoder.width>> {
  using base = paraformer_parts<S, Frontend, nn::bicif_predictor<S.encoder.width>>;

 public:
  bicif_parts() = default;
  /// Front end, tokens and settings from the file's metadata; the weights are bound by load().
  STENO_COLD bicif_parts(const gguf_file& file, std::string_view architecture) : base(file, architecture) {
    const std::string at = std::string(architecture) + ".predictor.";
    base::predictor.smooth_factor2 = static_cast<float>(models::read_number(file, at + "smooth_factor2", 0, 16, 0.25));
    base::predictor.noise_threshold2 =
        static_cast<float>(models::read_number(file, at + "noise_threshold2", 0, 1, 0.01));
  }

 protected:
  /// Scores of the decoder, before the softmax, and its hidden rows.
  void decode_tokens(const typename base::found_tokens& found, view<float, dynamic, base::width> hidden,
                     view<float, dynamic, base::labels> scores, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto scope = c.enter("decoder");
    const nn::sanm_decoder_env env{.encoded =
                                       nn::prepare_encoded(base::decoder, core::read(found.encoded), scratch, c.run)};
    base::decoder.body()(found.embeds, hidden, nullptr, env, c);
    base::decoder.template get<"output_layer">().multiply(core::as<const float, dynamic, base::width>(hidden), scores,
                                                          c);
  }

  /// Ids, text and words with the times of the second predictor, from log-probabilities.
  STENO_COLD void write_text(const typename base::found_tokens& found, const view<const float>& scores, segment& s,
                             context& c) const {
    constexpr extent times = base::predictor_type::upsampling;
    core::workspace::frame scratch(c.scratch);
    const auto count = static_cast<std::size_t>(times * found.encoded.rows());
    float* const weights = scratch.template take<float>(count);
    float* const peaks = scratch.template take<float>(count);
    {
      auto scope = c.enter("predictor");
      base::predictor.upsample(found.encoded, found.embeds.rows(), weights, peaks, c);
    }
    auto tokens = base::best_tokens(scores, s);
    base::set_times(tokens, search::cif_times({peaks, count}, {weights, count}, tokens.size(),
                                              base::frame_seconds() / static_cast<double>(times)));
    base::set_text(tokens, s);
    s.text.clear();
    for (const word& w : s.words) s.text.append(s.text.empty() ? "" : " ").append(w.text);
  }
};

/// There is nothing to wish for.
struct bicif_paraformer_options {};

/// BiCifParaformer for whole clips. A loaded model is const and may be shared by threads, each with its own context.
template <paraformer_sizes S, class Frontend = frontends::wav_frontend<>>
class bicif_paraformer : public bicif_parts<S, Frontend> {
  using parts = bicif_parts<S, Frontend>;

 public:
  static constexpr std::string_view architecture = "bicif_paraformer";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/seaco_paraformer.hpp";
  using options = bicif_paraformer_options;  ///< of one call of recognise()

  bicif_paraformer() = default;
  /// Front end, tokenizer and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit bicif_paraformer(const gguf_file& file) : parts(file, architecture) {}

  /// One clip of mono samples in [-1, 1], all at once. A clip without a token gives an empty segment.
  STENO_COLD segment recognise(std::span<const float> pcm, const options&, context& c) const {
    return parts::with_features(pcm, c, [&](const auto& x, segment& s) { decode_features(x, s, c); });
  }

  /// The same from features [T, 560] (after CMVN).
  STENO_COLD void decode_features(view<const float, dynamic, parts::features> x, segment& s, context& c) const {
    parts::find_tokens(x, c, [&](const auto& found) {
      const extent n = found.embeds.rows();
      core::workspace::frame scratch(c.scratch);
      auto hidden = scratch.template matrix<dynamic, parts::width>(n, found.embeds.cols());
      auto scores = scratch.template matrix<dynamic, parts::labels>(n, parts::decoder.output_size());
      parts::decode_tokens(found, hidden, scores, c);
      c.trace("logits", scores);
      parts::normalise(scores, c);
      c.trace("log_probs", scores);
      parts::write_text(found, core::read(scores), s, c);
    });
  }
};

/// The published model (Mandarin, 8404 tokens): every extent static.
using bicif_paraformer_large = bicif_paraformer<paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using bicif_paraformer_any = bicif_paraformer<paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
