// tools/convert/nemo/published_gguf.cpp - see published_gguf.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/published_gguf.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include "gguf_import.hpp"
#include "gguf_settings.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

bool published_flag(const gguf_file& file, const std::string& key, bool otherwise) {
  const weights::gguf_value* v = file.value(key);
  if (v == nullptr) return otherwise;
  if (const auto b = v->get<bool>()) return *b;
  return v->number().value_or(otherwise ? 1 : 0) != 0;
}
void require_published(const gguf_file& file, const std::string& key, const std::string& found,
                       const std::string& expected) {
  if (found != expected)
    fail({.where = file.where(), .what = "key " + steno::weights::quoted(key), .expected = expected, .found = found});
}

namespace {

std::int32_t context(const gguf_file& file, const char* key) {
  const double n = file.number(key).value_or(-1);
  return n >= 0 && n <= 1 << 20 ? static_cast<std::int32_t>(n) : -1;
}

// The name in these files of what a .nemo file calls `name`, for tensors of the encoder.
std::string encoder_name(std::string name) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    if (const std::size_t i = name.find(from); i != std::string::npos) name.replace(i, from.size(), to);
  };
  if (name.starts_with("encoder.pre_encode.")) {
    replace("pre_encode.", "subsampling.");
    constexpr std::pair<std::string_view, std::string_view> parts[] = {{"conv.0.", "conv0."},
                                                                       {"conv.2.", "conv1_dw."},
                                                                       {"conv.3.", "conv1_pw."},
                                                                       {"conv.5.", "conv2_dw."},
                                                                       {"conv.6.", "conv2_pw."}};
    for (const auto& [from, to] : parts) replace(from, to);
    return name;
  }
  if (name.starts_with("encoder.layers.")) {
    constexpr std::pair<std::string_view, std::string_view> parts[] = {{"encoder.layers.", "encoder.blk."},
                                                                       {".norm_feed_forward1.", ".norm_ff1."},
                                                                       {".norm_feed_forward2.", ".norm_ff2."},
                                                                       {".norm_self_att.", ".norm_attn."},
                                                                       {".feed_forward1.", ".ff1."},
                                                                       {".feed_forward2.", ".ff2."},
                                                                       {".self_attn.linear_", ".attn."},
                                                                       {".self_attn.", ".attn."},
                                                                       {".conv.pointwise_conv1.", ".conv.pw1."},
                                                                       {".conv.pointwise_conv2.", ".conv.pw2."},
                                                                       {".conv.depthwise_conv.", ".conv.dw."},
                                                                       {".conv.batch_norm.s", ".conv.bn.s"},
                                                                       {".conv.batch_norm.", ".conv.norm."}};
    for (const auto& [from, to] : parts) replace(from, to);
  }
  return name;
}

}  // namespace

