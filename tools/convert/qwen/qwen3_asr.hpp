// tools/convert/qwen/qwen3_asr.hpp - Hugging Face folders of Qwen3-ASR and Qwen3-ForcedAligner as packaged files.
//
// Tensors keep their names ("thinker.audio_tower.*", "thinker.model.*", "thinker.lm_head.weight"); folders that leave
// "thinker." away, or say "model.language_model." for the language model, are taken as well. 2-D kernels are stored
// [out, time * band * in] and conv_out reads bands before channels, because activations lie as frame, band, channel. An
// lm_head that equals embed_tokens is left out. Schema: docs/formats.md. Tested in tests/convert/qwen3_asr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "families.hpp"
#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace qwen_files {

inline constexpr std::string_view asr_architecture = "qwen3_asr", longest_clip_key = "qwen3_asr.longest_clip";

/// Sizes of Qwen3 and of the audio tower, as config.json has them.
struct decoder_settings {
  std::uint32_t width = 0, layers = 0, heads = 0, key_heads = 0, head_width = 0, units = 0, vocabulary = 0, outputs = 0,
                theta = 1000000;
};
struct tower_settings {
  std::uint32_t mels = 128, width = 0, layers = 0, heads = 0, units = 0, channels = 0, output = 0, window = 50,
                infer = 800;
};

/// What the settings say of the language model's tensors, with names below `prefix` ("thinker."). `head`: it has an
/// lm_head of its own.
void promise(checkpoint_tensors& from, const std::string& prefix, const decoder_settings& s, bool head);

/// Sizes from the config.json of a Qwen3 model; one without layers has no more than a width and a vocabulary. Throws
/// steno::error.
decoder_settings read_decoder_config(const std::filesystem::path& file, std::vector<std::string>& notes);
/// Tokens that end a text: "eos_token_id" of a JSON file; empty when it does not say. Throws steno::error.
std::vector<std::int32_t> read_ends(const std::filesystem::path& file);

/// tokenizer.ggml.* from vocab.json, merges.txt and tokenizer_config.json of the folder, or from tokenizer.json.
/// Throws steno::error, also when there are more than `rows` tokens.
void add_tokenizer(weights::gguf_writer& file, const std::filesystem::path& folder, std::uint32_t rows);

/// Walk the models of a packaged file's keys.
void walk_asr(const gguf_file& keys, tensor_taker& taker);
void walk_aligner(const gguf_file& keys, tensor_taker& taker);

bool is_checkpoint(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

}  // namespace qwen_files
}  // namespace STENO_ABI
}  // namespace steno
