// tools/convert/funasr/paraformer.cpp - see paraformer.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/paraformer.hpp"

#include <steno/error.hpp>
#include <steno/models/bicif_paraformer.hpp>
#include <steno/models/contextual_paraformer.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/models/paraformer_online.hpp>
#include <steno/models/seaco_paraformer.hpp>

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
    {"model_conf.seaco_lsm_weight", of_training},
    {"model_conf.seaco_length_normal", of_training},
    {"model_conf.seaco_length_normalized_loss", of_training},
    {"model_conf.seaco_weight", of_training},
    {"model_conf.train_decoder", of_training},
    {"model_conf.crit_attn_weight", of_training},
    {"model_conf.crit_attn_smooth", of_training},
    {"model_conf.target_buffer_length", of_training},
    {"encoder_conf.chunk_size", "training; a stream's windows are its options"},
    {"encoder_conf.stride", of_training},
    {"encoder_conf.pad_left", of_training},
    {"encoder_conf.encoder_att_look_back_factor", "training; how far a stream looks back is an option"},
    {"encoder_conf.decoder_att_look_back_factor", "training; how far a stream looks back is an option"},
    {"decoder_conf.input_layer", "the embedding of tokens serves training alone"},
    {"decoder_conf.wo_input_layer", "the embedding of tokens serves training alone"},
    {"seaco_decoder_conf.input_layer", "it reads rows, no tokens"},
    {"seaco_decoder_conf.wo_input_layer", "it reads rows, no tokens"},
    {"decoder_conf.chunk_multiply_factor", "FunASR keeps it and does not read it"},
    {"predictor_conf.idim", "the tensors' shapes say it"},
    {"predictor_conf.tail_mask", "the same for one clip at a time"},
    {"ctc", of_training},
    {"ctc_conf.extra_linear", of_training},
    {"tokenizer_conf.space_symbol", "words are joined by rules of their own"},
    {"pred_timestamp", "times are always given"},
};

struct class_of_funasr {
  paraformer_kind kind;
  std::string_view model;  // of config.yaml
  const char *architecture, *name, *encoder, *input_layer, *decoder, *predictor;
};
constexpr class_of_funasr classes[] = {
    {paraformer_kind::offline, "Paraformer", "paraformer", "Paraformer", "SANMEncoder", "pe", "ParaformerSANMDecoder",
     "CifPredictorV2"},
    {paraformer_kind::online, "ParaformerStreaming", "paraformer_online", "Paraformer-online", "SANMEncoderChunkOpt",
     "pe_online", "ParaformerSANMDecoder", "CifPredictorV2"},
    {paraformer_kind::bicif, "BiCifParaformer", "bicif_paraformer", "BiCifParaformer", "SANMEncoder", "pe",
     "ParaformerSANMDecoder", "CifPredictorV3"},
    {paraformer_kind::seaco, "SeacoParaformer", "seaco_paraformer", "SeACo-Paraformer", "SANMEncoder", "pe",
     "ParaformerSANMDecoder", "CifPredictorV3"},
    {paraformer_kind::contextual, "ContextualParaformer", "contextual_paraformer", "ContextualParaformer",
     "SANMEncoder", "pe", "ContextualParaformerDecoder", "CifPredictorV2"},
};
const class_of_funasr& class_of(paraformer_kind kind) { return classes[static_cast<std::size_t>(kind)]; }
bool has_second_predictor(paraformer_kind k) { return k == paraformer_kind::bicif || k == paraformer_kind::seaco; }
bool reads_hotwords(paraformer_kind k) { return k == paraformer_kind::seaco || k == paraformer_kind::contextual; }

[[noreturn]] void refuse(const folder& f, const std::string& key, std::string expected, std::string found) {
  fail({.where = f.config.string(), .what = key, .expected = std::move(expected), .found = std::move(found)});
}
// A setting whose default computes something else than steno does, so it must be there.
void insist(const folder& f, const std::string& key, const std::string& value) {
  if (!f.has(key)) refuse(f, key, value, "nothing, which FunASR takes for another value");
  f.require(key, value);
}

void read_second_predictor(const folder& f, paraformer_settings& s) {
  s.smooth_factor2 = static_cast<float>(f.real("predictor_conf.smooth_factor2", 1, 0, 16));
  s.noise_threshold2 = static_cast<float>(f.real("predictor_conf.noise_threshold2", 0, 0, 1));
  insist(f, "predictor_conf.upsample_times", "3");  // times are made with this number, whatever stands here
  insist(f, "predictor_conf.upsample_type", "cnn_blstm");
  insist(f, "predictor_conf.use_cif1_cnn", "false");
}