void read_published_encoder(const gguf_file& file, fastconformer_settings& s) {
  const auto number = [&](const char* key, std::uint32_t min, std::uint32_t max) {
    return whole_number(file, (std::string("parakeet.") + key).c_str(), min, max);
  };
  (void)number("preproc.sample_rate", 16000, 16000);
  frontends::nemo_mel_options& mel = s.frontend.mel;
  mel.mels = number("preproc.n_mels", 8, 1024);
  mel.fft_size = number("preproc.n_fft", 16, limits::width);
  mel.window = number("preproc.win_length", 2, limits::width);
  mel.shift = number("preproc.hop_length", 1, limits::width);
  const auto real = [&](const char* key, float otherwise, double min, double max) {
    const double v = file.number(key).value_or(static_cast<double>(otherwise));
    if (!(v >= min && v <= max))
      fail({.where = file.where(),
            .what = "key " + steno::weights::quoted(key),
            .expected = weights::number_text(min) + " to " + weights::number_text(max),
            .found = weights::number_text(v)});
    return static_cast<float>(v);
  };
  mel.preemphasis = real("parakeet.preproc.preemph", *mel.preemphasis, 0, 1);
  mel.guard = real("parakeet.preproc.log_zero_guard_value", mel.guard, 0x1p-126, 0x1p16);
  check_frontend(s, file.where());
  const std::string normal = file.text("parakeet.preproc.normalize").value_or("per_feature");
  if (normal == "NA")
    s.frontend.normalise = frontends::normalisation::none;
  else
    require_published(file, "parakeet.preproc.normalize", normal, "per_feature");
  s.width = number("encoder.d_model", 2, limits::width);
  s.blocks = number("encoder.n_layers", 1, limits::layers);
  s.heads = number("encoder.n_heads", 1, 1024);
  s.units = number("encoder.ff_dim", 1, 1u << 22);
  s.taps = number("encoder.conv_kernel", 1, 1023);
  s.channels = number("encoder.subsampling_conv_channels", 1, limits::width);
  (void)number("encoder.subsampling_factor", 8, 8);
  s.xscaling = published_flag(file, "parakeet.encoder.xscaling", true);
  s.bias = published_flag(file, "parakeet.encoder.use_bias", true);
  s.causal_downsampling = published_flag(file, "parakeet.encoder.causal_downsampling", false);
  if (!published_flag(file, "parakeet.encoder.untie_biases", true))
    fail({.where = file.where(), .what = "key \"parakeet.encoder.untie_biases\"", .expected = "true"});
  const std::string norm = file.text("parakeet.encoder.conv_norm_type").value_or("batch_norm");
  s.layer_norm = norm == "layer_norm";
  if (!s.layer_norm) require_published(file, "parakeet.encoder.conv_norm_type", norm, "batch_norm");
  s.causal = file.text("parakeet.encoder.conv_context_size").value_or("None") == "causal";
  const std::string style = file.text("parakeet.encoder.att_context_style").value_or("regular");
  s.chunked = style == "chunked_limited";
  if (style == "chunked_limited_with_rc")
    s.windows = usual_stream_windows();  // their sizes stand nowhere
  else if (!s.chunked)
    require_published(file, "parakeet.encoder.att_context_style", style, "regular");
  if (s.windows.empty()) {
    s.left = context(file, "parakeet.encoder.att_context_size_left");
    s.right = context(file, "parakeet.encoder.att_context_size_right");
  }
  if (s.width % s.heads != 0 || s.width % 2 != 0 || s.taps % 2 == 0 || (s.chunked && s.right < 0))
    fail({.where = file.where(),
          .what = "the encoder's sizes",
          .expected = "an even width that the heads divide, an odd kernel, and a limit on the right of chunks"});
}

