// tools/convert/families.cpp - the tables of families.hpp.
#include "families.hpp"

#include "funasr/models.hpp"
#include "nemo/checkpoints.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/sortformer.hpp"
#include "qwen/qwen3_asr.hpp"
#include "wenet/u2.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {

std::span<const packaged_family> packaged_families() {
  static constexpr packaged_family table[] = {
      {"sense_voice", funasr::walk_sense_voice, true},
      {"paraformer", funasr::walk_paraformer, true},
      {"fsmn_vad", funasr::walk_fsmn_vad, true},
      {"paraformer_online", funasr::walk_paraformer_online, true},
      {"ct_transformer", funasr::walk_ct_punc},
      {"u2_conformer", wenet::walk_u2_conformer},
      {"u2_transformer", wenet::walk_u2_transformer},
      {"whisper", whisper_files::walk_whisper},
      {"parakeet_ctc", nemo::walk_parakeet_ctc},
      {"parakeet_transducer", nemo::walk_parakeet_transducer},
      {"sortformer", nemo::walk_sortformer},
      {"qwen3_asr", qwen::walk_asr},
      {"fun_asr_nano", funasr::walk_nano},
      {"qwen3_forced_aligner", qwen::walk_aligner},
  };
  return table;
}

std::span<const published_family> published_families() {
  // "parakeet-ctc" stands in files of transducers and of Sortformer, too.
  static constexpr published_family table[] = {
      {"sensevoice-small", "sense_voice", funasr::import_published_sense_voice},
      {"paraformer", "paraformer", funasr::import_published_paraformer},
      {"fsmn-vad", "fsmn_vad", funasr::import_published_fsmn_vad},
      {"parakeet-ctc", "parakeet_ctc", nemo::import_published},
      {"funasr-sensevoice-encoder", "fun_asr_nano", funasr::import_published_nano},
  };
  return table;
}

std::span<const checkpoint_kind> checkpoint_kinds() {
  static constexpr checkpoint_kind table[] = {
      {"a FunASR folder (config.yaml or configuration.json)", funasr::is_checkpoint, funasr::import_checkpoint},
      {"a WeNet folder (train.yaml)", wenet::is_checkpoint, wenet::import_checkpoint},
      {"a Hugging Face folder of Whisper (config.json)", whisper_files::is_huggingface,
       whisper_files::import_huggingface},
      {"openai's Whisper (.pt)", whisper_files::is_openai, whisper_files::import_openai},
      {"a ggml file of whisper.cpp", nemo::is_ggml, nemo::import_ggml},  // Parakeet; all others are Whisper
      {"a ggml file of Whisper", whisper_files::is_ggml, whisper_files::import_ggml},
      {"a .nemo archive of NeMo", nemo::is_checkpoint, nemo::import_checkpoint},
      {"a Hugging Face folder of Qwen3-ASR (config.json)", qwen::is_checkpoint, qwen::import_checkpoint},
  };
  return table;
}

const packaged_family* find_packaged(std::string_view architecture) {
  for (const packaged_family& f : packaged_families())
    if (f.architecture == architecture) return &f;
  return nullptr;
}

std::string packaged_names() {
  std::string names;
  for (const packaged_family& f : packaged_families()) names.append(names.empty() ? "" : ", ").append(f.architecture);
  return names;
}

}  // namespace STENO_ABI
}  // namespace steno
