// The texts of a Hugging Face folder of Whisper: the first byte says which file the others are (config.json,
// generation_config.json, vocab.json, model.safetensors.index.json, ...); any bytes are refused with steno::error.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "whisper/whisper.hpp"

using namespace steno_fuzz;

namespace {
constexpr const char* names[] = {"config.json",
                                 "generation_config.json",
                                 "vocab.json",
                                 "model.safetensors.index.json",
                                 "preprocessor_config.json",
                                 "added_tokens.json",
                                 "tokenizer_config.json"};
constexpr std::string_view config =
    R"({"model_type": "whisper", "num_mel_bins": 80, "vocab_size": 51864, "d_model": 2, "max_source_positions": 4,
        "encoder_attention_heads": 1, "encoder_layers": 1, "max_target_positions": 8, "decoder_attention_heads": 1,
        "decoder_layers": 1})";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const scratch_folder at;
  at.clear();
  at.write("config.json", config);
  const std::size_t which = data[0] % std::size(names);
  at.write(names[which], {reinterpret_cast<const char*>(data) + 1, size - 1});
  if (which != 3) at.write("model.safetensors", std::string_view("\2\0\0\0\0\0\0\0{}", 10));
  read_or_refuse([&] {
    if (steno::whisper_files::is_huggingface(at.path())) (void)steno::whisper_files::import_huggingface(at.path(), {});
  });
  return 0;
}