void check_published_keys(const gguf_file& file, std::vector<std::string>& notes) {
  constexpr std::string_view is_read = "read, or what is read says it", program = "of the original's program";
  static constexpr unused_setting known[] = {
      {"general", is_read, general_gguf_keys},
      {"tokenizer", is_read, tokenizer_gguf_keys},
      {"parakeet.model.type", is_read},
      {"parakeet.model_variant", is_read},
      {"parakeet.encoder.att_context_size_left", is_read},
      {"parakeet.encoder.att_context_size_right", is_read},
      {"parakeet.encoder.att_context_style", is_read},
      {"parakeet.encoder.causal_downsampling", is_read},
      {"parakeet.encoder.conv_context_size", is_read},
      {"parakeet.encoder.conv_context_style", "without effect once a model is trained"},
      {"parakeet.encoder.conv_kernel", is_read},
      {"parakeet.encoder.conv_norm_type", is_read},
      {"parakeet.encoder.d_model", is_read},
      {"parakeet.encoder.ff_dim", is_read},
      {"parakeet.encoder.head_dim", is_read},
      {"parakeet.encoder.n_heads", is_read},
      {"parakeet.encoder.n_layers", is_read},
      {"parakeet.encoder.pos_emb_max_len", is_read},
      {"parakeet.encoder.streaming.enabled", program},
      {"parakeet.encoder.subsampling_conv_channels", is_read},
      {"parakeet.encoder.subsampling_factor", is_read},
      {"parakeet.encoder.subsampling_freq_bins", is_read},
      {"parakeet.encoder.untie_biases", is_read},
      {"parakeet.encoder.use_bias", is_read},
      {"parakeet.encoder.xscaling", is_read},
      {"parakeet.preproc.hop_length", is_read},
      {"parakeet.preproc.log_zero_guard_value", is_read},
      {"parakeet.preproc.n_fft", is_read},
      {"parakeet.preproc.n_mels", is_read},
      {"parakeet.preproc.normalize", is_read},
      {"parakeet.preproc.preemph", is_read},
      {"parakeet.preproc.sample_rate", is_read},
      {"parakeet.preproc.win_length", is_read},
      {"parakeet.*.blank_id", is_read},
      {"parakeet.*.durations", is_read},
      {"parakeet.*.joint_hidden", is_read},
      {"parakeet.*.num_durations", is_read},
      {"parakeet.*.pred_hidden", is_read},
      {"parakeet.*.pred_rnn_layers", is_read},
      {"parakeet.*.vocab_size", is_read},
      {"parakeet.eou.cache_lookback_frames", program},
      {"parakeet.eou.cache_time_steps", program},
      {"parakeet.eou.encoder_chunk_mel_frames", program},
      {"parakeet.eou.eob_id", is_read},
      {"parakeet.eou.eou_id", is_read},
      {"parakeet.*.max_symbols_per_step", "read, or 5 whatever the model was made with"},
      {"parakeet.nemotron.allowed_chunk_ms", is_read},
      {"parakeet.nemotron.allowed_right_context_frames", is_read},
      {"parakeet.nemotron.cache_time_steps", program},
      {"parakeet.nemotron.default_locale", is_read},
      {"parakeet.nemotron.left_context_frames", is_read},
      {"parakeet.nemotron.locale_aliases", is_read},
      {"parakeet.nemotron.locale_prompt_ids", is_read},
      {"parakeet.nemotron.num_prompts", is_read},
      {"parakeet.nemotron.prompt_input_width", is_read},
      {"parakeet.nemotron.prompt_width", is_read},
      {"parakeet.sortformer.fc_d_model", is_read},
      {"parakeet.sortformer.num_spks", is_read},
      {"parakeet.sortformer.tf_d_model", is_read},
      {"parakeet.sortformer.tf_hidden_act", is_read},
      {"parakeet.sortformer.tf_inner_size", is_read},
      {"parakeet.sortformer.tf_n_heads", is_read},
      {"parakeet.sortformer.tf_n_layers", is_read},
      {"parakeet.sortformer.tf_pre_ln", is_read},
  };
  constexpr std::string_view of_models[] = {"parakeet."};
  gguf_settings(file).check_all_read(of_models, known, notes);
}

checkpoint_tensors published_tensors(gguf_file& file, fastconformer_settings& s,
                                     std::function<std::string(std::string)> heads) {
  checkpoint_tensors from = all_tensors(file);
  const frontends::nemo_mel_options& mel = s.frontend.mel;
  const auto table = [&](const std::string& name, const std::vector<extent>& shape) {
    return find(from, name) == nullptr ? std::vector<float>() : take_values(from, name, shape);
  };
  const std::vector<float> window = table("preproc.window", {mel.window});
  take_tables(s, window, table("preproc.mel_filterbank", {mel.mels, mel.fft_size / 2 + 1}),
              {file.where(), "preproc.window", "preproc.mel_filterbank"});
  from.in_order = false;
  from.compared = checkpoint_tensors::shapes::counts;
  from.norms_are_folded = true;
  from.ignored = {{".attn.qkv", "there a second time, apart"}};
  from.named = [heads = std::move(heads)](const std::string& ours) {
    const std::string name = nemo_name(ours);
    return name.starts_with("encoder.") ? encoder_name(name) : heads(name);
  };
  promise_encoder(from, s);
  return from;
}

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
