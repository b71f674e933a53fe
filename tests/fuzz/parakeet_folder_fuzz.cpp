// The texts of a folder of Parakeet as transformers has it: the first byte says which file the others are; any bytes
// are refused with steno::error, at the latest for weights without tensors. Labels that are not refused are complete.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "nemo/parakeet_folder.hpp"

using namespace steno_fuzz;

namespace {
constexpr const char* names[] = {"config.json",           "generation_config.json", "preprocessor_config.json",
                                 "processor_config.json", "tokenizer_config.json",  "special_tokens_map.json",
                                 "tokenizer.json"};
constexpr std::string_view config =
    R"({"model_type": "parakeet_tdt", "vocab_size": 4, "blank_token_id": 3, "decoder_hidden_size": 4,
        "encoder_config": {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 4,
        "subsampling_conv_channels": 2, "conv_kernel_size": 3}})";
constexpr std::string_view tokenizer =
    R"({"model": {"type": "BPE", "vocab": {"<unk>": 0, "a": 1, "aa": 2}, "merges": [["a", "a"]]},
        "decoder": {"type": "Metaspace"}})";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  static const scratch_folder at;
  at.clear();
  at.write("config.json", config);
  at.write("tokenizer.json", tokenizer);
  at.write("model.safetensors", std::string_view("\2\0\0\0\0\0\0\0{}", 10));
  at.write(names[data[0] % std::size(names)], text_of(data + 1, size - 1));
  bool refused = true;
  read_or_refuse([&] {
    const bool ours = steno::nemo_files::is_parakeet_folder(at.path());
    if (ours) (void)steno::nemo_files::import_parakeet_folder(at.path(), {});
    refused = !ours;
  });
  require(refused);
  read_or_refuse([&] {
    std::vector<std::string> notes;
    const auto v = steno::nemo_files::read_tokenizer_json(at.path() / "tokenizer.json", 3, notes);
    require(v.pieces.size() == 3 && v.scores.size() == 3 && v.types.size() == 3);
  });
  return 0;
}
