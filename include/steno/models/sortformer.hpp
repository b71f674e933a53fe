// steno/models/sortformer.hpp - Sortformer: who speaks when, for up to four speakers.
//
//   rows = encoder_proj(encoder(features))                        [T / 8, D]
//   p    = sigmoid(single_hidden_to_spks(relu(first_hidden_to_hidden(relu(transformer_encoder(rows))))))
//
// p [T / 8, speakers] are probabilities that each of them speaks, in the order in which they first speak. NeMo
// `SortformerEncLabelModel` (sortformer_diar_models.py): `forward` of a whole recording, and the step of
// `forward_streaming`, which encodes what a speaker_cache kept before each chunk. A whole recording is scaled by 1 /
// (its largest sample + 0.001), the largest, not the largest magnitude; streams are not. What is kept and what differs:
// docs/models/sortformer.md. Tested in tests/parity/sortformer_test.cpp and tests/models/sortformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/elementwise.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/nemo_encoders.hpp>
#include <steno/models/nemo_parts.hpp>
#include <steno/networks/fastconformer_encoder.hpp>
#include <steno/networks/nemo_transformer.hpp>
#include <steno/networks/speaker_cache.hpp>
#include <steno/search/scores.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Throws steno::error for lengths and rates that make no sense together (`_check_streaming_parameters`). Without
/// `where` they are a packaged model's, and named as there.
STENO_COLD inline void check_speaker_cache(const nn::speaker_cache_options& o, extent speakers,
                                           const std::string& where) {
  constexpr extent limit = 1 << 16;  // rows: more than an hour
  nn::speaker_cache_options::each(o, [&]<class T>(const std::string& name, const T& value) {
    if constexpr (std::is_same_v<T, extent>) {
      extent least = name == "chunk_len" || name == "spkcache_update_period" ? 1 : 0;
      if (name == "spkcache_len") least = (1 + o.spkcache_sil_frames_per_spk) * speakers;
      if (value < least || value > limit)
        fail({.where = where,
              .what = std::string(where.empty() ? "sortformer.streaming." : "").append(name),
              .expected = std::to_string(least) + " to " + std::to_string(limit) + " rows",
              .found = std::to_string(value)});
    }
  });
}

/// What streams of a model remember, from sortformer.streaming.*. Throws steno::error.
STENO_COLD inline nn::speaker_cache_options read_speaker_cache(const gguf_file& file) {
  nn::speaker_cache_options o;
  nn::speaker_cache_options::each(o, [&]<class T>(const char* name, T& value) {
    const std::string key = std::string("sortformer.streaming.") + name;
    if constexpr (std::is_same_v<T, bool>)
      value = models::read_flag(file, key, value);
    else if constexpr (std::is_same_v<T, extent>)
      value = models::read_whole(file, key, 0, nemo_max_window, value);
    else
      value = static_cast<T>(models::read_number(file, key, 0, 1000, static_cast<double>(value)));
  });
  return o;
}

/// Sizes by name; what is left out is adopted from the file.
struct sortformer_sizes {
  nn::fastconformer_sizes encoder = {};                 ///< of the encoder
  nn::nemo_transformer_sizes transformer_encoder = {};  ///< everything behind the encoder is as wide as its layers
  extent speakers = dynamic;                            ///< columns of the probabilities
};

/// Sortformer: probabilities that each of a few speakers speaks. A loaded model is const and may be shared by threads,
/// each with its own context.
template <sortformer_sizes S>
class sortformer {
  using Encoder = nn::fastconformer<S.encoder>;
  using Frontend = nemo_frontend<S.encoder.mels>;
  static constexpr extent D = S.transformer_encoder.width, Speakers = S.speakers;

 public:
  static constexpr sortformer_sizes sizes = S;                    ///< `dynamic` where the file decides
  static constexpr std::string_view architecture = "sortformer";  ///< `general.architecture` of its files
  static constexpr int sample_rate = 16000;                       ///< Hz of the mono samples that it takes
  using encoder_type = Encoder;                                   ///< features to rows

