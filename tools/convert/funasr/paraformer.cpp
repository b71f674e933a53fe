// tools/convert/funasr/paraformer.cpp - see paraformer.hpp.
#include "funasr/paraformer.hpp"

#include <steno/error.hpp>

#include <charconv>
#include <utility>

#include "funasr/folder.hpp"
#include "limits.hpp"

namespace steno::inline STENO_ABI::funasr {

namespace {

// A number written as 1, 1.0 or 1e0 is the same setting.
void require_number(const folder& f, const std::string& key, double value) {
  const std::string text = f.text(key, "");
  double v = value;
  if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), v);
  if (v == value) return;
  fail({.where = f.config.string(),
        .what = key + " is not supported",
        .expected = std::to_string(value),
        .found = steno::quoted(text)});
}

}  // namespace

void set_paraformer_keys(gguf_writer& file, const paraformer_settings& s, const std::vector<std::string>& tokens) {
  const std::string at = s.online ? "paraformer_online." : "paraformer.";
  file.set("general.architecture", at.substr(0, at.size() - 1));
  file.set("general.name", s.online ? "Paraformer-online" : "Paraformer");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  file.set(at + "encoder.attention_heads", s.attention_heads);
  file.set(at + "encoder.kernel_size", s.kernel_size);
  file.set(at + "encoder.num_blocks", s.num_blocks);
  file.set(at + "encoder.output_size", s.output_size);
  file.set(at + "encoder.linear_units", s.linear_units);
  file.set(at + "decoder.attention_heads", s.decoder_heads);
  file.set(at + "decoder.kernel_size", s.decoder_kernel);
  file.set(at + "decoder.num_blocks", s.decoder_blocks);
  file.set(at + "decoder.linear_units", s.decoder_units);
  file.set(at + "predictor.tail_threshold", s.tail_threshold);
  file.set(at + "frontend.sample_rate", s.sample_rate);
  file.set(at + "frontend.window", s.window);
  file.set(at + "frontend.n_mels", s.n_mels);
  file.set(at + "frontend.frame_length", s.frame_length);
  file.set(at + "frontend.frame_shift", s.frame_shift);
  file.set(at + "frontend.lfr_m", s.lfr_m);
  file.set(at + "frontend.lfr_n", s.lfr_n);
  if (s.online) {  // what FunASR's documentation and the trained look-backs recommend
    file.set(at + "chunk.before", std::uint32_t{0});
    file.set(at + "chunk.size", std::uint32_t{10});
    file.set(at + "chunk.after", std::uint32_t{5});
    file.set(at + "chunk.encoder_look_back", std::uint32_t{4});
    file.set(at + "chunk.decoder_look_back", std::uint32_t{1});
  }
  file.set("tokenizer.ggml.model", "characters");
  file.set("tokenizer.ggml.tokens", tokens);
}

paraformer_settings read_paraformer_settings(const folder& f) {
  paraformer_settings s;
  s.online = f.text("model", "") == "ParaformerStreaming";
  constexpr std::uint32_t wide = 65536, deep = limits::layers;
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t most) {
    value = f.number(key, value, 1, most);
  };
  read("encoder_conf.output_size", s.output_size, wide);
  read("encoder_conf.attention_heads", s.attention_heads, 1024);
  read("encoder_conf.linear_units", s.linear_units, wide);
  read("encoder_conf.num_blocks", s.num_blocks, deep);
  read("encoder_conf.kernel_size", s.kernel_size, 1023);
  read("decoder_conf.attention_heads", s.decoder_heads, 1024);
  read("decoder_conf.linear_units", s.decoder_units, wide);
  read("decoder_conf.num_blocks", s.decoder_blocks, deep);
  read("decoder_conf.kernel_size", s.decoder_kernel, 1023);
  read("frontend_conf.fs", s.sample_rate, 384000);
  read("frontend_conf.n_mels", s.n_mels, 1024);
  read("frontend_conf.frame_length", s.frame_length, 1000);
  read("frontend_conf.frame_shift", s.frame_shift, 1000);
  read("frontend_conf.lfr_m", s.lfr_m, 64);
  read("frontend_conf.lfr_n", s.lfr_n, 64);
  s.window = f.text("frontend_conf.window", s.window);
  s.tail_threshold = static_cast<float>(f.real("predictor_conf.tail_threshold", 0, 0, 1));
  const auto divides = [&](const char* key, std::uint32_t heads) {
    if (s.output_size % heads == 0) return;
    fail({.where = f.config.string(),
          .what = key,
          .expected = "a divisor of output_size " + std::to_string(s.output_size),
          .found = std::to_string(heads)});
  };
  divides("encoder_conf.attention_heads", s.attention_heads);
  divides("decoder_conf.attention_heads", s.decoder_heads);
  // Other values of these exist in FunASR and compute something else.
  f.require("encoder", s.online ? "SANMEncoderChunkOpt" : "SANMEncoder");
  f.require("encoder_conf.input_layer", s.online ? "pe_online" : "pe");
  f.require("encoder_conf.normalize_before", "true");
  f.require("encoder_conf.sanm_shfit", "0");
  f.require("encoder_conf.selfattention_layer_type", "sanm");
  f.require("decoder", "ParaformerSANMDecoder");
  f.require("decoder_conf.att_layer_num", std::to_string(s.decoder_blocks));
  // A stream's decoder looks back alone: its FSMN is shifted by half its taps.
  f.require("decoder_conf.sanm_shfit", std::to_string(s.online ? (s.decoder_kernel - 1) / 2 : 0));
  f.require("predictor", "CifPredictorV2");
  require_number(f, "predictor_conf.threshold", 1);
  require_number(f, "predictor_conf.l_order", 1);
  require_number(f, "predictor_conf.r_order", 1);
  require_number(f, "predictor_conf.smooth_factor", 1);
  require_number(f, "predictor_conf.noise_threshold", 0);
  f.require("frontend", s.online ? "WavFrontendOnline" : "WavFrontend");
  f.require("tokenizer", "CharTokenizer");
  return s;
}

