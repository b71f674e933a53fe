// tools/convert/funasr/ct_punc.hpp - CT-Transformer punctuation, of whole texts and of streams: settings, tensors and
// keys of its packaged file.
//
// Follows CTTransformer, CTTransformerStreaming, SANMEncoder and SANMVadEncoder of funasr/models; defaults are theirs.
// Schema: docs/formats.md. Tested in tests/convert/ct_punc_test.cpp and tests/parity/ct_punc_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "funasr/tensors.hpp"
#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

struct folder;

struct ct_punc_settings {
  bool streams = false;  ///< CTTransformerStreaming
  std::uint32_t output_size = 256, attention_heads = 4, linear_units = 2048, num_blocks = 6, kernel_size = 11;
  std::uint32_t sentence_end = 3;
  std::vector<std::string> marks;
  std::optional<std::filesystem::path> user_words = {};  ///< a dictionary in whose words texts are cut
};

/// The settings of config.yaml and configuration.json. Throws steno::error.
ct_punc_settings read_ct_punc_settings(const folder& f, std::vector<std::string>& notes);

/// Walk the models of a packaged file's keys.
void walk_ct_punc(const gguf_file& keys, tensor_taker& taker);
void walk_ct_punc_realtime(const gguf_file& keys, tensor_taker& taker);

/// Imports the folder; `cmvn` is refused. Throws steno::error.
imported_model import_ct_punc(const folder& f, const std::optional<std::filesystem::path>& cmvn);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
