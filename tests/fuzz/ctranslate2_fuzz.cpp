// CTranslate2's model.bin: any bytes are refused with steno::error. Behind a first byte 0 stands a whole file, behind
// any other what follows the specification's name and revision.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "fuzz.hpp"
#include "package.hpp"
#include "whisper/whisper.hpp"

using namespace steno_fuzz;

namespace {
std::string prefix() {
  std::string all("\6\0\0\0\x0c\0WhisperSpec\0\3\0\0\0", 22);
  return all;
}
// 1 letter, 1 language: 1511 tokens.
constexpr std::string_view special =
    R"({"<|endoftext|>": 1, "<|startoftranscript|>": 2, "<|en|>": 3, "<|translate|>": 4, "<|transcribe|>": 5,
        "<|startoflm|>": 6, "<|startofprev|>": 7, "<|nospeech|>": 8, "<|notimestamps|>": 9, "<|0.00|>": 10,
        "<|30.00|>": 1510})";
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const std::string good = prefix();
  static const scratch_folder at;
  at.write("added_tokens.json", special);
  at.write("vocab.json", R"({"a": 0})");
  const std::vector<std::byte> image = file_of(data, size, good);
  read_or_refuse([&] {
    steno::imported_model model = steno::whisper_files::read_ctranslate2("input", image, at.path(), {}, nullptr);
    steno::add_tensors(model, {});
  });
  return 0;
}
