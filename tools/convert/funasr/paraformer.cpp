// tools/convert/funasr/paraformer.cpp - see paraformer.hpp.
#include "funasr/paraformer.hpp"

#include <steno/error.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/models/paraformer_online.hpp>

#include <charconv>
#include <utility>

#include "funasr/am_mvn.hpp"
#include "funasr/folder.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

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
        .found = steno::weights::quoted(text)});
}

}  // namespace

void set_paraformer_keys(weights::gguf_writer& file, const paraformer_settings& s,
                         const std::vector<std::string>& tokens) {
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
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t max) {
    value = f.number(key, value, 1, max);
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

void walk_paraformer(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::paraformer_any>(keys, taker); }
void walk_paraformer_online(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::paraformer_online_any>(keys, taker);
}

void promise_paraformer(checkpoint_tensors& from, const paraformer_settings& s, std::size_t vocabulary) {
  const auto d = static_cast<extent>(s.output_size);
  promise_sanm(from, "encoder.", {s.input_size(), s.output_size, s.linear_units, s.kernel_size, s.num_blocks});
  from.sizes.push_back({"decoder.*.w_1.weight", static_cast<extent>(s.decoder_units), d});
  from.sizes.push_back({"decoder.*.fsmn_block.weight", static_cast<extent>(s.decoder_kernel), d});
  from.sizes.push_back({"decoder.output_layer.weight", static_cast<extent>(vocabulary), d});
  from.counts.push_back({"decoder.decoders", static_cast<extent>(s.decoder_blocks)});
}

imported_model import_paraformer(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  const paraformer_settings s = read_paraformer_settings(f);
  const std::vector<std::string> tokens = f.read_tokens();
  imported_model model;
  set_paraformer_keys(model.file, s, tokens);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  from.ignored = {"decoder.embed.0.weight"};  // the embedding of tokens serves training alone
  promise_paraformer(from, s, tokens.size());
  take_tensors(model, std::move(from));
  if (cmvn || f.cmvn) set_cmvn(model, cmvn ? *cmvn : *f.cmvn);
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
