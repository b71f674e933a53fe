// steno/models/qwen3.hpp - what Qwen3-ASR and its forced aligner share: features, audio tower, language model,
// tokenizer.
//
// `Qwen3ASRThinkerForConditionalGeneration` (modeling_qwen3_asr.py). Tested through the models.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/log_mel.hpp>
#include <steno/models/load.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/qwen_vocabulary.hpp>
#include <steno/networks/qwen3_audio_encoder.hpp>
#include <steno/networks/qwen3_decoder.hpp>
#include <steno/tokenizers/qwen_tokens.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace qwen3 {

/// Sizes of the audio tower by name; what is left out is adopted from the file.
struct qwen3_audio_sizes {
  extent mels = dynamic;          ///< bands of the features
  extent channels = dynamic;      ///< of the convolutions
  extent width = dynamic;         ///< of the layers
  extent heads = dynamic;         ///< of self-attention
  extent units = dynamic;         ///< inner width of the feed-forward parts
  extent layers = dynamic;        ///< of self-attention and feed-forward parts
  extent half_chunk = dynamic;    ///< frames in half a chunk (`n_window`)
  extent block_frames = dynamic;  ///< frames that see each other (`n_window_infer`)
};
/// Sizes of a whole model; what is left out is adopted from the file.
struct qwen3_sizes {
  qwen3_audio_sizes audio_tower = {};  ///< of the audio tower
  nn::qwen3_text_sizes text = {};      ///< of the language model
};
/// The audio tower of these sizes.
template <qwen3_sizes S>
using qwen3_audio_encoder_of =
    nn::qwen3_audio_encoder<S.audio_tower.mels, S.audio_tower.width, S.audio_tower.heads, S.audio_tower.units,
                            S.audio_tower.channels, S.text.width, S.audio_tower.layers, S.audio_tower.half_chunk,
                            S.audio_tower.block_frames>;

/// What Qwen3-ASR and its forced aligner share: front end, audio tower, language model, tokenizer; a base class. A
/// loaded model is const and may be shared by threads, each with its own context.
template <qwen3_sizes S>
class qwen3_thinker {
  using Encoder = qwen3_audio_encoder_of<S>;
  using Decoder = nn::qwen3_decoder<S.text>;

 public:
  static constexpr qwen3_sizes sizes = S;             ///< `dynamic` where the file decides
  static constexpr int sample_rate = 16000;           ///< Hz of the mono samples that it takes
  static constexpr extent mels = Encoder::input;      ///< columns of the features
  static constexpr extent width = Decoder::input;     ///< columns of the language model's rows
  static constexpr extent outputs = Decoder::output;  ///< columns of its logits

  qwen3_thinker() = default;
  /// Front end and tokenizer from the file's metadata; the weights are bound by load(). `family` begins the names of
  /// its keys. Throws steno::error.
  STENO_COLD qwen3_thinker(const gguf_file& file, std::string_view family)
      : frontend(
            models::read_whole(file, std::string(family).append(".thinker.audio_tower.num_mel_bins"), 1, 1024, 128)),
        tokenizer(read_qwen_tokens(file)) {}

  frontends::log_mel<mels> frontend;  ///< samples to features
  Encoder audio_tower;                ///< features to rows of the language model's width
  Decoder text;                       ///< the language model
  tokenizers::qwen_tokens tokenizer;  ///< text to ids and back
  models::model_storage storage;      ///< what the weights point into

  void members(auto&& v) {
    v("thinker.audio_tower", audio_tower);
    v("thinker", text);
    v.equal("widths of features and audio tower", frontend.width(), audio_tower.input_size());
    v.equal("widths of audio tower and language model", audio_tower.output_size(), text.width());
    v.within("number of tokenizer.ggml.tokens, and rows of embed_tokens", tokenizer.size(), 0, text.vocabulary());
  }

  /// Rows that the audio tower makes of so many samples.
  extent audio_rows(extent count) const noexcept { return audio_tower.rows(frontends::log_mel<mels>::frames(count)); }

  /// Mono samples at 16 kHz in [-1, 1] to rows y of the language model: those of frame `first` (the begin of a block of
  /// the audio tower) and all after it. `top` is what frontend.peak() says of the samples. Features are made piece by
  /// piece, so memory does not grow with the recording.
  void encode(std::span<const float> pcm, extent first, float top, view<float, dynamic, width> y, context& c) const {
    const auto total = static_cast<extent>(pcm.size());
    const extent frames = frontends::log_mel<mels>::frames(total);
    const extent step = c.tracing() ? std::max<extent>(frames, 1) : 2 * audio_tower.block_frames();
    core::workspace::frame scratch(c.scratch);
    auto features = scratch.template matrix<dynamic, mels>(std::min(step, frames - first), frontend.width());
    extent done = 0;
    for (extent t = first; t < frames; t += step) {
      const extent n = std::min(step, frames - t), rows = audio_tower.rows(n);
      auto now = core::make_view<dynamic, mels>(features.data(), n, features.cols());
      frontend(pcm, total, t, top, now, c);
      if (c.tracing()) {
        core::workspace::frame turning(c.scratch);
        auto turned = turning.matrix(now.cols(), n);
        turned = now.transpose();
        c.trace("logmel", turned);
      }
      auto scope = c.enter("audio_tower");
      audio_tower(core::as<const float, dynamic, mels>(now), y.middleRows(done, rows), nullptr,
                  nn::qwen3_audio_env{.alone = t == 0 && n == frames}, c);
      done += rows;
    }
  }
  /// All rows of a clip: y [audio_rows(pcm.size()), width].
  void encode(std::span<const float> pcm, view<float, dynamic, width> y, context& c) const {
    encode(pcm, 0, frontend.peak(pcm, static_cast<extent>(pcm.size()), c), y, c);
  }
};

}  // namespace qwen3
}  // namespace STENO_ABI
}  // namespace steno
