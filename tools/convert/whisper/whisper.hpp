// tools/convert/whisper/whisper.hpp - Whisper from the files people hold: settings, tensors and keys of the packaged
// one.
//
// openai's .pt, a Hugging Face folder and whisper.cpp's ggml .bin become the same file: tensors have openai's names,
// convolutions are stored tap by tap, ids of special tokens follow from the numbers of tokens and of text tokens.
// Formats without a product (q4_0, q5_1, ...) become f16. Schema: docs/formats.md. Tested in
// tests/convert/whisper_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "families.hpp"
#include "model_tensors.hpp"
#include "string_list.hpp"
#include "tiktoken.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

struct settings {
  std::uint32_t mels = 0, vocabulary = 0, width = 0;
  std::uint32_t audio_context = 0, audio_heads = 0, audio_layers = 0;
  std::uint32_t text_context = 0, text_heads = 0, text_layers = 0;
  /// (layer, head); empty: what the original takes for a checkpoint that it does not know.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> alignment_heads = {};
  /// For vocabularies that are not published ones: ids below the special ones.
  std::uint32_t text = 0;
  std::optional<bool> told_multilingual = {};  ///< "is_multilingual", where it is said

  /// Of generation, where a file says it (steno/models/whisper_generation.hpp).
  std::optional<std::vector<std::uint32_t>> suppressed = {}, first_suppressed = {};
  std::vector<std::string> languages = {};  ///< codes; empty: all
  std::string language = {};                ///< code; empty: detected
  bool translate = false;
  std::optional<std::uint32_t> max_initial = {};
};

/// Ids below the special ones of a published vocabulary; 0 for others.
std::uint32_t text_tokens(std::uint32_t vocabulary);
/// Ids below the special ones.
std::uint32_t text_tokens(const settings& s);

/// The packaged file. `tokens` are the text tokens in GPT-2's byte letters; `tensors` have openai's names and must be
/// exactly those of the settings. Throws steno::error.
imported_model package(std::string where, const settings& s, string_list tokens, std::vector<stored_tensor> tensors,
                       std::shared_ptr<const void> source);

/// Those of a published size; empty for others. `file_name` tells large-v1 from large-v2.
std::vector<std::pair<std::uint32_t, std::uint32_t>> published_alignment_heads(const settings& s,
                                                                               const std::string& file_name);

/// The text tokens from a file beside `beside`: multilingual.tiktoken or gpt2.tiktoken, vocab.json or tokenizer.json;
/// also in its folder "assets"; or from `named`, such a file or a folder with one; else from tokenizer_places(), which
/// is noted. Throws steno::error when there is none.
std::vector<std::string> find_tokens(const std::filesystem::path& beside, const settings& s,
                                     const std::optional<std::filesystem::path>& named,
                                     std::vector<std::string>& notes);
/// Folders of this machine in which published tokenizers lie, if they are there: of installed packages, and of the
/// cache of Hugging Face.
std::vector<std::filesystem::path> tokenizer_places(bool english_only);
/// Compares the numbers of the special tokens of a Hugging Face folder, by their names, with where they must lie: as
/// published ones do. Of a vocabulary that is not a published one (cut down, or made for the model) they set `text`.
/// Throws steno::error.
void read_special_tokens(const std::filesystem::path& folder, settings& s);

/// Walks the model of a packaged file's keys.
void walk_whisper(const gguf_file& keys, tensor_taker& taker);

bool is_openai(const std::filesystem::path& path);
imported_model import_openai(const std::filesystem::path& path, const import_options& options);
bool is_huggingface(const std::filesystem::path& path);
imported_model import_huggingface(const std::filesystem::path& path, const import_options& options);
bool is_mlx(const std::filesystem::path& path);
imported_model import_mlx(const std::filesystem::path& path, const import_options& options);
bool is_ctranslate2(const std::filesystem::path& path);
/// A model.bin, the bytes of `keep` (null: of memory that outlives the model), and what lies beside it in `folder`.
imported_model read_ctranslate2(const std::string& where, std::span<const std::byte> bytes,
                                const std::filesystem::path& folder, const import_options& options,
                                std::shared_ptr<weights::mapped_file> keep);
imported_model import_ctranslate2(const std::filesystem::path& path, const import_options& options);
bool is_ggml(const std::filesystem::path& path);
/// The bytes of `file` (null: of memory that outlives the model).
imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes,
                         std::shared_ptr<weights::mapped_file> file);
imported_model import_ggml(const std::filesystem::path& path, const import_options& options);

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno
