// tools/convert/nemo/fastconformer_tensors.cpp - the tensors of front end and encoder; see fastconformer.hpp.
#include <algorithm>
#include <cmath>

#include <steno/error.hpp>
#include <steno/frontends/nemo_mel.hpp>

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
  from.optional_weights = s.bias;
}

std::string nemo_name(std::string name) {
  // The original calls a layer norm so, too; and names in GGUF files have up to 63 bytes.
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {".conv.norm.", ".conv.batch_norm."}, {"transformer_encoder.", "transformer_encoder.layers."}};
  for (const auto& [from, to] : parts)
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  return name;
}

void check_mel_filters(std::span<const float> stored, const fastconformer_settings& s, const std::string& where) {
  const frontends::nemo_mel<> ours({.window = static_cast<extent>(s.window),
                                    .shift = static_cast<extent>(s.shift),
                                    .fft_size = static_cast<extent>(s.fft_size),
                                    .mels = static_cast<extent>(s.mels)});
  const std::size_t bins = s.fft_size / 2 + 1;
  std::vector<float> made(stored.size());
  for (std::size_t b = 0; b < s.mels; ++b)
    for (extent k = ours.filters().begin[b]; k < ours.filters().begin[b + 1]; ++k)
      made[b * bins + static_cast<std::size_t>(ours.filters().first[b] + k - ours.filters().begin[b])] =
          ours.filters().weights[static_cast<std::size_t>(k)];
  for (std::size_t i = 0; i < made.size(); ++i)
    if (!(std::fabs(made[i] - stored[i]) <= 1e-6f))  // weights are at most 0.03
      fail({.where = where,
            .what = "its mel filters are not those of librosa that steno computes",
            .expected = std::to_string(made[i]),
            .found = std::to_string(stored[i])});
}

checkpoint_tensors open_tensors(const std::shared_ptr<nemo_archive>& archive, const fastconformer_settings& s) {
  torch::checkpoint& weights = archive->weights();
  checkpoint_tensors from{.where = weights.where(), .all = torch::stored_tensors({archive, &weights})};
  from.named = nemo_name;
  from.ignored = {{".num_batches_tracked", "a counter of training"}, {".pos_enc.pe", "positions are computed"}};
  // The checkpoint's own filters must be the ones that steno computes.
  const std::string at = "preprocessor.featurizer.";
  if (find(from, at + "window") != nullptr) (void)take_values(from, at + "window", {static_cast<extent>(s.window)});
  if (find(from, at + "fb") != nullptr)
    check_mel_filters(
        take_values(from, at + "fb", {1, static_cast<extent>(s.mels), static_cast<extent>(s.fft_size / 2 + 1)}), s,
        from.where);
  promise_encoder(from, s);
  return from;
}

void set_fastconformer_keys(weights::gguf_writer& file, const std::string& architecture,
                            const fastconformer_settings& s) {
  const auto set = [&](const char* key, auto value) { file.set(architecture + "." + key, value); };
  const auto number = [](bool value) { return std::uint32_t{value}; };
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  set("frontend.sample_rate", std::uint32_t{16000});
  set("frontend.window", s.window);
  set("frontend.shift", s.shift);
  set("frontend.fft_size", s.fft_size);
  set("frontend.n_mels", s.mels);
  set("frontend.per_feature", number(s.per_feature));
  set("encoder.feat_in", s.mels);
  set("encoder.n_heads", s.heads);
  set("encoder.xscaling", number(s.xscaling));
  set("encoder.causal_downsampling", number(s.causal_downsampling));
  set("encoder.causal", number(s.causal));
  set("encoder.cnn_layer_norm", number(s.layer_norm));
  set("encoder.attention_chunked", number(s.chunked));
  set("encoder.attention_left", s.left);
  set("encoder.attention_right", s.right);
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
