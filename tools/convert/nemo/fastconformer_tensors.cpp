// tools/convert/nemo/fastconformer_tensors.cpp - the tensors of front end and encoder; see fastconformer.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <algorithm>
#include <cmath>

#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

void promise_encoder(checkpoint_tensors& from, const fastconformer_settings& s) {
  const auto c = static_cast<extent>(s.channels), d = static_cast<extent>(s.width);
  from.sizes.push_back({"encoder.pre_encode.conv.0.weight", c, 9});
  from.sizes.push_back({"encoder.pre_encode.out.weight", d, dynamic});
  from.sizes.push_back({"encoder.layers.*.linear_out.weight", d, d});
  from.sizes.push_back({"encoder.layers.*.linear1.weight", static_cast<extent>(s.units), d});
  from.sizes.push_back({"encoder.layers.*.depthwise_conv.weight", static_cast<extent>(s.taps), d});
  from.counts.push_back({"encoder.layers", static_cast<extent>(s.blocks)});
  if (s.bias_everywhere) from.optional_weights = s.bias;
}

std::string nemo_name(std::string name) {
  // The original calls a layer norm so, too; and names in GGUF files have up to 63 bytes.
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {".conv.norm.", ".conv.batch_norm."}, {"transformer_encoder.", "transformer_encoder.layers."}};
  for (const auto& [from, to] : parts)
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  // Of Canary's decoder all but the embedding: "transf_decoder.0.layer_norm_1" and "transf_decoder.final_layer_norm".
  constexpr std::string_view decoder = "transf_decoder.";
  if (!name.starts_with(decoder) || name.substr(decoder.size()).starts_with("_")) return name;
  const bool layer = !name.substr(decoder.size()).starts_with("final");
  return name.insert(decoder.size(), layer ? "_decoder.layers." : "_decoder.");
}

void check_mel_filters(std::span<const float> stored, const fastconformer_settings& s, const std::string& where) {
  const frontends::nemo_mel_options& o = s.frontend.mel;
  const std::vector<float> made =
      frontends::mel_filters::slaney(o.mels, o.fft_size, o.sample_rate, o.band).matrix(o.fft_size / 2 + 1);
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!(std::fabs(made[i] - stored[i]) <= 1e-6f))  // weights are at most 0.03
      fail({.where = where,
            .what = "its mel filters are not those of librosa that steno computes",
            .expected = std::to_string(made[i]),
            .found = std::to_string(stored[i])});
}

checkpoint_tensors open_tensors(const std::shared_ptr<nemo_archive>& archive, fastconformer_settings& s) {
  torch::checkpoint& weights = archive->weights();
  checkpoint_tensors from{.where = weights.where(), .all = torch::stored_tensors({archive, &weights})};
  from.named = nemo_name;
  from.ignored = {{".num_batches_tracked", "a counter of training"}, {".pos_enc.pe", "positions are computed"}};
  const stored_tables tables{from.where, "preprocessor.featurizer.window", "preprocessor.featurizer.fb"};
  const auto values = [&](const std::string& name, const std::vector<extent>& shape) {
    return find(from, name) != nullptr ? take_values(from, name, shape) : std::vector<float>();
  };
  const frontends::nemo_mel_options& o = s.frontend.mel;
  const std::vector<float> window = values(tables.window, {o.window});
  take_tables(s, window, values(tables.filters, {1, o.mels, o.fft_size / 2 + 1}), tables);
  promise_encoder(from, s);
  return from;
}

void set_fastconformer_keys(weights::gguf_writer& file, const std::string& architecture,
                            const fastconformer_settings& s) {
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  set_encoder_keys(file, architecture, s);
}

void set_encoder_keys(weights::gguf_writer& file, const std::string& architecture, const fastconformer_settings& s) {
  const auto set = [&](const char* key, auto value) { file.set(architecture + "." + key, value); };
  const auto number = [](bool value) { return std::uint32_t{value}; };
  set_frontend_keys(file, architecture, s);
  set("encoder.feat_in", static_cast<std::uint32_t>(s.frontend.mel.mels));
  set("encoder.n_heads", s.heads);
  set("encoder.xscaling", number(s.xscaling));
  set("encoder.causal_downsampling", number(s.causal_downsampling));
  set("encoder.causal", number(s.causal));
  set("encoder.cnn_layer_norm", number(s.layer_norm));
  set("encoder.attention_chunked", number(s.chunked));
  set("encoder.attention_left", s.left);
  set("encoder.attention_right", s.right);
  if (!s.contexts.empty()) set("encoder.attention_contexts", s.contexts);
  if (s.windows.empty()) return;
  const auto rows = [&](const char* key, const std::vector<int>& sizes) {
    set(key, std::vector<std::int32_t>(sizes.begin(), sizes.end()));
  };
  rows("encoder.window_left", s.windows.left);
  rows("encoder.window_chunk", s.windows.chunk);
  rows("encoder.window_right", s.windows.right);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
