// tools/convert/funasr/sense_voice_folder.cpp - SenseVoiceSmall from the folder FunASR publishes; see sense_voice.hpp.
#include <steno/error.hpp>
#include <steno/tokenizers/sentencepiece_model.hpp>

#include <algorithm>
#include <utility>

#include "funasr/folder.hpp"
#include "funasr/sense_voice.hpp"
#include "torch/checkpoint.hpp"

namespace steno::inline STENO_ABI::funasr {

namespace {

sense_voice_settings read_settings(const folder& f) {
  sense_voice_settings s;
  constexpr std::uint32_t wide = 65536, deep = 1024;
  const auto encoder = [&](const char* key, std::uint32_t& value, std::uint32_t least, std::uint32_t most) {
    value = f.number(std::string("encoder_conf.") + key, value, least, most);
  };
  encoder("output_size", s.output_size, 1, wide);
  encoder("attention_heads", s.attention_heads, 1, 1024);
  encoder("linear_units", s.linear_units, 1, wide);
  encoder("num_blocks", s.num_blocks, 1, deep);
  encoder("tp_blocks", s.tp_blocks, 0, deep);
  encoder("kernel_size", s.kernel_size, 1, 1023);
  const auto frontend = [&](const char* key, std::uint32_t& value, std::uint32_t most) {
    value = f.number(std::string("frontend_conf.") + key, value, 1, most);
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

sentencepiece_vocabulary read_pieces(const folder& f) {
  if (!f.pieces)
    fail({.where = f.config.parent_path().string(),
          .what = "the tokenizer is missing",
          .expected = "a file *.bpe.model"});
  const mapped_file file(f.pieces->string());
  return read_sentencepiece_model(file.bytes(), f.pieces->string());
}

dtype stored_format(torch::scalar type) {
  return type == torch::scalar::f16 ? dtype::f16 : type == torch::scalar::bf16 ? dtype::bf16 : dtype::f32;
}

void read_values(torch::checkpoint& c, const torch::checkpoint::entry& e, bool transposed, std::span<float> out) {
  if (!transposed) return c.read(e, out);
  std::vector<float> values(out.size());
  c.read(e, values);
  const std::size_t features = e.shape[0], taps = e.shape[2];
  for (std::size_t d = 0; d < features; ++d)
    for (std::size_t k = 0; k < taps; ++k) out[k * features + d] = values[d * taps + k];
}

}  // namespace

imported_model import_sense_voice(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  const sense_voice_settings s = read_settings(f);
  const sentencepiece_vocabulary v = read_pieces(f);
  if (s.blank_id >= v.pieces.size())
    fail({.where = f.config.string(), .what = "model_conf.blank_id lies beyond the vocabulary"});
  const auto weights = std::make_shared<torch::checkpoint>(f.weights);
  std::vector<std::pair<std::string, std::vector<extent>>> present;
  for (const auto& e : weights->tensors()) {
    std::vector<extent> shape;
    for (const std::uint64_t n : e.shape) shape.push_back(static_cast<extent>(n));
    present.emplace_back(e.name, std::move(shape));
  }
  const std::vector<expected_tensor> expected = sense_voice_tensors(s, v.pieces.size());
  check_tensors(expected, present, f.weights.string());

  imported_model model;
  model.where = f.weights.string();
  model.source = weights;
  set_sense_voice_keys(model.file, s, v);
  std::uint64_t total = 0;
  for (const expected_tensor& e : expected) {
    const torch::checkpoint::entry* entry = weights->find(e.name);
    imported_tensor t{.name = e.name, .shape = e.shape, .stored = stored_format(entry->type), .product = e.product};
    if (e.memory) t.shape = {e.shape[2], e.shape[0]};
    t.read = [c = weights.get(), entry, transposed = e.memory](std::span<float> out) {
      read_values(*c, *entry, transposed, out);
    };
    total += entry->count * torch::size_of_scalar(entry->type);
    model.tensors.push_back(std::move(t));
  }
  // Tensors may share a storage, but a file whose every tensor is all of it is no checkpoint.
  if (total / 4 > weights->size())
    fail({.where = model.where, .what = "the tensors claim far more than the file holds"});
  if (cmvn || f.cmvn) add_cmvn(model, cmvn ? *cmvn : *f.cmvn, s.input_size());
  return model;
}

}  // namespace steno::inline STENO_ABI::funasr
