// tools/convert/nemo/published_gguf.hpp - GGUF files of qvac-parakeet.cpp: what all kinds of models share.
//
// general.architecture is "parakeet-ctc" for all of them, keys are parakeet.*. Each tensor the packaged file needs has
// a name there. A batch norm is stored as scale and shift and goes into the depthwise weights; q, k and v may stand
// there a second time as one matrix, which is ignored. Mel filters and window go into the settings: take_tables().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nemo/fastconformer.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

bool published_flag(const gguf_file& file, const std::string& key, bool otherwise);
/// Throws steno::error unless the key's value, `found`, is `expected`.
void require_published(const gguf_file& file, const std::string& key, const std::string& found,
                       const std::string& expected);
/// Front end and encoder. Throws steno::error.
void read_published_encoder(const gguf_file& file, fastconformer_settings& s);

/// The tensors of such a file; `heads` is its name for one outside of the encoder that a .nemo file calls so.
checkpoint_tensors published_tensors(gguf_file& file, fastconformer_settings& s,
                                     std::function<std::string(std::string)> heads);
/// Throws steno::error for a key of the model that is not one of theirs.
void check_published_keys(const gguf_file& file, std::vector<std::string>& notes);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
