// tools/convert/nemo/fastconformer.hpp - what importers of NeMo's FastConformer models share: settings, tensors and
// keys of front end and encoder, and the archive they come in.
//
// A .nemo file is a tar (perhaps gzip) of model_config.yaml, model_weights.ckpt and perhaps the tokenizer's files, as
// `SaveRestoreConnector` writes it. Names are the checkpoint's; batch norm goes into the depthwise weights, taps are
// stored tap by tap, the linear behind the subsampling expects bands before channels, kernels of size 1 lose that axis.
// Tested in tests/convert/nemo_test.cpp and tests/convert/nemo_frontend_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/nemo_parts.hpp>
#include <steno/weights/mapped_file.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model_tensors.hpp"
#include "nemo/tar.hpp"
#include "torch/tensors.hpp"
#include "yaml_settings.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace nemo_files {

struct fastconformer_settings {
  nemo::nemo_frontend_options frontend = {};
  float pad_value = 0;  ///< of the features behind a clip
  bool causal_downsampling = false, causal = false, layer_norm = false, bias = true, xscaling = true, chunked = false;
  bool bias_everywhere = true;  ///< false: `bias` is of products alone, and convolutions may have others
  std::uint32_t width = 512, blocks = 17, heads = 8, units = 2048, channels = 256, taps = 9;
  std::int32_t left = -1, right = -1;  ///< attention; negative: all
  /// Of models that were trained with several: pairs of left and right, the usual one first.
  std::vector<std::int32_t> contexts = {};
  nemo::nemo_stream_windows windows = {};  ///< of models that look behind each chunk of a stream
  std::vector<std::string> notes = {};     ///< what the user should know
};

/// An open .nemo file: mapped, or inflated into memory.
struct nemo_archive {
  /// Throws steno::error. An archive may hold a second model, whose members' names begin otherwise than "model".
  explicit nemo_archive(const std::filesystem::path& path, std::string front = "model");
  const tar_member* find(std::string_view name) const;
  const tar_member& need(std::string_view name) const;
  std::string text_of(const tar_member& m) const;
  /// Its weights, opened when they are asked for first. Throws steno::error.
  torch::checkpoint& weights();

  weights::mapped_file file;
  std::string where;
  tar_archive archive;
  checkpoint_settings config;  ///< model_config.yaml

 private:
  std::string front_;
  std::optional<torch::checkpoint> weights_;
};

/// What `preprocessor` says of the front end. Throws steno::error for what steno computes differently.
void read_frontend(const checkpoint_settings& config, fastconformer_settings& s);
/// Throws steno::error for sizes of the front end that packaged files may not have.
void check_frontend(const fastconformer_settings& s, const std::string& where);

/// Where a file has tables of the front end, for messages.
struct stored_tables {
  std::string where, window, filters;
};
/// Tables that a checkpoint stores: those that differ from what the settings make are kept in their place, as the
/// original loads them over its own; empty ones are not there. Throws steno::error for settings that say something
/// else than NeMo's defaults while the tables are those of the defaults.
void take_tables(fastconformer_settings& s, std::span<const float> window, std::span<const float> filters,
                 const stored_tables& from);

/// Keys of the front end; `architecture` stands before them.
void set_frontend_keys(weights::gguf_writer& file, const std::string& architecture, const fastconformer_settings& s);

/// What model_config.yaml says of front end and encoder. Throws steno::error for what steno computes differently.
void read_fastconformer(const checkpoint_settings& config, fastconformer_settings& s);

/// The windows of a published model of that kind, for files that do not list them.
nemo::nemo_stream_windows usual_stream_windows();
/// Takes pairs of left and right, the usual one first, as what the attention sees. Throws steno::error for chunks that
/// do not fit what they see before them; `what` names the pairs.
void take_contexts(const std::vector<std::vector<int>>& pairs, const std::string& where, const std::string& what,
                   fastconformer_settings& s);
/// Throws steno::error unless there are sizes of all three kinds, each in its range.
void check_stream_windows(const nemo::nemo_stream_windows& w, const std::string& where, const std::string& what);

/// Attention's and convolutions' contexts and norm below `at`. Throws steno::error.
void read_contexts(const checkpoint_settings& config, const std::string& at, fastconformer_settings& s);

/// Behind the last look-up: refuses settings of the front end, the network and the tokenizer that steno does not know;
/// others are noted. Throws steno::error.
void check_settings(const checkpoint_settings& config, std::vector<std::string>& notes);

/// What the settings say of the encoder's tensors.
void promise_encoder(checkpoint_tensors& from, const fastconformer_settings& s);

/// Keys of front end and encoder, and steno's version; `architecture` stands before them.
void set_fastconformer_keys(weights::gguf_writer& file, const std::string& architecture,
                            const fastconformer_settings& s);

/// The same without the version: a file may hold a second model, behind another name.
void set_encoder_keys(weights::gguf_writer& file, const std::string& architecture, const fastconformer_settings& s);

/// Tensors of an archive, all but the front end's, which go into the settings: take_tables(). Throws steno::error.
checkpoint_tensors open_tensors(const std::shared_ptr<nemo_archive>& archive, fastconformer_settings& s);
/// What a .nemo file calls a tensor of the model.
std::string nemo_name(std::string name);

/// Throws steno::error when `stored` [mels, bins] are not the mel filters that steno computes.
void check_mel_filters(std::span<const float> stored, const fastconformer_settings& s, const std::string& where);

}  // namespace nemo_files
}  // namespace STENO_ABI
}  // namespace steno
