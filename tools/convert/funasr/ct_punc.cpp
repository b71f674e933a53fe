// tools/convert/funasr/ct_punc.cpp - see ct_punc.hpp.
#include "funasr/ct_punc.hpp"

#include <steno/error.hpp>
#include <steno/models/ct_punc.hpp>

#include <utility>

#include "funasr/folder.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

ct_punc_settings read_settings(const folder& f) {
  ct_punc_settings s;
  constexpr std::uint32_t wide = 65536;
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t max) {
    value = f.number(key, value, 1, max);
  };
  read("encoder_conf.output_size", s.output_size, wide);
  read("encoder_conf.attention_heads", s.attention_heads, 1024);
  read("encoder_conf.linear_units", s.linear_units, wide);
  read("encoder_conf.num_blocks", s.num_blocks, limits::layers);
  read("encoder_conf.kernel_size", s.kernel_size, 1023);
  const auto list = f.lists.find("model_conf.punc_list");
  if (list == f.lists.end() || list->second.size() < 2 || list->second.size() > 1000)
    fail({.where = f.config.string(), .what = "model_conf.punc_list", .expected = "2 to 1000 marks"});
  s.marks = list->second;
  s.sentence_end =
      f.number("model_conf.sentence_end_id", s.sentence_end, 0, static_cast<std::uint32_t>(s.marks.size()) - 1);
  if (s.output_size % s.attention_heads != 0)
    fail({.where = f.config.string(),
          .what = "encoder_conf.attention_heads",
          .expected = "a divisor of output_size " + std::to_string(s.output_size),
          .found = std::to_string(s.attention_heads)});
  // Other values of these exist in FunASR and compute something else.
  const std::string d = std::to_string(s.output_size);
  f.require("model_conf.embed_unit", d);
  f.require("model_conf.att_unit", d);
  f.require("encoder", "SANMEncoder");
  f.require("encoder_conf.input_size", d);
  f.require("encoder_conf.input_layer", "pe");
  f.require("encoder_conf.normalize_before", "true");
  f.require("encoder_conf.sanm_shfit", "0");
  f.require("encoder_conf.selfattention_layer_type", "sanm");
  f.require("tokenizer", "CharTokenizer");
  if (!f.text("jieba_usr_dict", "").empty())
    fail({.where = f.config.string(),
          .what = "jieba_usr_dict: a model of words that a dictionary of another program makes is not supported",
          .expected = "a model of characters"});
  return s;
}

}  // namespace

void walk_ct_punc(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::ct_punc_any>(keys, taker); }

imported_model import_ct_punc(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  if (cmvn) fail({.where = cmvn->string(), .what = "a punctuation model has no use for an am.mvn"});
  const ct_punc_settings s = read_settings(f);
  const std::vector<std::string> tokens = f.read_tokens();
  imported_model model;
  weights::gguf_writer& file = model.file;
  file.set("general.architecture", "ct_transformer");
  file.set("general.name", "CT-Transformer punctuation");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  file.set("ct_transformer.encoder.attention_heads", s.attention_heads);
  file.set("ct_transformer.encoder.kernel_size", s.kernel_size);
  file.set("ct_transformer.encoder.num_blocks", s.num_blocks);
  file.set("ct_transformer.encoder.output_size", s.output_size);
  file.set("ct_transformer.encoder.linear_units", s.linear_units);
  file.set("ct_transformer.marks", s.marks);
  file.set("ct_transformer.sentence_end", s.sentence_end);
  file.set("tokenizer.ggml.model", "words");
  file.set("tokenizer.ggml.tokens", tokens);
  checkpoint_tensors from = torch::open_tensors(f.weights);
  model.where = from.where;
  const auto d = static_cast<extent>(s.output_size);
  promise_sanm(from, "encoder.", {s.output_size, s.output_size, s.linear_units, s.kernel_size, s.num_blocks});
  from.sizes.push_back({"embed.weight", static_cast<extent>(tokens.size()), d});
  from.sizes.push_back({"decoder.weight", static_cast<extent>(s.marks.size()), d});
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
