// tools/convert/silero/silero.hpp - Silero VAD v5 and v6: whisper.cpp's ggml files, safetensors and ONNX files.
//
// All hold the same tensors: `VADRNNJIT`'s, under the names of the TorchScript archive (silero_vad.jit) or near ones. A
// packaged file has those of one sample rate, under the archive's names. Schema: docs/formats.md. Tested in
// tests/convert/silero_test.cpp, fuzzed by tests/fuzz/silero_ggml_fuzz.cpp and onnx_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "families.hpp"
#include "imported_model.hpp"
#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace silero_files {

/// Walks the model of a packaged file's keys.
void walk_silero_vad(const gguf_file& keys, tensor_taker& taker);

/// whisper.cpp's .bin: "lmgg", then a type that begins with "silero-".
bool is_ggml(const std::filesystem::path& path);
imported_model import_ggml(const std::filesystem::path& path, const import_options& options);
/// The same from the bytes of `file` (null: of memory that outlives the model). Throws steno::error.
imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes, const import_options& options,
                         std::shared_ptr<weights::mapped_file> file);

/// A file that holds the tensors under the names of tinygrad_model.py, or of the archive.
bool is_safetensors(const std::filesystem::path& path);
imported_model import_safetensors(const std::filesystem::path& path, const import_options& options);

/// An ONNX file that holds them.
bool is_onnx(const std::filesystem::path& path);
imported_model import_onnx(const std::filesystem::path& path, const import_options& options);
/// The same from bytes that `keep` owns. Throws steno::error.
imported_model read_onnx(const std::string& where, std::span<const std::byte> bytes, const import_options& options,
                         std::shared_ptr<const void> keep);

/// Settings that no tensor shows.
struct settings {
  std::uint32_t sample_rate = 16000;
  std::uint32_t left_padding = 0;   ///< samples mirrored in front of a window
  std::uint32_t round_to_half = 0;  ///< what convolutions read is rounded to halves
  std::string version = {};         ///< of the original, where the file says it
};

/// The packaged file of these tensors, which have the archive's names without "_model.".
imported_model package(checkpoint_tensors from, const settings& s, std::shared_ptr<const void> keep);

}  // namespace silero_files
}  // namespace STENO_ABI
}  // namespace steno