std::vector<expected_tensor> paraformer_tensors(const paraformer_settings& s, std::size_t vocabulary) {
  tensor_list t;
  const auto input = static_cast<extent>(s.input_size()), d = static_cast<extent>(s.output_size);
  const auto units = static_cast<extent>(s.linear_units), taps = static_cast<extent>(s.kernel_size);
  const auto inner = static_cast<extent>(s.decoder_units), kernel = static_cast<extent>(s.decoder_kernel);
  t.sanm_layer("encoder.encoders0.0", input, d, units, taps);
  for (std::uint32_t i = 1; i < s.num_blocks; ++i)
    t.sanm_layer("encoder.encoders." + std::to_string(i - 1), d, d, units, taps);
  t.norm("encoder.after_norm", d);
  t.all.push_back(
      {.name = "predictor.cif_conv1d.weight", .shape = {d, d, 3}, .product = true, .stored = layout::convolution});
  t.all.push_back({.name = "predictor.cif_conv1d.bias", .shape = {d}});
  t.all.push_back({.name = "predictor.cif_output.weight", .shape = {1, d}});
  t.all.push_back({.name = "predictor.cif_output.bias", .shape = {1}});
  const auto feed_forward = [&](const std::string& name) {
    t.norm(name + ".norm1", d);
    t.linear(name + ".feed_forward.w_1", inner, d);
    t.norm(name + ".feed_forward.norm", inner);
    t.linear(name + ".feed_forward.w_2", d, inner, false);
  };
  for (std::uint32_t i = 0; i < s.decoder_blocks; ++i) {
    const std::string name = "decoder.decoders." + std::to_string(i);
    feed_forward(name);
    t.norm(name + ".norm2", d);
    t.all.push_back({.name = name + ".self_attn.fsmn_block.weight", .shape = {d, 1, kernel}, .stored = layout::memory});
    t.norm(name + ".norm3", d);
    t.linear(name + ".src_attn.linear_q", d, d);
    t.linear(name + ".src_attn.linear_k_v", 2 * d, d);
    t.linear(name + ".src_attn.linear_out", d, d);
  }
  feed_forward("decoder.decoders3.0");
  t.norm("decoder.after_norm", d);
  t.linear("decoder.output_layer", static_cast<extent>(vocabulary), d);
  return std::move(t.all);
}

bool is_paraformer_product(const std::string& name, std::size_t rank) {
  return rank == 2 && name.ends_with(".weight") && name.find("fsmn_block") == std::string::npos &&
         name != "predictor.cif_output.weight";
}

void set_paraformer_cmvn(imported_model& model, const std::filesystem::path& am_mvn) {
  for (const imported_tensor& t : model.tensors)
    if (t.name == "encoder.encoders0.0.self_attn.linear_q_k_v.weight" && t.shape.size() == 2)
      return add_cmvn(model, am_mvn, static_cast<std::size_t>(t.shape[1]));
  fail({.where = model.where, .what = "tensor \"encoder.encoders0.0.self_attn.linear_q_k_v.weight\" is missing"});
}

imported_model import_paraformer(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  const paraformer_settings s = read_paraformer_settings(f);
  const std::vector<std::string> tokens = f.read_tokens();
  imported_model model;
  set_paraformer_keys(model.file, s, tokens);
  // The embedding of tokens serves training alone.
  take_tensors(model, f.weights, paraformer_tensors(s, tokens.size()), "Paraformer", {"decoder.embed.0.weight"});
  if (cmvn || f.cmvn) add_cmvn(model, cmvn ? *cmvn : *f.cmvn, s.input_size());
  return model;
}

}  // namespace steno::inline STENO_ABI::funasr
