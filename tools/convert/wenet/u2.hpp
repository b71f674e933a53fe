// tools/convert/wenet/u2.hpp - WeNet's U2 and U2++ models: settings, tensors and keys of their packaged files.
//
// Follows init_model.py and the classes of wenet/models/transformer; defaults are theirs. Names are the checkpoint's
// own. What changes: batch norm goes into the depthwise weights, kernels are stored tap by tap, 2-D kernels channel
// last, and the linear after them expects bands before channels. `*.pe`, counters and the unused `concat_linear` of
// early versions are left out. Schema: docs/formats.md. Tested in tests/convert/wenet_test.cpp.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "families.hpp"
#include "torch/layouts.hpp"

namespace steno::inline STENO_ABI::wenet {

struct u2_settings {
  bool conformer = true, relative = true, causal = false, batch_norm = true, dynamic_chunk = false,
       bidirectional = false;
  std::uint32_t rate = 4, width = 256, heads = 4, units = 2048, blocks = 6, taps = 15, activation = 3;
  std::uint32_t decoder_heads = 4, decoder_units = 2048, decoder_blocks = 6, reverse_blocks = 0;
  std::uint32_t mels = 80, vocabulary = 0, blank = 0, sos = 0, eos = 0;
  float reverse_weight = 0;
};

using torch::layout;
using u2_tensor = torch::laid_out_tensor;

struct folder;
/// What train.yaml says of a model with so many units. Throws steno::error for what steno computes differently.
u2_settings read_settings(const folder& f, std::size_t vocabulary);

/// All tensors but batch norms and cmvn.
std::vector<u2_tensor> u2_tensors(const u2_settings& s);

/// Whether a tensor of a packaged file may change its number format.
bool is_u2_product(const std::string& name, std::size_t rank);

/// A folder with train.yaml, its train.yaml, or a torch file beside it.
bool is_checkpoint(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

}  // namespace steno::inline STENO_ABI::wenet
