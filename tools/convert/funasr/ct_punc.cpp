// tools/convert/funasr/ct_punc.cpp - see ct_punc.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "funasr/ct_punc.hpp"

#include <steno/error.hpp>
#include <steno/models/ct_punc.hpp>
#include <steno/models/ct_punc_realtime.hpp>

#include <utility>

#include "funasr/folder.hpp"
#include "funasr/settings.hpp"
#include "funasr/word_tables.hpp"
#include "limits.hpp"
#include "torch/tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

constexpr unused_setting unused_by_ct_punc[] = {
    {"model_conf.punc_weight", "training alone reads it"},
    {"model_conf.vocab_size", "FunASR counts it anew"},
    {"tokenizer_conf.jieba_usr_dict", "FunASR's tokenizer keeps it and does not read it"},
};

// Where FunASR names a dictionary, it counts when the file is in the folder. Without configuration.json the file of
// this name is taken.
std::optional<std::filesystem::path> find_user_words(const folder& f, std::vector<std::string>& notes) {
  const char* const key = "jieba_usr_dict";
  if (const auto named = f.file_if_there(key)) return named;
  const std::filesystem::path beside = f.root / key;
  if (f.names.settings.empty() && std::filesystem::exists(beside)) return beside;
  if (f.names.has(std::string("file_path_metas.").append(key)) || f.has(key))
    notes.push_back(f.root.string() + ": has no file " + key +
                    ", which its settings name: texts are cut into characters, as FunASR cuts them without it");
  return std::nullopt;
}

}  // namespace

ct_punc_settings read_ct_punc_settings(const folder& f, std::vector<std::string>& notes) {
  ct_punc_settings s;
  s.streams = f.text("model", "") == "CTTransformerStreaming";
  constexpr std::uint32_t wide = 65536;
  const auto read = [&](const char* key, std::uint32_t& value, std::uint32_t max) {
    value = f.number(key, value, 1, max);
  };
  read("encoder_conf.output_size", s.output_size, wide);
  read("encoder_conf.attention_heads", s.attention_heads, 1024);
  read("encoder_conf.linear_units", s.linear_units, wide);
  read("encoder_conf.num_blocks", s.num_blocks, limits::layers);
  read("encoder_conf.kernel_size", s.kernel_size, 1023);
  f.mark_read("model_conf.punc_list");
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
  f.require("encoder", s.streams ? "SANMVadEncoder" : "SANMEncoder");
  f.require("encoder_conf.input_size", d);
  // The memory of streams looks back alone: half the taps, by which its window is shifted, is all that is in front.
  const std::uint32_t shift = s.kernel_size - 1 - (s.kernel_size - 1) / 2;
  if (s.streams && !f.has("encoder_conf.sanm_shfit"))
    fail({.where = f.config.string(), .what = "encoder_conf.sanm_shfit", .expected = std::to_string(shift)});
  require_sanm_encoder(f, "encoder_conf", "pe", s.streams ? shift : 0);
  f.require("tokenizer", "CharTokenizer");
  f.require("normalize", "null");
  f.require("split_size", "20");
  if (s.streams && f.file_if_there("jieba_usr_dict"))
    fail({.where = f.config.string(),
          .what = "jieba_usr_dict: the model for streams cuts texts into characters",
          .expected = "none"});
  if (!s.streams) s.user_words = find_user_words(f, notes);
  f.names.mark_read("file_path_metas.tokenizer_conf.jieba_usr_dict");  // where it is ignored
  check_settings(f, unused_by_ct_punc, notes);
  return s;
}

void walk_ct_punc(const gguf_file& keys, tensor_taker& taker) { walk_model<funasr::ct_punc_any>(keys, taker); }
void walk_ct_punc_realtime(const gguf_file& keys, tensor_taker& taker) {
  walk_model<funasr::ct_punc_realtime_any>(keys, taker);
}

imported_model import_ct_punc(const folder& f, const std::optional<std::filesystem::path>& cmvn) {
  if (cmvn) fail({.where = cmvn->string(), .what = "a punctuation model has no use for an am.mvn"});
  imported_model model;
  const ct_punc_settings s = read_ct_punc_settings(f, model.notes);
  const std::vector<std::string> tokens = f.read_tokens();
  weights::gguf_writer& file = model.file;
  const std::string architecture(s.streams ? funasr::ct_punc_realtime_any::architecture
                                           : funasr::ct_punc_any::architecture);
  file.set("general.architecture", architecture);
  file.set("general.name", s.streams ? "CT-Transformer punctuation of streams" : "CT-Transformer punctuation");
  file.set("steno.version",
           std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch));
  const auto set = [&](const char* key, const auto& value) { file.set(architecture + "." + key, value); };
  set("encoder.attention_heads", s.attention_heads);
  set("encoder.kernel_size", s.kernel_size);
  set("encoder.num_blocks", s.num_blocks);
  set("encoder.output_size", s.output_size);
  set("encoder.linear_units", s.linear_units);
  set("marks", s.marks);
  set("sentence_end", s.sentence_end);
  file.set("tokenizer.ggml.model", "words");
  file.set("tokenizer.ggml.tokens", tokens);
  if (s.user_words) {
    const tokenizers::word_dictionary words = read_word_tables(*s.user_words, f.common_words, model.notes);
    std::vector<std::string> list;
    std::vector<std::uint32_t> frequencies;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words.frequency(i) == 0) continue;
      list.emplace_back(words.word(i));
      frequencies.push_back(words.frequency(i));
    }
    set("dictionary.words", list);
    set("dictionary.frequencies", frequencies);
    set("dictionary.total", words.total);
    model.takes_jieba_dict = true;
  }
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
