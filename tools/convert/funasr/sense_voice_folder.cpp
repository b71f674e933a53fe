// tools/convert/funasr/sense_voice_folder.cpp - SenseVoiceSmall from the folder FunASR publishes; see sense_voice.hpp.
#include <steno/error.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>

#include "funasr/am_mvn.hpp"
#include "funasr/folder.hpp"
#include "funasr/sense_voice.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

sense_voice_settings read_sense_voice_settings(const folder& f) {
  sense_voice_settings s;
  constexpr std::uint32_t wide = 65536, deep = limits::layers;
  const auto encoder = [&](const char* key, std::uint32_t& value, std::uint32_t min, std::uint32_t max) {
    value = f.number(std::string("encoder_conf.") + key, value, min, max);
  };
  encoder("output_size", s.output_size, 1, wide);
  encoder("attention_heads", s.attention_heads, 1, 1024);
  encoder("linear_units", s.linear_units, 1, wide);
  encoder("num_blocks", s.num_blocks, 1, deep);
  encoder("tp_blocks", s.tp_blocks, 0, deep);
  encoder("kernel_size", s.kernel_size, 1, 1023);
  const auto frontend = [&](const char* key, std::uint32_t& value, std::uint32_t max) {
    value = f.number(std::string("frontend_conf.") + key, value, 1, max);
  };
  frontend("fs", s.sample_rate, 384000);
  frontend("n_mels", s.n_mels, 1024);
  frontend("frame_length", s.frame_length, 1000);
  frontend("frame_shift", s.frame_shift, 1000);
  frontend("lfr_m", s.lfr_m, 64);
  frontend("lfr_n", s.lfr_n, 64);
  s.window = f.text("frontend_conf.window", s.window);
  s.blank_id = f.number("model_conf.blank_id", 0, 0, 1u << 24);
  if (s.output_size % s.attention_heads != 0)
    fail({.where = f.config.string(),
          .what = "encoder_conf.attention_heads",
          .expected = "a divisor of output_size " + std::to_string(s.output_size),
          .found = std::to_string(s.attention_heads)});
  // Other values of these exist in FunASR and compute something else.
  f.require("encoder", "SenseVoiceEncoderSmall");
  f.require("encoder_conf.input_layer", "pe");
  f.require("encoder_conf.normalize_before", "true");
  f.require("encoder_conf.sanm_shfit", "0");
  f.require("encoder_conf.selfattention_layer_type", "sanm");
  f.require("frontend", "WavFrontend");
  f.require("frontend_conf.snip_edges", "true");
  f.require("frontend_conf.upsacle_samples", "true");
  f.require("tokenizer", "SentencepiecesTokenizer");
  return s;
}

tokenizers::sentencepiece_vocabulary read_pieces(const folder& f) {
  if (!f.pieces)
    fail({.where = f.config.parent_path().string(),
          .what = "the tokenizer is missing",
          .expected = "a file *.bpe.model"});
  const weights::mapped_file file(f.pieces->string());
  return tokenizers::read_sentencepiece_model(file.bytes(), f.pieces->string());
}

}  // namespace

imported_model import_sense_voice(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  const sense_voice_settings s = read_sense_voice_settings(f);
  const tokenizers::sentencepiece_vocabulary v = read_pieces(f);
  if (s.blank_id >= v.pieces.size())
    fail({.where = f.config.string(), .what = "model_conf.blank_id lies beyond the vocabulary"});
  imported_model model;
  set_sense_voice_keys(model.file, s, v);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  promise_sense_voice(from, s, v.pieces.size());
  take_tensors(model, std::move(from));
  if (cmvn || f.cmvn) set_cmvn(model, cmvn ? *cmvn : *f.cmvn);
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
