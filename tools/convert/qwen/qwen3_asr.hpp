// tools/convert/qwen/qwen3_asr.hpp - Hugging Face folders of Qwen3-ASR and Qwen3-ForcedAligner as packaged files.
//
// Tensors keep their names ("thinker.audio_tower.*", "thinker.model.*", "thinker.lm_head.weight"); folders that leave
// "thinker." away, or say "model.language_model." for the language model, are taken as well. 2-D kernels are stored
// [out, time * band * in] and conv_out reads bands before channels, because activations lie as frame, band, channel. An
// lm_head that equals embed_tokens is left out. Schema: docs/formats.md. Tested in tests/convert/qwen3_asr_test.cpp.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "families.hpp"
#include "stored_tensor.hpp"

namespace steno::inline STENO_ABI::qwen {

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

/// A tensor that a model has.
struct expected_tensor {
  enum class layout { same, kernel, bands_first };
  std::string name;
  std::vector<extent> shape;  ///< in the checkpoint
  bool product = false;
  layout made = layout::same;
};
/// Those of the language model, with names below `prefix` ("thinker."); lm_head is the last one.
std::vector<expected_tensor> decoder_tensors(const decoder_settings& s, const std::string& prefix);

/// Sizes from the config.json of a Qwen3 model; one without layers has no more than a width and a vocabulary. Throws
/// steno::error.
decoder_settings read_decoder_config(const std::filesystem::path& file);
/// Tokens that end a text: "eos_token_id" of a JSON file; empty when it does not say. Throws steno::error.
std::vector<std::int32_t> read_ends(const std::filesystem::path& file);

/// Compares and takes the tensors; everything missing, unexpected or misshapen is named in one steno::error. A
/// `prefix` + lm_head.weight that is not there or equals embed_tokens is left out when `may_be_tied`.
void take_tensors(imported_model& model, const std::vector<expected_tensor>& expected,
                  std::vector<stored_tensor> tensors, const std::string& prefix, bool may_be_tied);

/// tokenizer.ggml.* from vocab.json, merges.txt and tokenizer_config.json of the folder, or from tokenizer.json.
/// Throws steno::error, also when there are more than `rows` tokens.
void add_tokenizer(gguf_writer& file, const std::filesystem::path& folder, std::uint32_t rows);

/// Whether a tensor of a packaged file may change its number format.
bool is_product(const std::string& name, std::size_t rank);

bool is_checkpoint(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

}  // namespace steno::inline STENO_ABI::qwen
