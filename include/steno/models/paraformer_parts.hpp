// steno/models/paraformer_parts.hpp - what the offline and the online Paraformer have in common: everything but how it
// is called.
//
// The members and tensor names of FunASR's `Paraformer`, which `ParaformerStreaming` inherits. Tested through
// models/paraformer.hpp and models/paraformer_online.hpp.
#pragma once
#include <steno/frontends/wav_frontend.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/stage_names.hpp>
#include <steno/networks/cif_predictor.hpp>
#include <steno/networks/sanm_decoder.hpp>
#include <steno/networks/sanm_encoder.hpp>
#include <steno/search/ctc_greedy.hpp>
#include <steno/tokenizers/characters.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// Sizes by name; what is left out is adopted from the file.
struct paraformer_sizes {
  nn::sanm_sizes encoder = {};          ///< of the encoder
  nn::sanm_decoder_sizes decoder = {};  ///< as wide as the encoder
};

/// What both Paraformers are made of, under the names of FunASR's `Paraformer`; a base class.
template <paraformer_sizes S, class Frontend>
class paraformer_parts {
  static_assert(S.encoder.width == S.decoder.width, "encoder and decoder have one width");

 public:
  static constexpr paraformer_sizes sizes = S;            ///< `dynamic` where the file decides
  static constexpr extent features = S.encoder.features;  ///< columns of the features
  static constexpr extent width = S.encoder.width;        ///< columns of encoder rows
  static constexpr extent labels = S.decoder.vocabulary;  ///< tokens in all
  static constexpr int sample_rate = 16000;               ///< Hz of the mono samples that it takes
  using encoder_type = nn::sanm_main_encoder<S.encoder>;  ///< features to rows
  using decoder_type = nn::sanm_decoder<S.decoder>;       ///< to scores

  paraformer_parts() = default;
  /// Front end, tokens and settings from the file's metadata; the weights are bound by load().
  STENO_COLD paraformer_parts(const gguf_file& file, std::string_view architecture)
      : frontend(models::read_wav_frontend<Frontend>(file, architecture)), tokenizer(models::read_tokens(file)) {
    predictor.tail_threshold = static_cast<float>(
        models::read_number(file, std::string(architecture) + ".predictor.tail_threshold", 0, 1, 0.45));
  }

  Frontend frontend;                          ///< samples to features, a row for each frame_seconds()
  encoder_type encoder;                       ///< features to rows
  nn::cif_predictor<width> predictor;         ///< encoder rows to weights that say where tokens are
  decoder_type decoder;                       ///< tokens, reading encoder rows, to scores
  tokenizers::character_tokenizer tokenizer;  ///< ids to text
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
  /// <blank>, <s> and </s> are filtered out.
  static bool silent(int id) noexcept { return id >= 0 && id <= 2; }
};

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
