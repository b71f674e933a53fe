// tools/convert/nemo/canary.hpp - Canary (.nemo): settings, tensors and keys of packaged files.
//
// `EncDecMultiTaskModel`: FastConformer, encoder_decoder_proj where its width is not the decoder's, a transformer
// decoder whose embedding is the weight of its scores, too. Schema: docs/formats.md. Tested in
// tests/convert/canary_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/canary_prompt.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "families.hpp"
#include "nemo/fastconformer.hpp"
#include "nemo/tokenizers.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

struct canary_settings : fastconformer_settings, tokenizer_settings {
  std::string prompt_format = "canary2";
  std::uint32_t hidden = 1024, layers = 8, attention_heads = 8, context = 1024;  ///< of the decoder
  std::uint32_t beam = 1;
  double length_penalty = 0;
  std::int32_t max_generation_delta = -1;
  bool writes_times = true;  ///< false: a second model in the archive finds them, `timestamps_asr_model_*`
  std::vector<nemo::canary_part> parts = {};  ///< of an aggregate tokenizer
};

bool is_canary(const checkpoint_settings& config);
/// What model_config.yaml says. Throws steno::error for what steno computes differently.
canary_settings read_canary_settings(const checkpoint_settings& config);
/// Walks the model of a packaged file's keys.
void walk_canary(const gguf_file& keys, tensor_taker& taker);

imported_model import_canary(const std::shared_ptr<nemo_archive>& archive);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
