// steno/models/bicif_parts.hpp - what BiCifParaformer and SeacoParaformer have in common: the decoder's hidden rows,
// and text with the times of the second predictor.
//
// Words are joined with a space, as the original joins them where it gives times (`BiCifParaformer.inference`, which
// `SeacoParaformer` inherits). Tested through models/bicif_paraformer.hpp and models/seaco_paraformer.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/paraformer_parts.hpp>
#include <steno/networks/bicif_predictor.hpp>

#include <cstddef>
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

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