// Of a decoder: attention_heads must divide the width, and what computes something else is refused.
void require_decoder(const folder& f, const std::string& at, std::uint32_t heads, std::uint32_t width) {
  f.require(at + ".normalize_before", "true");
  f.require(at + ".concat_after", "false");
  f.require(at + ".lora_list", "null");
  if (width % heads != 0)
    refuse(f, at + ".attention_heads", "a divisor of output_size " + std::to_string(width), std::to_string(heads));
}

void read_hotwords(const folder& f, paraformer_settings& s) {
  f.require("tokenizer_conf.unk_symbol", "<unk>");  // what a hotword that is not in the vocabulary becomes
  if (const std::uint32_t d = f.number("model_conf.inner_dim", 256, 1, 65536); d != s.output_size)
    refuse(f, "model_conf.inner_dim", std::to_string(s.output_size) + ", as encoder_conf.output_size",
           std::to_string(d));
  f.require("model_conf.bias_encoder_type", "lstm");
  if (s.kind == paraformer_kind::contextual) {
    f.require("model_conf.use_decoder_embedding", "false");
    s.clas_scale = static_cast<float>(f.real("clas_scale", 1, 0, 100));
    return;
  }
  f.require("model_conf.bias_encoder_bid", "false");
  s.no_bias = f.number("model_conf.NO_BIAS", s.no_bias, 0, 1u << 24);
  f.require("decoder_conf.wo_input_layer", "false");
  f.require("seaco_decoder", "ParaformerSANMDecoder");
  s.seaco_heads = f.number("seaco_decoder_conf.attention_heads", s.seaco_heads, 1, 1024);
  s.seaco_units = f.number("seaco_decoder_conf.linear_units", s.seaco_units, 1, 65536);
  s.seaco_kernel = f.number("seaco_decoder_conf.kernel_size", s.seaco_kernel, 1, 1023);
  s.seaco_layers = f.number("seaco_decoder_conf.att_layer_num", s.seaco_layers, 1, limits::layers);
  // Layers beyond those with attention are of another kind; fewer than that there are not.
  if (const std::uint32_t n = f.number("seaco_decoder_conf.num_blocks", 6, 1, limits::layers); n > s.seaco_layers)
    refuse(f, "seaco_decoder_conf.num_blocks", "up to att_layer_num, " + std::to_string(s.seaco_layers),
           std::to_string(n));
  f.require("seaco_decoder_conf.sanm_shfit", "0");
  insist(f, "seaco_decoder_conf.use_output_layer", "false");
  require_decoder(f, "seaco_decoder_conf", s.seaco_heads, s.output_size);
}

// The dictionary that hotwords are split with: where FunASR looks for it.
void take_hotword_dictionary(imported_model& model, const folder& f) {
  const std::filesystem::path beside = f.cmvn ? f.cmvn->parent_path() / "seg_dict" : std::filesystem::path();
  if (beside.empty() || !std::filesystem::exists(beside)) {
    model.notes.push_back(f.root.string() +
                          ": hotwords are looked up among the tokens as they are, for there is no "
                          "seg_dict beside an am.mvn; FunASR does the same");
    return;
  }
  std::vector<std::string> lines = read_lines(beside);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].empty())
      fail({.where = beside.string(),
            .what = "line " + std::to_string(i + 1),
            .expected = "a word and its pieces",
            .found = "nothing"});
  model.file.set("tokenizer.hotwords.dictionary", tokenizers::hotword_pieces::in_order(std::move(lines)));
}

}  // namespace

