// tools/convert/families.hpp - the families of models the converter knows; a new one adds a row to each table.
//
// A packaged family is known by its architecture; a published one by the architecture in GGUF files that the original's
// authors made. A kind of checkpoint is anything else people download (a folder, an archive): it is recognised by its
// content, in the order of the table. Tested in tests/convert.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "imported_model.hpp"

namespace steno {
inline namespace STENO_ABI {

class tensor_taker;

/// A packaged GGUF of steno.
struct packaged_family {
  std::string_view architecture;
  /// Walks the model that such a file holds (model_tensors.hpp).
  void (*walk)(const gguf_file& keys, tensor_taker& taker);
  bool supports_am_mvn = false;  ///< FunASR's am.mvn normalises the features
};
std::span<const packaged_family> packaged_families();
const packaged_family* find_packaged(std::string_view architecture);

/// A GGUF file of another maker; `family` is the packaged architecture it becomes.
struct published_family {
  std::string_view architecture, family;
  imported_model (*import)(const std::shared_ptr<gguf_file>& file);
};
std::span<const published_family> published_families();

struct import_options {
  std::optional<std::filesystem::path> cmvn = {};  ///< an am.mvn instead of the checkpoint's own
  /// Text tokens of a checkpoint without them (openai's Whisper), or a folder that holds them.
  std::optional<std::filesystem::path> tokenizer = {};
  /// Seconds that a Qwen3-ASR model understands at once, instead of what its folder or file says.
  std::optional<double> longest_clip = {};
  std::optional<std::filesystem::path> jieba_dict = {};  ///< dict.txt of jieba, for models that cut texts by it
  /// Hz: which of the models of a Silero VAD file that holds several.
  std::optional<std::uint32_t> sample_rate = {};
};

/// Any other checkpoint.
struct checkpoint_kind {
  std::string_view name;  ///< "a FunASR folder", for messages
  /// True when `path` (a file or a folder) is of this kind; looks only as far as needed and does not judge.
  bool (*recognises)(const std::filesystem::path& path);
  /// Throws steno::error.
  imported_model (*import)(const std::filesystem::path& path, const import_options& options);
  bool among_foreign = false;  ///< files like it are not read as a rule (foreign_files.hpp), so it is looked for first
};
std::span<const checkpoint_kind> checkpoint_kinds();

/// Architectures of all packaged families, for messages.
std::string packaged_names();

}  // namespace STENO_ABI
}  // namespace steno
