// tools/convert/nemo/fastconformer_tensors.cpp - the tensors of front end and encoder; see fastconformer.hpp.
#include <algorithm>
#include <cmath>

#include <steno/error.hpp>
#include <steno/frontends/nemo_mel.hpp>

#include "nemo/fastconformer.hpp"

namespace steno::inline STENO_ABI::nemo {

using torch::layout;

void tensor_list::linear(const std::string& name, extent out, extent in, bool bias) {
  add({name + ".weight", {out, in}, {out, in}, true});
  if (bias) vector(name + ".bias", out);
}

void tensor_list::norm(const std::string& name, extent n) {
  vector(name + ".weight", n);
  vector(name + ".bias", n);
}

void tensor_list::encoder(const fastconformer_settings& s) {
  const auto c = static_cast<extent>(s.channels), d = static_cast<extent>(s.width);
  const std::string pre = "encoder.pre_encode.";
  add({pre + "conv.0.weight", {c, 1, 3, 3}, {c, 9}});
  vector(pre + "conv.0.bias", c);
  for (const int i : {2, 5}) {
    const std::string depth = pre + "conv." + std::to_string(i), mix = pre + "conv." + std::to_string(i + 1);
    add({depth + ".weight", {c, 1, 3, 3}, {9, c}, false, layout::taps});
    vector(depth + ".bias", c);
    add({mix + ".weight", {c, c, 1, 1}, {c, c}, true});
    vector(mix + ".bias", c);
  }
  auto bands = static_cast<extent>(s.mels);
  for (int i = 0; i < 3; ++i) bands = s.causal_downsampling ? bands / 2 + 1 : (bands - 1) / 2 + 1;
  add({pre + "out.weight", {d, bands * c}, {d, bands * c}, true, layout::bands_first, c});
  vector(pre + "out.bias", d);
  for (std::uint32_t i = 0; i < s.blocks; ++i) block("encoder.layers." + std::to_string(i), s);
}

void tensor_list::block(const std::string& at, const fastconformer_settings& s) {
  const auto units = static_cast<extent>(s.units), taps = static_cast<extent>(s.taps);
  const auto heads = static_cast<extent>(s.heads), d = static_cast<extent>(s.width);
  for (const char* n : {".norm_feed_forward1", ".norm_self_att", ".norm_conv", ".norm_feed_forward2", ".norm_out"})
    norm(at + n, d);
  for (const char* n : {".feed_forward1", ".feed_forward2"}) {
    linear(at + n + ".linear1", units, d, s.bias);
    linear(at + n + ".linear2", d, units, s.bias);
  }
  const std::string attention = at + ".self_attn";
  for (const char* n : {".linear_q", ".linear_k", ".linear_v", ".linear_out"}) linear(attention + n, d, d, s.bias);
  linear(attention + ".linear_pos", d, d, false);
  for (const char* n : {".pos_bias_u", ".pos_bias_v"}) add({attention + n, {heads, d / heads}, {d}});
  const std::string conv = at + ".conv";
  add({conv + ".pointwise_conv1.weight", {2 * d, d, 1}, {2 * d, d}, true});
  if (s.bias) vector(conv + ".pointwise_conv1.bias", 2 * d);
  add({conv + ".depthwise_conv.weight", {d, 1, taps}, {taps, d}, false, layout::taps});
  const std::vector<extent> there = s.bias ? std::vector<extent>{d} : std::vector<extent>{};
  add({conv + ".depthwise_conv.bias", there, {d}, false, layout::taps_bias});
  if (s.layer_norm)  // the original calls it batch_norm all the same
    for (const char* n : {".weight", ".bias"})
      add({conv + ".batch_norm" + n, {d}, {d}, false, layout::same, 0, conv + ".norm" + n});
  add({conv + ".pointwise_conv2.weight", {d, d, 1}, {d, d}, true});
  if (s.bias) vector(conv + ".pointwise_conv2.bias", d);
}

void check_mel_filters(std::span<const float> stored, const fastconformer_settings& s, const std::string& where) {
  const nemo_mel<> ours({.window = static_cast<extent>(s.window),
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

namespace {

// The checkpoint's own filters must be the ones that steno computes.
void check_front_end(torch::inventory& stock, torch::checkpoint& weights, const fastconformer_settings& s) {
  const auto bins = static_cast<extent>(s.fft_size / 2 + 1), mels = static_cast<extent>(s.mels);
  const std::string at = "preprocessor.featurizer.";
  if (stock.has(at + "window")) (void)stock.take(at + "window", {static_cast<extent>(s.window)});
  if (!stock.has(at + "fb")) return;
  const auto* filters = stock.take(at + "fb", {1, mels, bins});
  if (filters == nullptr) return;
  std::vector<float> stored(static_cast<std::size_t>(mels * bins));
  weights.read(*filters, stored);
  check_mel_filters(stored, s, weights.where());
}

}  // namespace

void add_tensors(imported_model& model, nemo_archive& archive, const fastconformer_settings& s,
                 std::vector<torch::laid_out_tensor> list, std::vector<std::string_view> ignored) {
  torch::checkpoint& weights = archive.weights();
  torch::inventory stock(weights);
  check_front_end(stock, weights, s);
  torch::add_laid_out(model, stock, weights, std::move(list), s.layer_norm ? "" : "batch_norm.");
  // Counters, and position tables that some versions stored.
  ignored.insert(ignored.end(), {".num_batches_tracked", ".pos_enc.pe"});
  stock.finish("model_config.yaml", ignored);
}

void set_fastconformer_keys(gguf_writer& file, const std::string& architecture, const fastconformer_settings& s) {
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

bool is_nemo_product(const std::string& name, std::size_t rank) {
  if (rank != 2) return false;
  if (name.find(".lstm.weight_") != std::string::npos) return true;
  return name.ends_with(".weight") && name.find("depthwise_conv") == std::string::npos &&
         !name.ends_with(".embed.weight") && name != "encoder.pre_encode.conv.0.weight" &&
         name != "encoder.pre_encode.conv.2.weight" && name != "encoder.pre_encode.conv.5.weight";
}

}  // namespace steno::inline STENO_ABI::nemo