void set_paraformer_keys(weights::gguf_writer& file, const paraformer_settings& s,
                         const std::vector<std::string>& tokens) {
  const class_of_funasr& of = class_of(s.kind);
  const std::string at = std::string(of.architecture) + ".";
  file.set("general.architecture", std::string(of.architecture));
  file.set("general.name", std::string(of.name));
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
  if (has_second_predictor(s.kind)) {
    file.set(at + "predictor.smooth_factor2", s.smooth_factor2);
    file.set(at + "predictor.noise_threshold2", s.noise_threshold2);
  }
  if (s.kind == paraformer_kind::seaco) {
    file.set(at + "seaco_decoder.attention_heads", s.seaco_heads);
    file.set(at + "seaco_decoder.kernel_size", s.seaco_kernel);
    file.set(at + "seaco_decoder.num_blocks", s.seaco_layers);
    file.set(at + "seaco_decoder.linear_units", s.seaco_units);
    file.set(at + "no_bias", s.no_bias);
  }
  if (s.kind == paraformer_kind::contextual) file.set(at + "clas_scale", s.clas_scale);
  if (s.kind == paraformer_kind::online) {  // what FunASR's documentation and the trained look-backs recommend
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
  for (const class_of_funasr& c : classes)
    if (c.model == f.text("model", "")) s.kind = c.kind;
  const class_of_funasr& of = class_of(s.kind);
  const bool online = s.kind == paraformer_kind::online;
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
  if (s.output_size % s.attention_heads != 0)
    refuse(f, "encoder_conf.attention_heads", "a divisor of output_size " + std::to_string(s.output_size),
           std::to_string(s.attention_heads));
  // Other values of these exist in FunASR and compute something else.
  f.require("encoder", of.encoder);
  require_sanm_encoder(f, "encoder_conf", of.input_layer);
  f.require("decoder", of.decoder);
  f.require("decoder_conf.att_layer_num", std::to_string(s.decoder_blocks));
  // A stream's decoder looks back alone: its FSMN is shifted by half its taps, which null stands for.
  const std::uint32_t shift = f.is_null("decoder_conf.sanm_shfit") ? (s.decoder_kernel - 1) / 2
                                                                   : f.number("decoder_conf.sanm_shfit", 0, 0, 1023);
  if (const std::uint32_t known = online ? (s.decoder_kernel - 1) / 2 : 0; shift != known)
    fail({.where = f.config.string(),
          .what = "decoder_conf.sanm_shfit is not supported",
          .expected = std::to_string(known),
          .found = std::to_string(shift)});
  if (s.kind == paraformer_kind::contextual) f.require("decoder_conf.sanm_shift", "0");  // its class spells it so
  require_decoder(f, "decoder_conf", s.decoder_heads, s.output_size);
  f.require("decoder_conf.use_output_layer", "true");
  f.require("predictor", of.predictor);
  if (has_second_predictor(s.kind)) read_second_predictor(f, s);
  if (reads_hotwords(s.kind)) read_hotwords(f, s);
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
  require_frontend(f, online ? "WavFrontendOnline" : "WavFrontend");
  f.require("tokenizer", "CharTokenizer");
  check_settings(f, unused_by_paraformer, notes);
  return s;
}

void walk_paraformer(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::paraformer_any>(keys, taker); }
void walk_paraformer_online(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::paraformer_online_any>(keys, taker);
}
void walk_bicif_paraformer(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::bicif_paraformer_any>(keys, taker);
}
void walk_seaco_paraformer(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::seaco_paraformer_any>(keys, taker);
}
void walk_contextual_paraformer(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::contextual_paraformer_any>(keys, taker);
}

void promise_paraformer(checkpoint_tensors& from, const paraformer_settings& s, std::size_t vocabulary) {
  const auto d = static_cast<extent>(s.output_size);
  promise_sanm(from, "encoder.", {s.frontend.width(), s.output_size, s.linear_units, s.kernel_size, s.num_blocks});
  from.sizes.push_back({"decoder.*.w_1.weight", static_cast<extent>(s.decoder_units), d});
  from.sizes.push_back({"decoder.*.fsmn_block.weight", static_cast<extent>(s.decoder_kernel), d});
  from.sizes.push_back({"decoder.output_layer.weight", static_cast<extent>(vocabulary), d});
  const extent kept_apart = s.kind == paraformer_kind::contextual ? 1 : 0;  // last_decoder
  from.counts.push_back({"decoder.decoders", static_cast<extent>(s.decoder_blocks) - kept_apart});
  if (s.kind != paraformer_kind::seaco) return;
  from.sizes.push_back({"seaco_decoder.*.w_1.weight", static_cast<extent>(s.seaco_units), d});
  from.sizes.push_back({"seaco_decoder.*.fsmn_block.weight", static_cast<extent>(s.seaco_kernel), d});
  from.counts.push_back({"seaco_decoder.decoders", static_cast<extent>(s.seaco_layers)});
}

imported_model import_paraformer(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  imported_model model;
  const paraformer_settings s = read_paraformer_settings(f, model.notes);
  const std::vector<std::string> tokens = f.read_tokens();
  set_paraformer_keys(model.file, s, tokens);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  if (s.kind == paraformer_kind::seaco)
    from.ignored = {{"seaco_decoder.embed.0.weight", "it reads rows, no tokens"}};
  else
    from.ignored = {"decoder.embed.0.weight"};
  promise_paraformer(from, s, tokens.size());
  take_tensors(model, std::move(from));
  take_cmvn(model, f, cmvn);
  if (reads_hotwords(s.kind)) take_hotword_dictionary(model, f);
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
