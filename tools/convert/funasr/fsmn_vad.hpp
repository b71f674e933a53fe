// tools/convert/funasr/fsmn_vad.hpp - FSMN-VAD: settings, tensors and keys of its packaged file.
//
// Follows FSMN and FsmnVADStreaming of funasr/models/fsmn_vad_streaming; defaults are theirs. Schema: docs/formats.md.
// Tested in tests/convert/fsmn_vad_test.cpp and tests/parity/fsmn_vad_test.cpp.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "funasr/tensors.hpp"
#include "imported_model.hpp"

namespace steno::inline STENO_ABI::funasr {

struct folder;

struct fsmn_vad_settings {
  std::uint32_t input_affine_dim = 140, linear_dim = 250, proj_dim = 128, fsmn_layers = 4, lorder = 20,
                output_affine_dim = 140, output_dim = 248;
  std::uint32_t sample_rate = 16000, n_mels = 80, frame_length = 25, frame_shift = 10, lfr_m = 5, lfr_n = 1;
  std::string window = "hamming";
  std::map<std::string, double> post;  ///< settings of the segmentation by the original's names; absent: its defaults

  std::uint32_t input_dim() const { return n_mels * lfr_m; }
};

/// All tensors of a model of this size, in the order of the packaged file.
std::vector<expected_tensor> fsmn_vad_tensors(const fsmn_vad_settings& s);

/// Whether a tensor of a packaged file may change its number format.
bool is_fsmn_vad_product(const std::string& name, std::size_t rank);

/// Puts another am.mvn into a packaged model. Throws steno::error.
void set_fsmn_vad_cmvn(imported_model& model, const std::filesystem::path& am_mvn);

/// Imports a GGUF file that FunASR publishes. Throws steno::error.
imported_model import_published_fsmn_vad(const std::shared_ptr<gguf_file>& file);

/// Imports the folder; `cmvn` replaces the folder's own am.mvn. Throws steno::error.
imported_model import_fsmn_vad(const folder& f, const std::optional<std::filesystem::path>& cmvn);

}  // namespace steno::inline STENO_ABI::funasr
