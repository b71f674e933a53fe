// steno/models/bicif_paraformer.hpp - BiCifParaformer: Paraformer whose times come from a predictor of their own.
//
//   as models/paraformer.hpp, but for the predictor (networks/bicif_predictor.hpp): tokens fire in float, and times are
//   those of the second one's peaks, three to a frame
//
// Follows `BiCifParaformer.inference` (funasr/models/bicif_paraformer/model.py): words are joined with a space, as the
// original joins them where it gives times. See docs/models/paraformer.md. Tested in
// tests/parity/bicif_paraformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/bicif_parts.hpp>

#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

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
  STENO_COLD segment recognise(std::span<const float> pcm, const options&, context& c) const;

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

template <paraformer_sizes S, class Frontend>
segment bicif_paraformer<S, Frontend>::recognise(std::span<const float> pcm, const options&, context& c) const {
  return parts::with_features(pcm, c, [&](const auto& x, segment& s) { decode_features(x, s, c); });
}

/// The published model (Mandarin, 8404 tokens): every extent static.
using bicif_paraformer_large = bicif_paraformer<paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using bicif_paraformer_any = bicif_paraformer<paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
