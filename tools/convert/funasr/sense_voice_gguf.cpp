// tools/convert/funasr/sense_voice_gguf.cpp - SenseVoiceSmall from the GGUF file that FunASR publishes
// (general.architecture "sensevoice-small", keys sv.*; runtime/llama.cpp of FunASR); see sense_voice.hpp.
//
// What is wrong in these files is not taken over: cmvn.* come from the wrong blocks of am.mvn (shift has one value,
// scale holds the shifts) and are dropped unless both have the model's input size. They hold pieces without scores.
// sv.query_tokens are the rows of `embed` in front of the features: a language, 1, 2, and the text normalisation.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/models/sense_voice.hpp>

#include <algorithm>
#include <utility>

#include "funasr/sense_voice.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

// FunASR's exporter keeps the pieces alone. Which of them are not text follows from the names SentencePiece's trainer
// gives them.
tokenizers::sentencepiece_vocabulary pieces_of(const gguf_file& file, const published_keys& keys) {
  if (!file.has("sv.vocab"))
    fail({.where = file.where(),
          .what = "holds no vocabulary (key \"sv.vocab\")",
          .hint = "it was exported without the tokenizer; convert the original folder instead"});
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = keys.strings("sv.vocab");
  for (const std::string& p : v.pieces) {
    const tokenizers::piece_type type = p == "<unk>"                ? tokenizers::piece_type::unknown
                                        : p == "<s>" || p == "</s>" ? tokenizers::piece_type::control
                                                                    : tokenizers::piece_type::normal;
    v.types.push_back(static_cast<int>(type));
  }
  return v;
}

sense_voice_settings sense_voice_settings_of(const gguf_file& file, const published_keys& keys) {
  sense_voice_settings s;
  constexpr std::uint32_t wide = 65536;
  s.attention_heads = keys.number("sv.attention_heads", 1, 1024);
  s.kernel_size = keys.number("sv.kernel_size", 1, 1023);
  s.num_blocks = keys.number("sv.num_blocks", 1, limits::layers);
  s.tp_blocks = keys.number("sv.tp_blocks", 0, limits::layers);
  s.output_size = keys.number("sv.output_size", 1, wide);
  s.blank_id = keys.number("sv.blank_id", 0, 1u << 24);
  const auto w_1 = file.find("encoder.encoders0.0.feed_forward.w_1.weight");
  if (w_1) s.linear_units = static_cast<std::uint32_t>(std::clamp<extent>(w_1->shape[0], 1, wide));
  // The file does not say how features are made; these are the published model's.
  s.frontend.n_mels = 80;
  s.frontend.lfr_m = 7;
  s.frontend.lfr_n = 6;
  const std::uint32_t input = keys.number("sv.input_size", 1, wide);
  if (input != s.frontend.width())
    fail({.where = file.where(),
          .what = "key \"sv.input_size\"",
          .expected = std::to_string(s.frontend.width()) + " (80 bands, 7 frames)",
          .found = std::to_string(input)});
  if (s.output_size % s.attention_heads != 0)
    fail({.where = file.where(), .what = "sv.attention_heads does not divide sv.output_size"});
  return s;
}

void read_query(const gguf_file& file, const published_keys& keys, sense_voice_settings& s) {
  const std::vector<double> rows = keys.numbers("sv.query_tokens");
  if (rows.empty()) return;
  s.language.clear();
  for (const auto& [name, row] : funasr::sense_voice_languages)
    if (rows[0] == static_cast<double>(row)) s.language = name;
  if (rows.size() == 4 && !s.language.empty() && rows[1] == 1 && rows[2] == 2 && (rows[3] == 14 || rows[3] == 15)) {
    s.use_itn = rows[3] == 14;
    return;
  }
  std::string found;
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 8); ++i)
    found.append(i == 0 ? "" : ", ").append(weights::number_text(rows[i]));
  fail({.where = file.where(),
        .what = "key \"sv.query_tokens\"",
        .expected = "the row of a language, 1, 2, and 14 or 15",
        .found = found});
}

}  // namespace

imported_model import_published_sense_voice(const std::shared_ptr<gguf_file>& file) {
  const published_keys keys(*file);
  sense_voice_settings s = sense_voice_settings_of(*file, keys);
  read_query(*file, keys, s);
  const tokenizers::sentencepiece_vocabulary v = pieces_of(*file, keys);
  if (s.blank_id >= v.pieces.size()) fail({.where = file->where(), .what = "sv.blank_id lies beyond the vocabulary"});
  imported_model model;
  constexpr unused_setting unused[] = {{"sv.vocab_size", "the pieces say it"}};
  keys.check("sv.", unused, model.notes);
  model.where = file->where();
  model.source = file;
  set_sense_voice_keys(model.file, s, v);
  checkpoint_tensors from = published_tensors(*file, s.frontend.width());
  promise_sense_voice(from, s, v.pieces.size());
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
