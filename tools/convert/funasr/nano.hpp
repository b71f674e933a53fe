// tools/convert/funasr/nano.hpp - Fun-ASR-Nano from the folder FunASR publishes: audio half and language model in one
// file.
//
// model.pt holds audio_encoder.*, audio_adaptor.*, ctc_decoder.*, ctc.ctc_lo.* and the language model as llm.*; the
// folder named by llm_conf.init_param_path holds its config.json and tokenizer. Schema: docs/formats.md. Tested in
// tests/parity/fun_asr_nano_test.cpp and tests/convert/nano_gguf_test.cpp.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "funasr/folder.hpp"
#include "imported_model.hpp"
#include "model_tensors.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace funasr_files {

/// Throws steno::error.
imported_model import_nano(const folder& f, const std::optional<std::filesystem::path>& cmvn);

/// The same from FunASR's GGUF of the audio half and llama.cpp's GGUF of Qwen3 in its folder. Throws steno::error.
imported_model import_published_nano(const std::shared_ptr<gguf_file>& file);

/// Walks the model of a packaged file's keys.
void walk_nano(const gguf_file& keys, tensor_taker& taker);

}  // namespace funasr_files
}  // namespace STENO_ABI
}  // namespace steno
