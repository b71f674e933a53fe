// tools/convert/nemo/sortformer.hpp - Sortformer (.nemo, or a GGUF file of qvac-parakeet.cpp): settings, tensors, keys.
//
// It becomes "sortformer". `hidden_to_spks`, which inference never reads, is left behind. Schema: docs/formats.md.
// Tested in tests/convert/sortformer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/networks/speaker_cache.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "families.hpp"
#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

struct sortformer_settings : fastconformer_settings {
  std::uint32_t speakers = 4, hidden = 192, layers = 18, inner = 768, attention_heads = 8;
  bool streams = false;
  nn::speaker_cache_options streaming = {};
};

bool is_sortformer(const checkpoint_settings& config);
/// What model_config.yaml says. Throws steno::error for what steno computes differently.
sortformer_settings read_sortformer_settings(const checkpoint_settings& config);

/// What the settings say of the tensors behind the encoder.
void promise_transformer(checkpoint_tensors& from, const sortformer_settings& s);

/// Walks the model of a packaged file's keys.
void walk_sortformer(const gguf_file& keys, tensor_taker& taker);

/// All keys of a packaged file but general.file_type.
void set_sortformer_keys(weights::gguf_writer& file, const sortformer_settings& s);

imported_model import_sortformer(const std::shared_ptr<nemo_archive>& archive);

bool is_published_sortformer(const gguf_file& file);
/// Throws steno::error.
imported_model import_published_sortformer(const std::shared_ptr<gguf_file>& file);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
