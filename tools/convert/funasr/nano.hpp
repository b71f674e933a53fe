// tools/convert/funasr/nano.hpp - Fun-ASR-Nano from the folder FunASR publishes: audio half and language model in one
// file.
//
// model.pt holds audio_encoder.*, audio_adaptor.*, perhaps ctc_decoder.* and ctc.ctc_lo.*, and the language model as
// llm.*; the folder named by llm_conf.init_param_path holds its config.json and tokenizer. Schema: docs/formats.md.
// Tested in tests/convert/nano_test.cpp, nano_gguf_test.cpp and tests/parity/fun_asr_nano_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "funasr/folder.hpp"
#include "funasr/settings.hpp"
#include "funasr/tensors.hpp"
#include "imported_model.hpp"
#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// `Transformer` of models/llm_asr/adaptor.py.
struct adaptor_settings {
  std::uint32_t rate = 2, input = 1280, units = 2048, output = 4096, heads = 8, layers = 2;
};

/// What config.yaml says; defaults are FunASR's.
struct nano_settings {
  frontend_settings frontend = {};
  sanm_settings encoder = {};
  std::uint32_t encoder_heads = 4;
  adaptor_settings adaptor = {};
  bool low_frame_rate = false, think = true;
  std::filesystem::path language_model, tokenizer;  ///< folders

  bool ctc = false;  ///< config.yaml names a CTC decoder; model.pt may be without it
  adaptor_settings ctc_decoder = {};
  std::uint32_t ctc_labels = 60515, ctc_blank = 60514;
  std::optional<std::filesystem::path> ctc_tokens = {};  ///< a table of tiktoken
  std::uint32_t ctc_languages = 99;                      ///< that its special tokens name
};

/// The settings of config.yaml and configuration.json. Throws steno::error.
nano_settings read_nano_settings(const folder& f, std::vector<std::string>& notes);

/// Throws steno::error.
imported_model import_nano(const folder& f, const std::optional<std::filesystem::path>& cmvn);

/// The same from FunASR's GGUF of the audio half and llama.cpp's GGUF of Qwen3 in its folder. Throws steno::error.
imported_model import_published_nano(const std::shared_ptr<gguf_file>& file);

/// Walks the model of a packaged file's keys.
void walk_nano(const gguf_file& keys, tensor_taker& taker);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
