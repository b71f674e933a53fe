// The texts of a folder of Qwen3-ASR: the first byte says which file the others are; any bytes are refused with
// steno::error, at the latest for weights without tensors. A tokenizer that is not refused can be packed.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>

#include <cstdint>

#include "fuzz.hpp"
#include "qwen/qwen3_asr.hpp"

using namespace steno_fuzz;

namespace {
constexpr const char* names[] = {
    "config.json",    "generation_config.json", "vocab.json", "merges.txt", "tokenizer_config.json",
    "tokenizer.json", "korean_dict_jieba.dict"};
constexpr std::string_view config =
    R"({"model_type": "qwen3_asr", "audio_config": {"num_mel_bins": 8, "d_model": 4, "encoder_layers": 1,
        "encoder_attention_heads": 1, "encoder_ffn_dim": 4, "downsample_hidden_size": 2, "output_dim": 4},
        "text_config": {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4,
        "vocab_size": 64}})";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const scratch_folder at;
  at.clear();
  const std::size_t which = data[0] % std::size(names);
  at.write("config.json", config);
  at.write("model.safetensors", std::string_view("\2\0\0\0\0\0\0\0{}", 10));
  if (which != 5) {
    at.write("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
    at.write("merges.txt", "#version: 0.2\na b\n");
  }
  at.write(names[which], text_of(data + 1, size - 1));
  bool refused = true;
  read_or_refuse([&] {
    if (steno::qwen_files::is_checkpoint(at.path())) (void)steno::qwen_files::import_checkpoint(at.path(), {});
    refused = !steno::qwen_files::is_checkpoint(at.path());
  });
  require(refused);
  read_or_refuse([&] {
    steno::weights::gguf_writer file;
    steno::qwen_files::add_tokenizer(file, at.path(), 64);
    const std::vector<std::byte> image = file.bytes();
    const steno::gguf_file again("again", image);
    require(again.strings("tokenizer.ggml.tokens").size() <= 64);
  });
  return 0;
}
