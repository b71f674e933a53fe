// steno/models/paraformer.hpp - Paraformer: speech to text without autoregression, with the time of every character.
//
//   features = cmvn(lfr(fbank(pcm)))                      [T, 560]
//   encoded  = encoder(features)                          [T, D]
//   alphas   = predictor(encoded); tokens = integrate and fire over encoded and a tail
//   scores   = log_softmax(decoder(tokens, encoded))      [n, vocabulary];  ids = argmax
//
// Follows `Paraformer.inference` (funasr/models/paraformer/model.py) and what it calls; see docs/models/paraformer.md.
// Tested in tests/parity/paraformer_test.cpp.
#pragma once
#include <steno/core/result.hpp>
#include <steno/kernels/softmax.hpp>
#include <steno/models/paraformer_parts.hpp>
#include <steno/search/cif_times.hpp>
#include <steno/search/scores.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// There is nothing to wish for.
struct paraformer_options {};

/// Paraformer for whole clips. A loaded model is const and may be shared by threads, each with its own context.
template <paraformer_sizes S, class Frontend = frontends::wav_frontend<>>
class paraformer : public paraformer_parts<S, Frontend> {
  using parts = paraformer_parts<S, Frontend>;
  static constexpr extent Feat = parts::features, D = parts::width, Vocab = parts::labels;

 public:
  static constexpr std::string_view architecture = "paraformer";  ///< `general.architecture` of its files
  /// The header that brings it into the pipelines.
  static constexpr std::string_view family_header = "steno/pipelines/paraformer.hpp";
  using options = paraformer_options;  ///< of one call of recognise()

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
  STENO_COLD segment recognise(std::span<const float> pcm, const options&, context& c) const {
    segment s;
    s.end = static_cast<double>(pcm.size()) / sample_rate;
    const extent frames = frontend.rows(static_cast<extent>(pcm.size()));
    if (frames == 0) return s;
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, Feat>(frames, encoder.input_size());
    frontend(pcm, x, c);
    decode_features(core::as<const float, dynamic, Feat>(x), s, c);
    return s;
  }

  /// The same from features [T, 560] (after CMVN).
  STENO_COLD void decode_features(view<const float, dynamic, Feat> x, segment& s, context& c) const {
    const extent frames = x.rows(), d = encoder.output_size();
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, D>(frames + 1, d);  // and the tail's row of zeros
    auto encoded = core::as<float, dynamic, D>(rows.topRows(frames));
    {
      auto scope = c.enter("encoder");
      encoder(x, encoded, nullptr, nn::no_env{}, c);
    }
    rows.row(frames).setZero();
    const auto count = static_cast<std::size_t>(frames) + 1;
    float* alphas = scratch.template take<float>(count);
    float* fires = scratch.template take<float>(count);
    {
      auto scope = c.enter("predictor");
      predictor(core::as<const float, dynamic, D>(encoded), alphas, c);
    }
    alphas[frames] = predictor.tail_threshold;
    nn::cif_state state;
    auto tokens = scratch.template matrix<dynamic, D>(frames + 1, d);
    const extent n = nn::cif_integrate(core::read(rows), alphas, state, core::write(tokens), fires);
    c.trace("alphas_with_tail", core::make_view(static_cast<const float*>(alphas), 1, frames + 1));
    c.trace("cif_peaks", core::make_view(static_cast<const float*>(fires), 1, frames + 1));
    if (n == 0) return;
    const auto embeds = core::as<float, dynamic, D>(tokens.topRows(n));
    c.trace("acoustic_embeds", embeds);
    auto scores = scratch.template matrix<dynamic, Vocab>(n, decoder.output_size());
    {
      auto scope = c.enter("decoder");
      const nn::sanm_decoder_env env{.encoded = nn::prepare_encoded(decoder, core::read(encoded), scratch, c.run)};
      decoder(core::as<const float, dynamic, D>(embeds), scores, nullptr, env, c);
    }
    c.trace("logits", scores);
    kernels::log_softmax(core::read(scores), core::write(scores), c.run);
    search::require_numbers(core::read(scores));
    c.trace("log_probs", scores);
    write_text(core::read(scores), {alphas, count}, {fires, count}, s);
  }

  /// The golden cases' name of a traced stage: "decoder.decoders.0.norm1" is dec0_norm1 there.
  STENO_COLD static std::string trace_name(std::string_view path) {
    constexpr models::stage_name blocks[] = {{"encoder.encoders0.#.", "enc#_"}, {"encoder.encoders.#.", "encoders_#_"}};
    if (const std::string part = models::recorded_stage(path, blocks, models::sanm_parts); !part.empty()) return part;
    constexpr models::stage_name layers[] = {{"decoder.decoders.#.", "dec#_"}};
    if (const std::string part = models::recorded_stage(path, layers, models::sanm_decoder_parts); !part.empty())
      return part;
    constexpr models::stage_name others[] = {
        {"fbank", "fbank"},
        {"lfr", "lfr"},
        {"cmvn", "cmvn"},
        {"encoder.posenc", "posenc"},
        {"encoder.after_norm", "encoder_out"},
        {"predictor.cif_conv1d", "cif_conv1d"},
        {"predictor.cif_output", "cif_output"},
        {"alphas_with_tail", "alphas_with_tail"},
        {"cif_peaks", "cif_peaks"},
        {"acoustic_embeds", "acoustic_embeds"},
        {"decoder.decoders.#.out", "decoders_#_out"},
        {"decoder.decoders3", "decoders3_out"},
        {"decoder.decoders3.0.feed_forward.norm", "norm"},
        {"decoder.after_norm", "decoder_after_norm"},
        {"logits", "logits"},
        {"log_probs", "log_probs"},
    };
    return models::recorded_stage(path, others);
  }

 private:
  STENO_COLD void write_text(const view<const float>& scores, std::span<const float> alphas,
                             std::span<const float> fires, segment& s) const {
    std::vector<tokenizers::timed_token> tokens;
    for (extent t = 0; t < scores.rows(); ++t) {
      const float* row = scores.data() + t * scores.outerStride();
      const int id = search::best_label(row, scores.cols());
      if (parts::silent(id)) continue;
      tokens.push_back({.id = id, .log_probability = row[id]});
      s.token_ids.push_back(id);
    }
    const std::vector<search::time_span> times =
        search::cif_times(alphas, fires, tokens.size(), parts::frame_seconds());
    for (std::size_t i = 0; i < std::min(times.size(), tokens.size()); ++i) {
      tokens[i].start = std::max(milliseconds(times[i].start), 0.0);
      tokens[i].end = milliseconds(times[i].end);
    }
    auto text = tokenizer.decode(tokens);
    s.text = std::move(text.text);
    s.words = std::move(text.words);
  }
  // The original gives whole milliseconds, cut off: int(1000 * seconds) in doubles, so 930 may become 929.
  static double milliseconds(double seconds) noexcept {
    return static_cast<double>(static_cast<long>(seconds * 1000)) / 1000;
  }
};

/// paraformer-large (Mandarin, 8404 tokens): every extent static.
using paraformer_large = paraformer<paraformer_sizes{
    .encoder = {.features = 560, .width = 512, .heads = 4, .units = 2048, .taps = 11, .blocks = 49},
    .decoder = {.width = 512, .heads = 4, .units = 2048, .taps = 11, .layers = 16, .vocabulary = 8404}}>;
/// Any sizes: extents are adopted from the file.
using paraformer_any = paraformer<paraformer_sizes{}, frontends::wav_frontend_any>;

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno
