// tools/convert/funasr/sense_voice_folder.cpp - SenseVoiceSmall from the folder FunASR publishes; see sense_voice.hpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/models/sense_voice.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>

#include <algorithm>
#include <iterator>

#include "funasr/am_mvn.hpp"
#include "funasr/folder.hpp"
#include "funasr/sense_voice.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

constexpr std::string_view by_training = "training alone reads it";
constexpr unused_setting unused_by_sense_voice[] = {
    {"model_conf.sos", by_training},
    {"model_conf.eos", by_training},
    {"output_timestamp", "times are always given"},
};

tokenizers::sentencepiece_vocabulary read_pieces(const folder& f) {
  if (!f.pieces)
    fail({.where = f.config.parent_path().string(),
          .what = "the tokenizer is missing",
          .expected = "a file *.bpe.model"});
  const weights::mapped_file file(f.pieces->string());
  return tokenizers::read_sentencepiece_model(file.bytes(), f.pieces->string());
}

}  // namespace

sense_voice_settings read_sense_voice_settings(const folder& f, std::vector<std::string>& notes) {
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
  s.frontend = read_frontend(f);
  s.blank_id = f.number("model_conf.blank_id", 0, 0, 1u << 24);
  if (s.output_size % s.attention_heads != 0)
    fail({.where = f.config.string(),
          .what = "encoder_conf.attention_heads",
          .expected = "a divisor of output_size " + std::to_string(s.output_size),
          .found = std::to_string(s.attention_heads)});
  s.language = f.text("language", s.language);  // arguments of generate(), which config.yaml may hold
  const auto& known = funasr::sense_voice_languages;
  if (std::none_of(std::begin(known), std::end(known), [&](const auto& l) { return l.first == s.language; })) {
    notes.push_back(f.config.string() + ": the model does not know the language " + steno::weights::quoted(s.language) +
                    " and finds it by itself, as in FunASR");
    s.language = "auto";
  }
  const std::string norm = f.text("text_norm", f.flag("use_itn", false) ? "withitn" : "woitn");
  if (norm != "withitn" && norm != "woitn")
    fail({.where = f.config.string(),
          .what = "text_norm",
          .expected = "withitn or woitn",
          .found = steno::weights::quoted(norm)});
  s.use_itn = norm == "withitn";
  // Other values of these exist in FunASR and compute something else.
  f.require("encoder", "SenseVoiceEncoderSmall");
  require_sanm_encoder(f, "encoder_conf");
  require_frontend(f, "WavFrontend");
  f.require("normalize", "null");
  f.require("ctc_conf.extra_linear", "true");
  f.require("ban_emo_unk", "false");
  f.require("tokenizer", "SentencepiecesTokenizer");
  check_settings(f, unused_by_sense_voice, notes);
  return s;
}

imported_model import_sense_voice(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  imported_model model;
  const sense_voice_settings s = read_sense_voice_settings(f, model.notes);
  const tokenizers::sentencepiece_vocabulary v = read_pieces(f);
  if (s.blank_id >= v.pieces.size())
    fail({.where = f.config.string(), .what = "model_conf.blank_id lies beyond the vocabulary"});
  set_sense_voice_keys(model.file, s, v);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  promise_sense_voice(from, s, v.pieces.size());
  take_tensors(model, std::move(from));
  take_cmvn(model, f, cmvn);
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
