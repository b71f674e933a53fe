// tools/convert/convert.hpp - any checkpoint steno knows, to a packaged GGUF file or straight into memory.
//
// Input is told apart by content: a GGUF file (steno's own or one that the originals' authors publish), or a kind of
// checkpoint listed in families.hpp.
// Tested in tests/convert/convert_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/weights/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "imported_model.hpp"
#include "number_formats.hpp"

namespace steno {
inline namespace STENO_ABI {

struct convert_options {
  std::optional<dtype> type = {};                       ///< one that can_quantise(); nothing keeps what is stored
  bool mix = false;                                     ///< of q4_k and q5_k: more bits where type_mix.hpp says so
  std::vector<type_of> exceptions = {};                 ///< tensors with another format
  std::optional<std::filesystem::path> cmvn = {};       ///< an am.mvn instead of the checkpoint's own
  std::optional<std::filesystem::path> tokenizer = {};  ///< for openai's Whisper files, which have none
  /// Seconds, 1 to 1200: what a Qwen3-ASR model understands at once, instead of what its folder or file says.
  std::optional<double> longest_clip = {};
  std::optional<std::filesystem::path> jieba_dict = {};  ///< jieba's dict.txt, for models that cut texts by it
  std::optional<std::uint32_t> sample_rate = {};         ///< Hz: which model of a Silero VAD file that holds several
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};  ///< bytes written
};

/// Writes a packaged file; it appears under its name only when it is complete. Returns notes for the user, one line
/// each. Throws steno::error. Memory: the largest tensor (and its storage in the checkpoint), not the model.
std::vector<std::string> convert(const std::filesystem::path& input, const std::filesystem::path& output,
                                 const convert_options& options = {});

/// What convert() would write: its keys and tensors, whose values are read when they are asked for. Throws
/// steno::error.
imported_model import_checkpoint(const std::filesystem::path& input, const convert_options& options = {});

/// A checkpoint as a packaged file in memory.
struct opened_checkpoint {
  /// With steno's keys and tensor names, whatever the input was. Of a converted one it has what was changed alone:
  /// tensors that a mapped file has just so (GGUF, safetensors, ggml, torch) stay there.
  gguf_file file;
  std::vector<std::string> notes;  ///< for the user, one line each
};

/// Opens a checkpoint for use. A packaged file is mapped, or copied where it may be overwritten while it is in use.
/// Everything else is converted into memory once, in its stored number formats: one copy of what is changed, plus the
/// largest tensor while converting. Tensors of GGUF, safetensors, ggml and torch files that need no change stay in the
/// mapped file, unless it may be overwritten; torch's checksums are compared first. `tokenizer` is for openai's Whisper
/// files, which have none, `jieba_dict` for models that cut texts by it. Throws steno::error.
opened_checkpoint open_checkpoint(const std::filesystem::path& input,
                                  weights::file_reading how = weights::file_reading::mapped,
                                  const std::optional<std::filesystem::path>& tokenizer = {},
                                  const std::optional<std::filesystem::path>& jieba_dict = {});

}  // namespace STENO_ABI
}  // namespace steno