  sortformer() = default;
  /// Front end and settings from the file's metadata; the weights are bound by load(). Throws steno::error.
  STENO_COLD explicit sortformer(const gguf_file& file)
      : frontend(read_nemo_frontend<Frontend::output>(file, architecture)),
        streaming(read_speaker_cache(file)),
        streams(models::read_flag(file, "sortformer.streaming_mode", false)) {
    window = read_nemo_window(file, architecture);
  }

  Frontend frontend;                                                ///< samples to features
  Encoder encoder;                                                  ///< features to rows, one for each frame_seconds()
  nn::attention_window window;                                      ///< of whole clips
  nn::linear<Encoder::output, D> encoder_proj;                      ///< its rows to the width of the transformer
  nn::nemo_transformer<S.transformer_encoder> transformer_encoder;  ///< rows to rows of the same width
  nn::linear<D, D> first_hidden_to_hidden;                          ///< first layer of the head
  nn::linear<D, Speakers> single_hidden_to_spks;  ///< second layer of the head: a logit for each speaker
  nn::speaker_cache_options streaming;            ///< of streams, by default
  bool streams = false;                           ///< made for streams, and used as one by default
  models::model_storage storage;                  ///< what the weights point into

  void members(auto&& v) {
    v("encoder", encoder);
    v("sortformer_modules.encoder_proj", encoder_proj);
    v("transformer_encoder", transformer_encoder);
    v("sortformer_modules.first_hidden_to_hidden", first_hidden_to_hidden);
    v("sortformer_modules.single_hidden_to_spks", single_hidden_to_spks);
    v.equal("widths of features and encoder", frontend.width(), encoder.input_size());
    v.equal("widths of encoder and encoder_proj", encoder.output_size(), encoder_proj.input_size());
    const extent d = encoder_proj.output_size();
    for (const extent n : {transformer_encoder.layers.empty() ? d : transformer_encoder.output_size(),
                           first_hidden_to_hidden.input_size(), first_hidden_to_hidden.output_size(),
                           single_hidden_to_spks.input_size()})
      v.equal("widths behind the encoder", n, d);
  }

  /// Columns of the probabilities: speakers that it can distinguish.
  extent speakers() const noexcept { return single_hidden_to_spks.output_size(); }
  /// Rows of `count` samples.
  extent frames(extent count) const noexcept { return encoder.rows(frontend.rows(count)); }
  /// Seconds from one row to the next.
  double frame_seconds() const noexcept {
    return static_cast<double>(frontend.head.options().shift * encoder.template get<"pre_encode">().rate) / sample_rate;
  }
  /// Why it cannot take a stream; null when it can.
  const char* obstacle() const noexcept {
    return frontend.last.whole_clip()
               ? "its features are normalised over the whole recording (sortformer.frontend.per_feature)"
               : nullptr;
  }

  /// A whole recording: 16 kHz mono samples in [-1, 1] -> probabilities [frames(number of samples), speakers].
  void diarize(std::span<const float> pcm, view<float, dynamic, Speakers> y, context& c) const {
    if (y.rows() == 0) return;
    core::workspace::frame scratch(c.scratch);
    auto rows = scratch.template matrix<dynamic, Encoder::output>(y.rows(), encoder.output_size());
    {
      core::workspace::frame inner(c.scratch);
      const auto n = static_cast<extent>(pcm.size());
      auto x = inner.template matrix<dynamic, Encoder::input>(frontend.rows(n), frontend.width());
      float* const scaled = inner.template take<float>(pcm.size());
      const float factor = 1.0f / (*std::max_element(pcm.begin(), pcm.end()) + 1e-3f);
      std::transform(pcm.begin(), pcm.end(), scaled, [factor](float v) { return factor * v; });
      frontend(std::span<const float>(scaled, pcm.size()), x, c);
      if (c.tracing()) show(core::read(x), c);
      encoder.template get<"pre_encode">()(x, rows, nullptr, nn::no_env{}, c);
    }
    infer(rows, y, c);
  }

