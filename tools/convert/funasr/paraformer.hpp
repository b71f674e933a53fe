// tools/convert/funasr/paraformer.hpp - Paraformer: settings, tensors and keys of its packaged file.
//
// Follows Paraformer, SANMEncoder, CifPredictorV2 and ParaformerSANMDecoder of funasr/models/paraformer;
// ParaformerStreaming with SANMEncoderChunkOpt, which has the same tensors; BiCifParaformer with CifPredictorV3;
// SeacoParaformer; and ContextualParaformer with ContextualParaformerDecoder. Defaults are theirs and those of
// WavFrontend. Schema: docs/formats.md. Tested in tests/convert/funasr_test.cpp and paraformer_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "funasr/settings.hpp"
#include "funasr/tensors.hpp"
#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

struct folder;

/// The classes of FunASR's that are Paraformers.
enum class paraformer_kind { offline, online, bicif, seaco, contextual };

struct paraformer_settings {
  paraformer_kind kind = paraformer_kind::offline;
  std::uint32_t output_size = 256, attention_heads = 4, linear_units = 2048, num_blocks = 6, kernel_size = 11;
  std::uint32_t decoder_heads = 4, decoder_units = 2048, decoder_blocks = 6, decoder_kernel = 21;
  float tail_threshold = 0;
  float smooth_factor2 = 1, noise_threshold2 = 0;  ///< of the second predictor (bicif, seaco)
  std::uint32_t seaco_heads = 4, seaco_units = 2048, seaco_layers = 6, seaco_kernel = 21;
  std::uint32_t no_bias = 8377;
  float clas_scale = 1;
  frontend_settings frontend = {};
};

/// The settings of a folder. Throws steno::error for those that compute something else, and for unknown ones that may.
paraformer_settings read_paraformer_settings(const folder& f, std::vector<std::string>& notes);

/// What the settings say of the tensors.
void promise_paraformer(checkpoint_tensors& from, const paraformer_settings& s, std::size_t vocabulary);

/// Walk the models of a packaged file's keys.
void walk_paraformer(const gguf_file& keys, tensor_taker& taker);
void walk_paraformer_online(const gguf_file& keys, tensor_taker& taker);
void walk_bicif_paraformer(const gguf_file& keys, tensor_taker& taker);
void walk_seaco_paraformer(const gguf_file& keys, tensor_taker& taker);
void walk_contextual_paraformer(const gguf_file& keys, tensor_taker& taker);

/// Sets all keys but general.file_type.
void set_paraformer_keys(weights::gguf_writer& file, const paraformer_settings& s,
                         const std::vector<std::string>& tokens);

/// Imports a GGUF file that FunASR publishes. Throws steno::error.
imported_model import_published_paraformer(const std::shared_ptr<gguf_file>& file);

/// Imports the folder; `cmvn` replaces the folder's own am.mvn. Throws steno::error.
imported_model import_paraformer(const folder& f, const std::optional<std::filesystem::path>& cmvn);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
