// tools/convert/funasr/paraformer.cpp - see paraformer.hpp.
#include "funasr/paraformer.hpp"

#include <steno/error.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/models/paraformer_online.hpp>

#include <utility>

#include "funasr/am_mvn.hpp"
#include "funasr/folder.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

constexpr std::string_view of_training = "training alone reads it";
constexpr unused_setting unused_by_paraformer[] = {
    {"model_conf.predictor_bias", of_training},
    {"model_conf.predictor_weight", of_training},
    {"model_conf.sampling_ratio", of_training},
    {"model_conf.share_embedding", of_training},
    {"model_conf.use_1st_decoder_loss", of_training},
    {"encoder_conf.chunk_size", "training; a stream's windows are its options"},
    {"encoder_conf.stride", of_training},
    {"encoder_conf.pad_left", of_training},
    {"encoder_conf.encoder_att_look_back_factor", "training; how far a stream looks back is an option"},
    {"encoder_conf.decoder_att_look_back_factor", "training; how far a stream looks back is an option"},
    {"decoder_conf.input_layer", "the embedding of tokens serves training alone"},
    {"decoder_conf.wo_input_layer", "the embedding of tokens serves training alone"},
    {"decoder_conf.chunk_multiply_factor", "FunASR keeps it and does not read it"},
    {"predictor_conf.idim", "the tensors' shapes say it"},
    {"predictor_conf.tail_mask", "the same for one clip at a time"},
    {"ctc", of_training},
    {"ctc_conf.extra_linear", of_training},
    {"tokenizer_conf.space_symbol", "words are joined by rules of their own"},
    {"pred_timestamp", "times are always given"},
};

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
  set_frontend_keys(file, at, s.frontend);
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

paraformer_settings read_paraformer_settings(const folder& f, std::vector<std::string>& notes) {
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
  s.frontend = read_frontend(f);
  s.tail_threshold = static_cast<float>(f.real("predictor_conf.tail_threshold", 0, 0, 1));
  if (!(s.tail_threshold > 0))  // without the last frame the original counts tokens in another way
    fail({.where = f.config.string(), .what = "predictor_conf.tail_threshold", .expected = "above 0", .found = "0"});
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
  require_sanm_encoder(f, "encoder_conf", s.online ? "pe_online" : "pe");
  f.require("decoder", "ParaformerSANMDecoder");
  f.require("decoder_conf.att_layer_num", std::to_string(s.decoder_blocks));
  // A stream's decoder looks back alone: its FSMN is shifted by half its taps, which null stands for.
  const std::uint32_t shift = f.is_null("decoder_conf.sanm_shfit") ? (s.decoder_kernel - 1) / 2
                                                                   : f.number("decoder_conf.sanm_shfit", 0, 0, 1023);
  if (const std::uint32_t known = s.online ? (s.decoder_kernel - 1) / 2 : 0; shift != known)
    fail({.where = f.config.string(),
          .what = "decoder_conf.sanm_shfit is not supported",
          .expected = std::to_string(known),
          .found = std::to_string(shift)});
  f.require("decoder_conf.normalize_before", "true");
  f.require("decoder_conf.concat_after", "false");
  f.require("decoder_conf.use_output_layer", "true");
  f.require("decoder_conf.lora_list", "null");
  f.require("predictor", "CifPredictorV2");
  f.require("predictor_conf.threshold", 1.0);
  f.require("predictor_conf.l_order", 1.0);
  f.require("predictor_conf.r_order", 1.0);
  f.require("predictor_conf.smooth_factor", 1.0);
  f.require("predictor_conf.noise_threshold", 0.0);
  f.require("normalize", "null");
  f.require("model_conf.sos", "1");  // ids that are no text
  f.require("model_conf.eos", "2");
  f.require("model_conf.blank_id", "0");
  if (f.real("model_conf.ctc_weight", 0, 0, 1) == 1)
    fail({.where = f.config.string(), .what = "model_conf.ctc_weight is 1: a model without its decoder"});
  require_frontend(f, s.online ? "WavFrontendOnline" : "WavFrontend");
  f.require("tokenizer", "CharTokenizer");
  check_settings(f, unused_by_paraformer, notes);
  return s;
}

void walk_paraformer(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::paraformer_any>(keys, taker); }
void walk_paraformer_online(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::paraformer_online_any>(keys, taker);
}

void promise_paraformer(checkpoint_tensors& from, const paraformer_settings& s, std::size_t vocabulary) {
  const auto d = static_cast<extent>(s.output_size);
  promise_sanm(from, "encoder.", {s.frontend.width(), s.output_size, s.linear_units, s.kernel_size, s.num_blocks});
  from.sizes.push_back({"decoder.*.w_1.weight", static_cast<extent>(s.decoder_units), d});
  from.sizes.push_back({"decoder.*.fsmn_block.weight", static_cast<extent>(s.decoder_kernel), d});
  from.sizes.push_back({"decoder.output_layer.weight", static_cast<extent>(vocabulary), d});
  from.counts.push_back({"decoder.decoders", static_cast<extent>(s.decoder_blocks)});
}

imported_model import_paraformer(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  imported_model model;
  const paraformer_settings s = read_paraformer_settings(f, model.notes);
  const std::vector<std::string> tokens = f.read_tokens();
  set_paraformer_keys(model.file, s, tokens);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  from.ignored = {"decoder.embed.0.weight"};
  promise_paraformer(from, s, tokens.size());
  take_tensors(model, std::move(from));
  take_cmvn(model, f, cmvn);
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