  /// Rows behind the subsampling, changed in place -> probabilities.
  void infer(view<float, dynamic, Encoder::output> rows, view<float, dynamic, Speakers> y, context& c) const {
    {
      auto scope = c.enter("encoder");
      encoder.template get<"encoder_out">()(core::as<const float, dynamic, Encoder::output>(rows), rows, nullptr,
                                            nn::fastconformer_env{.window = window}, c);
      c.trace("encoder_out", rows);
    }
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, D>(rows.rows(), encoder_proj.output_size());
    auto hidden = scratch.template matrix<dynamic, D>(rows.rows(), first_hidden_to_hidden.output_size());
    encoder_proj.multiply(core::as<const float, dynamic, Encoder::output>(rows), x, c);
    c.trace("encoder_proj", x);
    {
      auto scope = c.enter("transformer");
      transformer_encoder(core::as<const float, dynamic, D>(x), x, nullptr, nn::no_env{}, c);
      c.trace("out", x);
    }
    kernels::apply_relu(core::read(x), core::write(x));
    first_hidden_to_hidden.multiply(core::as<const float, dynamic, D>(x), hidden, c, kernels::activation::relu);
    single_hidden_to_spks.multiply(core::as<const float, dynamic, D>(hidden), y, c);
    kernels::apply_sigmoid(core::read(y), core::write(y));
    search::require_numbers(core::read(y), c.run);
    c.trace("speaker_probs", y);
  }

  /// A step of a stream: `features` [frames, Mels], whose first `left` and last `right` rows of 8 are neighbours'. ->
  /// probabilities of the new rows, y [encoder.rows(frames) - left - right, speakers].
  void step(const view<const float>& features, extent left, extent right, nn::speaker_cache& state,
            view<float, dynamic, Speakers> y, context& c) const {
    const extent before = state.rows(), n = encoder.rows(features.rows());
    core::workspace::frame scratch(c.scratch);
    auto chunk = scratch.matrix(n, encoder.output_size());
    auto rows = scratch.template matrix<dynamic, Encoder::output>(before + n, encoder.output_size());
    auto activities = scratch.template matrix<dynamic, Speakers>(before + n, speakers());
    encoder.template get<"pre_encode">()(core::as<const float, dynamic, Encoder::input>(features),
                                         core::as<float, dynamic, Encoder::output>(chunk), nullptr, nn::no_env{}, c);
    c.trace("pre_encode", chunk);
    rows.topRows(state.cache_rows()) = state.cache();
    rows.middleRows(state.cache_rows(), state.fifo_rows()) = state.fifo();
    rows.bottomRows(n) = chunk;
    infer(rows, activities, c);
    c.trace("model_probs", activities);
    y = activities.middleRows(before + left, n - left - right);
    state.update(core::read(chunk), core::read(activities), left, right);
    if (!c.tracing()) return;
    const auto show_state = [&](const char* name, const view<const float>& x) {
      if (x.rows() > 0) c.trace(name, x);
    };
    show_state("spkcache", state.cache());
    show_state("spkcache_preds", state.cache_activities());
    show_state("fifo", state.fifo());
    show_state("fifo_preds", state.fifo_activities());
    show_state("mean_sil_emb", state.mean_silence());
  }

 private:
  // As the original has it: [mels, frames].
  void show(const view<const float>& x, context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto turned = scratch.matrix(x.cols(), x.rows());
    turned = x.transpose();
    c.trace("logmel", turned);
  }
};

/// nvidia/diar_sortformer_4spk-v1, for whole recordings.
using sortformer_4spk_v1 =
    sortformer<sortformer_sizes{.encoder = fastconformer_large({.layers = 18}),
                                .transformer_encoder = {.width = 192, .heads = 8, .units = 768, .layers = 18},
                                .speakers = 4}>;
/// nvidia/diar_streaming_sortformer_4spk-v2 and -v2.1, for streams.
using sortformer_4spk_v2 =
    sortformer<sortformer_sizes{.encoder = fastconformer_large({.mels = 128}),
                                .transformer_encoder = {.width = 192, .heads = 8, .units = 768, .layers = 18},
                                .speakers = 4}>;

/// Any sizes: extents are adopted from the file.
using sortformer_any = sortformer<sortformer_sizes{}>;

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
