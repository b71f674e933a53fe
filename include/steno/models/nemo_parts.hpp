// steno/models/nemo_parts.hpp - what models of NeMo share besides their encoder: the front end and its settings, what a
// row of the encoder sees, and the names of traced stages.
//
// Tested in tests/parity/parakeet_test.cpp and tests/parity/sortformer_test.cpp.
#pragma once
#include <steno/frontends/nemo_mel.hpp>
#include <steno/frontends/per_feature_norm.hpp>
#include <steno/layers/attention_window.hpp>
#include <steno/models/metadata.hpp>
#include <steno/models/stage_names.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Samples to log-mel features, each band normalised over the clip where the model wants it.
template <extent Mels = dynamic>
using nemo_frontend = frontends::frontend_chain<frontends::nemo_mel<Mels>, frontends::per_feature_norm<Mels>>;

/// Front end from `prefix`.frontend.*. Throws steno::error.
template <extent Mels>
STENO_COLD nemo_frontend<Mels> read_nemo_frontend(const gguf_file& file, std::string_view prefix) {
  const std::string at = std::string(prefix) + ".frontend.";
  const auto size = [&](const char* key, extent min, extent max, extent otherwise) {
    return models::read_whole(file, at + key, min, max, otherwise);
  };
  frontends::nemo_mel_options o;
  o.sample_rate = models::read_number(file, at + "sample_rate", 16000, 16000, 16000);
  o.fft_size = size("fft_size", 16, 8192, 512);
  o.window = size("window", 2, o.fft_size, 400);
  if (o.window % 2 != 0)
    fail({.where = file.where(),
          .what = "key " + steno::weights::quoted(at + "window"),
          .expected = "an even number of samples",
          .found = std::to_string(o.window)});
  o.shift = size("shift", std::max<extent>(16, o.window / 4), o.window, 160);
  o.mels = size("n_mels", core::is_static(Mels) ? Mels : 8, core::is_static(Mels) ? Mels : 1024,
                core::is_static(Mels) ? Mels : 80);
  const bool normalised = models::read_flag(file, at + "per_feature", true);
  return {frontends::nemo_mel<Mels>(o), frontends::per_feature_norm<Mels>(o.mels, normalised)};
}

/// How many rows the keys and values of a stream may hold on either side: eleven minutes of 80 ms each.
inline constexpr extent nemo_max_window = 8192;

/// What a row sees of a whole clip, from `prefix`.encoder.attention_*. Throws steno::error.
STENO_COLD inline nn::attention_window read_nemo_window(const gguf_file& file, std::string_view prefix) {
  const std::string at = std::string(prefix) + ".encoder.attention_";
  const auto size = [&](const char* key) { return models::read_whole(file, at + key, -1, nemo_max_window, -1); };
  const extent left = size("left"), right = size("right");
  if (!models::read_flag(file, at + "chunked", false)) return {.back = left, .ahead = right};
  if (right < 0) fail({.where = file.where(), .what = "key \"" + at + "right\"", .expected = "at least 0"});
  return {.chunk = right + 1, .left = left < 0 ? -1 : left / (right + 1)};
}

/// The golden cases' name of a traced stage: "encoder.layers.0.self_attn" is layer0_self_attn there. Empty for stages
/// the original has not.
STENO_COLD inline std::string nemo_trace_name(std::string_view path) {
  constexpr models::stage_name all[] = {
      {"logmel", "logmel"},
      {"pre_encode", "pre_encode"},
      {"encoder.subsampling_out", "subsampling_out"},
      {"encoder.pos_enc_x", "pos_enc_x"},
      {"encoder.pos_emb", "pos_emb"},
      {"encoder.layers.#.feed_forward1", "layer#_feed_forward1"},
      {"encoder.layers.#.self_attn", "layer#_self_attn"},
      {"encoder.layers.#.conv", "layer#_conv"},
      {"encoder.layers.#.feed_forward2", "layer#_feed_forward2"},
      {"encoder.layers.#.out", "layer#_out"},
      {"encoder.encoder_out", "encoder_out"},
      {"joint_enc_proj", "joint_enc_proj"},
      {"logits", "logits"},
      {"log_probs", "log_probs"},
      {"encoder_proj", "encoder_proj"},
      {"transformer.#.out", "transformer_layer#"},
      {"transformer.out", "transformer_out"},
      {"model_probs", "model_probs"},
      {"speaker_probs", "speaker_probs"},
      {"spkcache", "spkcache"},
      {"spkcache_preds", "spkcache_preds"},
      {"fifo", "fifo"},
      {"fifo_preds", "fifo_preds"},
      {"mean_sil_emb", "mean_sil_emb"},
  };
  return models::recorded_stage(path, all);
}

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno
