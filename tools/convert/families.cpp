// tools/convert/families.cpp - the tables of families.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include "funasr/models.hpp"
#include "language/arpa.hpp"
#include "nemo/canary.hpp"
#include "nemo/checkpoints.hpp"
#include "nemo/other_gguf.hpp"
#include "nemo/parakeet.hpp"
#include "nemo/parakeet_folder.hpp"
#include "nemo/sortformer.hpp"
#include "qwen/qwen3_asr.hpp"
#include "silero/silero.hpp"
#include "wenet/u2.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {

std::span<const packaged_family> packaged_families() {
  static constexpr packaged_family table[] = {
      {"sense_voice", funasr_files::walk_sense_voice, true},
      {"paraformer", funasr_files::walk_paraformer, true},
      {"fsmn_vad", funasr_files::walk_fsmn_vad, true},
      {"silero_vad", silero_files::walk_silero_vad},
      {"paraformer_online", funasr_files::walk_paraformer_online, true},
      {"bicif_paraformer", funasr_files::walk_bicif_paraformer, true},
      {"seaco_paraformer", funasr_files::walk_seaco_paraformer, true},
      {"contextual_paraformer", funasr_files::walk_contextual_paraformer, true},
      {"ct_transformer", funasr_files::walk_ct_punc},
      {"ct_transformer_streaming", funasr_files::walk_ct_punc_realtime},
      {"u2_conformer", wenet_files::walk_u2_conformer},
      {"u2_transformer", wenet_files::walk_u2_transformer},
      {"whisper", whisper_files::walk_whisper},
      {"parakeet_ctc", nemo_files::walk_parakeet_ctc},
      {"parakeet_transducer", nemo_files::walk_parakeet_transducer},
      {"canary", nemo_files::walk_canary},
      {"sortformer", nemo_files::walk_sortformer},
      {"qwen3_asr", qwen_files::walk_asr},
      {"fun_asr_nano", funasr_files::walk_nano},
      {"qwen3_forced_aligner", qwen_files::walk_aligner},
      {"ngram", language_files::walk_ngram},
  };
  return table;
}

std::span<const published_family> published_families() {
  // "parakeet-ctc" stands in files of transducers and of Sortformer, too.
  static constexpr published_family table[] = {
      {"sensevoice-small", "sense_voice", funasr_files::import_published_sense_voice},
      {"paraformer", "paraformer", funasr_files::import_published_paraformer},
      {"fsmn-vad", "fsmn_vad", funasr_files::import_published_fsmn_vad},
      {"parakeet-ctc", "parakeet_ctc", nemo_files::import_published},
      {"parakeet", "parakeet_transducer", nemo_files::import_other_parakeet},
      {"nemotron", "parakeet_transducer", nemo_files::import_other_parakeet},
      {"sortformer", "sortformer", nemo_files::import_other_sortformer},
      {"funasr-sensevoice-encoder", "fun_asr_nano", funasr_files::import_published_nano},
  };
  return table;
}

std::span<const checkpoint_kind> checkpoint_kinds() {
  static constexpr checkpoint_kind table[] = {
      {"a FunASR folder (config.yaml or configuration.json)", funasr_files::is_checkpoint,
       funasr_files::import_checkpoint},
      {"a WeNet folder (train.yaml)", wenet_files::is_checkpoint, wenet_files::import_checkpoint},
      // Before those of transformers, whose model_type it may have.
      {"an MLX folder of Whisper (config.json)", whisper_files::is_mlx, whisper_files::import_mlx},
      {"a Hugging Face folder of Whisper (config.json)", whisper_files::is_huggingface,
       whisper_files::import_huggingface},
      {"a faster-whisper folder (model.bin)", whisper_files::is_ctranslate2, whisper_files::import_ctranslate2},
      {"openai's Whisper (.pt)", whisper_files::is_openai, whisper_files::import_openai},
      {"a ggml file of Silero VAD", silero_files::is_ggml, silero_files::import_ggml},
      {"safetensors of Silero VAD", silero_files::is_safetensors, silero_files::import_safetensors},
      {"an ONNX file of Silero VAD", silero_files::is_onnx, silero_files::import_onnx, true},
      {"a ggml file of whisper.cpp", nemo_files::is_ggml, nemo_files::import_ggml},  // Parakeet; all others are Whisper
      {"a ggml file of Whisper", whisper_files::is_ggml, whisper_files::import_ggml},
      {"a .nemo archive of NeMo", nemo_files::is_checkpoint, nemo_files::import_checkpoint},
      {"a Hugging Face folder of Parakeet or Nemotron (config.json)", nemo_files::is_parakeet_folder,
       nemo_files::import_parakeet_folder},
      {"a Hugging Face folder of Qwen3-ASR (config.json)", qwen_files::is_checkpoint, qwen_files::import_checkpoint},
      {"an ARPA language model", language_files::is_arpa, language_files::import_arpa},
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
