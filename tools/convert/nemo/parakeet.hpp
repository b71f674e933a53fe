// tools/convert/nemo/parakeet.hpp - FastConformer models of NeMo (.nemo): settings, tensors and keys of packaged files.
//
// A .nemo file is a tar (perhaps gzip) of model_config.yaml, model_weights.ckpt and the tokenizer's files, as
// `SaveRestoreConnector` writes it. CTC becomes "parakeet_ctc"; RNN-T and TDT become "parakeet_transducer", with the
// CTC head of a hybrid beside it. Names are the checkpoint's; batch norm goes into the depthwise weights, taps are
// stored tap by tap, the linear behind the subsampling expects bands before channels, kernels of size 1 lose that axis.
// The mel filters and the window in the file must be those that steno computes. Schema: docs/formats.md. Tested in
// tests/convert/nemo_test.cpp.
#pragma once
#include <steno/tokenizers/vocabulary.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "families.hpp"
#include "torch/layouts.hpp"
#include "yaml_settings.hpp"

namespace steno::inline STENO_ABI::nemo {

struct parakeet_settings {
  bool transducer = false, hybrid = false;
  bool per_feature = true, causal_downsampling = false, causal = false, layer_norm = false, bias = true,
       xscaling = true, chunked = false;
  std::uint32_t mels = 80, window = 400, shift = 160, fft_size = 512;
  std::uint32_t width = 512, blocks = 17, heads = 8, units = 2048, channels = 256, taps = 9;
  std::int32_t left = -1, right = -1;  ///< attention; negative: all
  std::uint32_t vocabulary = 0;        ///< without blank
  std::uint32_t predictor = 640, predictor_layers = 1, joint = 640, max_symbols = 10;
  std::vector<std::int32_t> durations;  ///< TDT only
  std::string architecture() const { return transducer ? "parakeet_transducer" : "parakeet_ctc"; }
};

/// What model_config.yaml says. Throws steno::error for what steno computes differently.
parakeet_settings read_parakeet_settings(const yaml_settings& config);

/// All tensors but batch norms and the front end's.
std::vector<torch::laid_out_tensor> parakeet_tensors(const parakeet_settings& s);

/// All keys of a packaged file but general.file_type.
void set_parakeet_keys(gguf_writer& file, const parakeet_settings& s, const sentencepiece_vocabulary& v);

/// What a batch norm does to the rows of the convolution before it: times scale, plus shift; both empty: nothing.
struct folded_norm {
  std::vector<float> scale = {}, shift = {};
};
/// The packaged tensor of `t` from one of another file that has NeMo's order of values; a `stored` without `read` is a
/// bias that only the batch norm makes. Of block formats that cannot be laid out anew, f16 is left.
imported_tensor lay_out(const torch::laid_out_tensor& t, imported_tensor stored, folded_norm norm = {});

/// Throws steno::error when `stored` [mels, bins] are not the mel filters that steno computes.
void check_mel_filters(std::span<const float> stored, const parakeet_settings& s, const std::string& where);

/// Whether a tensor of a packaged file may change its number format.
bool is_parakeet_product(const std::string& name, std::size_t rank);

/// A .nemo file, or a tar with the same content.
bool is_checkpoint(const std::filesystem::path& path);
/// Throws steno::error.
imported_model import_checkpoint(const std::filesystem::path& path, const import_options& options);

/// A GGUF file of qvac-parakeet.cpp. Throws steno::error.
imported_model import_published_parakeet(const std::shared_ptr<gguf_file>& file);

/// A ggml file of whisper.cpp's parakeet (TDT alone), from memory, which `keep` holds. Throws steno::error.
imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes, std::shared_ptr<void> keep);
/// True for a ggml file whose header is Parakeet's, not Whisper's.
bool is_ggml(const std::filesystem::path& path);
imported_model import_ggml(const std::filesystem::path& path, const import_options& options);

}  // namespace steno::inline STENO_ABI::nemo
