// tools/convert/nemo/parakeet.hpp - Parakeet (.nemo): settings, tensors and keys of packaged files.
//
// CTC becomes "parakeet_ctc"; RNN-T and TDT become "parakeet_transducer", with the CTC head of a hybrid beside it.
// Schema: docs/formats.md. Tested in tests/convert/nemo_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/nemo_prompts.hpp>
#include <steno/tokenizers/vocabulary.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "families.hpp"
#include "nemo/fastconformer.hpp"
#include "nemo/tokenizers.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

/// Languages that a model is told, and what it does with them.
struct prompt_settings {
  std::uint32_t count = 0;  ///< of prompts; 0: none
  std::uint32_t inner = 0;  ///< width between the products of the projection; 0: the tensors say it
  nemo::nemo_prompts languages = {};
  std::string kernel = "prompt_kernel";  ///< what the checkpoint calls the projection
};

struct parakeet_settings : fastconformer_settings, tokenizer_settings {
  bool transducer = false, hybrid = false;
  std::uint32_t vocabulary = 0;  ///< without blank
  std::uint32_t predictor = 640, predictor_layers = 1, joint = 640, max_symbols = 10;
  std::vector<std::int32_t> durations;  ///< TDT only
  prompt_settings prompts = {};
  std::string architecture() const { return transducer ? "parakeet_transducer" : "parakeet_ctc"; }
};

/// What model_config.yaml says. Throws steno::error for what steno computes differently.
parakeet_settings read_parakeet_settings(const checkpoint_settings& config);

/// Throws steno::error unless the names of languages have as many numbers, all below the number of prompts. Of equal
/// names the last one counts.
void check_prompts(prompt_settings& p, const std::string& where, const std::string& what);

/// Throws steno::error unless the durations of a TDT model, which are not negative, lead on to later frames.
void check_durations(const parakeet_settings& s, const std::string& where);

/// What the settings say of the heads' tensors.
void promise_heads(checkpoint_tensors& from, const parakeet_settings& s);

/// Walk the models of a packaged file's keys.
void walk_parakeet_ctc(const gguf_file& keys, tensor_taker& taker);
void walk_parakeet_transducer(const gguf_file& keys, tensor_taker& taker);

/// All keys of a packaged file but general.file_type.
void set_parakeet_keys(weights::gguf_writer& file, const parakeet_settings& s,
                       const tokenizers::sentencepiece_vocabulary& v);

imported_model import_parakeet(const std::shared_ptr<nemo_archive>& archive);

/// The values of a GGUF file of qvac-parakeet.cpp that holds a Parakeet. Throws steno::error.
imported_model import_published_parakeet(const std::shared_ptr<gguf_file>& file);

/// A ggml file of whisper.cpp's parakeet (TDT alone), the bytes of `file` (null: of
/// memory that outlives the model). Throws steno::error.
imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes,
                         std::shared_ptr<weights::mapped_file> file);
/// True for a ggml file whose header is Parakeet's, not Whisper's.
bool is_ggml(const std::filesystem::path& path);
imported_model import_ggml(const std::filesystem::path& path, const import_options& options);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
