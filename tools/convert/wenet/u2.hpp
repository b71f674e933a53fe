// tools/convert/wenet/u2.hpp - WeNet's U2 and U2++ models: settings, tensors and keys of their packaged files.
//
// Follows init_model.py and the classes of wenet/models/transformer; defaults are theirs. Names are the checkpoint's
// own. What changes: batch norm goes into the depthwise weights, kernels are stored tap by tap, 2-D kernels channel
// last, and the linear after them expects bands before channels. `*.pe`, counters and the unused `concat_linear` of
// early versions are left out. Schema: docs/formats.md. Tested in tests/convert/wenet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "families.hpp"
#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace wenet_files {

struct u2_settings {
  bool conformer = true, relative = true, causal = false, batch_norm = true, dynamic_chunk = false,
       bidirectional = false;
  std::uint32_t rate = 4, width = 256, heads = 4, units = 2048, blocks = 6, taps = 15, activation = 3;
  std::uint32_t decoder_heads = 4, decoder_units = 2048, decoder_blocks = 6, reverse_blocks = 0;
  std::uint32_t mels = 80, vocabulary = 0, blank = 0, sos = 0, eos = 0;
  float reverse_weight = 0;
};

struct folder;
/// What train.yaml says of a model with so many units. Throws steno::error for what steno computes differently.
u2_settings read_settings(const folder& f, std::size_t vocabulary);
/// Behind the last look-up: refuses settings that steno does not know. Throws steno::error.
void check_settings(const folder& f, std::vector<std::string>& notes);

/// What the settings say of the tensors; position tables, counters and the like need not be used.
void promise(checkpoint_tensors& from, const u2_settings& s);

/// Keys of the packaged file but those of the tokenizer and general.file_type.
void set_keys(weights::gguf_writer& file, const u2_settings& s);

/// Walk the models of a packaged file's keys.
void walk_u2_conformer(const gguf_file& keys, tensor_taker& taker);
void walk_u2_transformer(const gguf_file& keys, tensor_taker& taker);

/// A folder with train.yaml, its train.yaml, or a torch file beside it.
bool is_checkpoint(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

}  // namespace wenet_files
}  // namespace STENO_ABI
}  // namespace steno
