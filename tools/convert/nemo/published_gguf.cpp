// tools/convert/nemo/published_gguf.cpp - see published_gguf.hpp.
#include "nemo/published_gguf.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include "gguf_import.hpp"
#include "limits.hpp"

namespace steno::inline STENO_ABI::nemo {

bool published_flag(const gguf_file& file, const std::string& key, bool otherwise) {
  const gguf_value* v = file.value(key);
  if (v == nullptr) return otherwise;
  if (const auto b = v->get<bool>()) return *b;
  return v->number().value_or(otherwise ? 1 : 0) != 0;
}
void require_published(const gguf_file& file, const std::string& key, const std::string& found,
                       const std::string& expected) {
  if (found != expected)
    fail({.where = file.where(), .what = "key " + steno::quoted(key), .expected = expected, .found = found});
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
                                                                       {".conv.batch_norm.", ".conv.norm."}};
    for (const auto& [from, to] : parts) replace(from, to);
  }
  return name;
}

}  // namespace

void read_published_encoder(const gguf_file& file, fastconformer_settings& s) {
  constexpr std::uint32_t wide = 65536;
  const auto number = [&](const char* key, std::uint32_t least, std::uint32_t most) {
    return whole_number(file, (std::string("parakeet.") + key).c_str(), least, most);
  };
  (void)number("preproc.sample_rate", 16000, 16000);
  s.mels = number("preproc.n_mels", 8, 1024);
  s.fft_size = number("preproc.n_fft", 16, wide);
  s.window = number("preproc.win_length", 2, wide);
  s.shift = number("preproc.hop_length", 1, wide);
  const std::string normal = file.text("parakeet.preproc.normalize").value_or("per_feature");
  s.per_feature = normal != "NA";
  if (s.per_feature) require_published(file, "parakeet.preproc.normalize", normal, "per_feature");
  s.width = number("encoder.d_model", 2, wide);
  s.blocks = number("encoder.n_layers", 1, limits::layers);
  s.heads = number("encoder.n_heads", 1, 1024);
  s.units = number("encoder.ff_dim", 1, 1u << 22);
  s.taps = number("encoder.conv_kernel", 1, 1023);
  s.channels = number("encoder.subsampling_conv_channels", 1, wide);
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
  if (!s.chunked) require_published(file, "parakeet.encoder.att_context_style", style, "regular");
  s.left = context(file, "parakeet.encoder.att_context_size_left");
  s.right = context(file, "parakeet.encoder.att_context_size_right");
  if (s.width % s.heads != 0 || s.width % 2 != 0 || s.taps % 2 == 0 || (s.chunked && s.right < 0))
    fail({.where = file.where(),
          .what = "the encoder's sizes",
          .expected = "an even width that the heads divide, an odd kernel, and a limit on the right of chunks"});
}

published_file::published_file(const gguf_file& file, const fastconformer_settings& s, renaming heads)
    : file_(file), settings_(s), heads_(std::move(heads)) {
  for (std::size_t i = 0; i < file.size(); ++i) numbers_.emplace(std::string(file.tensor(i).name), i);
}

imported_tensor published_file::take(const torch::laid_out_tensor& t) {
  const std::string name = t.name.starts_with("encoder.") ? encoder_name(t.name) : heads_(t.name);
  const bool bare = t.made == torch::layout::taps_bias && !settings_.bias;  // made by the batch norm alone
  imported_tensor stored;
  std::uint64_t count = 1;
  for (const extent n : t.packed) count *= static_cast<std::uint64_t>(n);
  if (!bare) stored = find(name, count);
  const bool depthwise = t.name.find(".conv.depthwise_conv.") != std::string::npos;
  if (t.made == torch::layout::same || !depthwise || settings_.layer_norm) return lay_out(t, std::move(stored));
  const std::string norm = name.substr(0, name.find(".dw.")) + ".bn.";
  return lay_out(t, std::move(stored),
                 {values(norm + "scale", settings_.width), values(norm + "shift", settings_.width)});
}

void published_file::finish() const {
  std::string left;
  for (const auto& [name, i] : numbers_)
    if (!used_.contains(name) && !name.starts_with("preproc.") && name.find(".attn.qkv.") == std::string::npos)
      left.append(left.empty() ? "" : ", ").append(name);
  if (!left.empty()) fail({.where = file_.where(), .what = "tensors that such a model has not", .found = left});
}

imported_tensor published_file::find(const std::string& name, std::uint64_t count) {
  const auto at = numbers_.find(name);
  if (at == numbers_.end()) fail({.where = file_.where(), .what = "tensor " + steno::quoted(name) + " is missing"});
  used_.insert(name);
  imported_tensor t = take_tensor(file_, at->second, is_nemo_product);
  if (t.count() != count)
    fail({.where = file_.where(),
          .what = "tensor " + steno::quoted(name),
          .expected = std::to_string(count) + " values",
          .found = std::to_string(t.count())});
  return t;
}

std::vector<float> published_file::values(const std::string& name, std::uint32_t count) {
  std::vector<float> v(count);
  find(name, count).read(v);
  return v;
}

}  // namespace steno::inline STENO_ABI::nemo
