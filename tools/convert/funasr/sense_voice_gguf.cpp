// tools/convert/funasr/sense_voice_gguf.cpp - SenseVoiceSmall from the GGUF file that FunASR publishes
// (general.architecture "sensevoice-small", keys sv.*; runtime/llama.cpp of FunASR); see sense_voice.hpp.
//
// What is wrong in these files is not taken over: cmvn.* come from the wrong blocks of am.mvn (shift has one value,
// scale holds the shifts) and are dropped unless both have the model's input size; sv.query_tokens names the form with
// inverse text normalisation, which is not the original's default, and is ignored. They hold pieces without scores.
#include <steno/error.hpp>

#include <algorithm>
#include <utility>

#include "funasr/sense_voice.hpp"
#include "gguf_import.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

namespace {

// FunASR's exporter keeps the pieces alone. Which of them are not text follows from the names SentencePiece's trainer
// gives them.
tokenizers::sentencepiece_vocabulary pieces_of(const gguf_file& file) {
  if (!file.has("sv.vocab"))
    fail({.where = file.where(),
          .what = "holds no vocabulary (key \"sv.vocab\")",
          .hint = "it was exported without the tokenizer; convert the original folder instead"});
  tokenizers::sentencepiece_vocabulary v;
  v.pieces = file.strings("sv.vocab");
  for (const std::string& p : v.pieces) {
    const tokenizers::piece_type type = p == "<unk>"                ? tokenizers::piece_type::unknown
                                        : p == "<s>" || p == "</s>" ? tokenizers::piece_type::control
                                                                    : tokenizers::piece_type::normal;
    v.types.push_back(static_cast<int>(type));
  }
  return v;
}

sense_voice_settings sense_voice_settings_of(const gguf_file& file) {
  sense_voice_settings s;
  constexpr std::uint32_t wide = 65536;
  s.attention_heads = whole_number(file, "sv.attention_heads", 1, 1024);
  s.kernel_size = whole_number(file, "sv.kernel_size", 1, 1023);
  s.num_blocks = whole_number(file, "sv.num_blocks", 1, limits::layers);
  s.tp_blocks = whole_number(file, "sv.tp_blocks", 0, limits::layers);
  s.output_size = whole_number(file, "sv.output_size", 1, wide);
  s.blank_id = whole_number(file, "sv.blank_id", 0, 1u << 24);
  const auto w_1 = file.find("encoder.encoders0.0.feed_forward.w_1.weight");
  if (w_1) s.linear_units = static_cast<std::uint32_t>(std::clamp<extent>(w_1->shape[0], 1, wide));
  // The file does not say how features are made; these are the published model's.
  s.n_mels = 80;
  s.lfr_m = 7;
  s.lfr_n = 6;
  const std::uint32_t input = whole_number(file, "sv.input_size", 1, wide);
  if (input != s.input_size())
    fail({.where = file.where(),
          .what = "key \"sv.input_size\"",
          .expected = std::to_string(s.input_size()) + " (80 bands, 7 frames)",
          .found = std::to_string(input)});
  if (s.output_size % s.attention_heads != 0)
    fail({.where = file.where(), .what = "sv.attention_heads does not divide sv.output_size"});
  return s;
}

}  // namespace

imported_model import_published_sense_voice(const std::shared_ptr<gguf_file>& file) {
  const sense_voice_settings s = sense_voice_settings_of(*file);
  const tokenizers::sentencepiece_vocabulary v = pieces_of(*file);
  if (s.blank_id >= v.pieces.size()) fail({.where = file->where(), .what = "sv.blank_id lies beyond the vocabulary"});
  imported_model model;
  model.where = file->where();
  model.source = file;
  set_sense_voice_keys(model.file, s, v);
  checkpoint_tensors from = published_tensors(*file, s.input_size(), model.notes);
  promise_sense_voice(from, s, v.pieces.size());
  take_tensors(model, std::move(from));
  return model;
}

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
